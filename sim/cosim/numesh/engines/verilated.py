"""The mesh as compiled RTL."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from cosim.engines.processors import Access, Outcome, Program, RunOptions
from cosim.engines.verilated.engine import HardwareEngine
from cosim.numesh.hardware import kept_node_verilog, numesh_hardware
from cosim.record import State
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.network import Topology

from .base import Engine


class VerilatedEngine(Engine):
    """All nodes of a mesh as compiled RTL; ``compiled`` runs it, and shows its registers.

    Parameters
    ----------
    shape : NodeShape
        Sizes of every node.
    topology : Topology
        The links.
    progress : bool
        Show the progress of a build on standard error.
    wave, wave_window
        As in `HardwareEngine`.
    """

    name = "verilated"

    def __init__(
        self,
        shape: NodeShape,
        topology: Topology,
        *,
        progress: bool = False,
        wave: Path | None = None,
        wave_window: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(shape, topology)
        hardware = numesh_hardware(shape, topology, kept_node_verilog(shape))
        self.compiled = HardwareEngine(hardware, progress=progress, wave=wave, wave_window=wave_window)

    @property
    def time(self) -> int:
        return self.compiled.time

    def close(self) -> None:
        self.compiled.close()

    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        return self.compiled.run(programs, options)

    def full(self, node: int) -> int:
        """Bits of the interface registers of a node that hold a word."""
        return self.compiled.full(node)

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        """Simulate a cycle in which nodes make these accesses. Gives the words read, by node."""
        return self.compiled.clock(accesses)

    # -- memories and state ----------------------------------------------------------------------------------

    def preload(self, memories: Sequence[NodeMemories]) -> None:
        for node, contents in enumerate(memories):
            self.compiled.poke(node, "schedule.ram", tuple(contents.schedule))
            for p, words in enumerate(contents.annotations):
                self.compiled.poke(node, f"annotation_{p}.ram", tuple(words))

    def memories(self) -> list[NodeMemories]:
        schedules = self.compiled.peek("schedule.ram")
        annotations = [self.compiled.peek(f"annotation_{p}.ram") for p in range(self.shape.pipelines)]
        return [
            NodeMemories(tuple(schedule), tuple(map(tuple, words)))
            for schedule, *words in zip(schedules, *annotations, strict=True)
        ]

    def state(self) -> State:
        names = self.compiled.names()
        pipelines = range(self.shape.pipelines)
        state: State = {}

        def show(name: str, block: str, signal: str, valid: np.ndarray | int = 1, kind: type = np.int64) -> None:
            """One value, or a list of them, per pipeline."""
            if {f"{block}_{p}.{signal}" for p in pipelines} <= names:
                values: np.ndarray = np.array(
                    [self.compiled.peek(f"{block}_{p}.{signal}") for p in pipelines], dtype=kind
                )
                state[name] = values.swapaxes(0, 1) * np.asarray(valid, dtype=kind)

        full = np.array([_bits(self.full(node), self.shape.registers) for node in range(self.nodes)])
        state["full"] = full
        state["read_data"] = np.array(self.compiled.peek("port.read_data"), dtype=np.uint64)
        show("write_valid", "transfer", "write_valid")
        if "write_valid" in state:
            valid = state["write_valid"]
            show("write_word", "transfer", "out_data", valid, np.uint64)
            for name in ("vfsm", "type", "destination", "forked", "from_buffer"):
                show(f"write_{name}", "transfer", f"write_{name}", valid)
        show("collected", "command", "count")
        if {f"transfer_{p}.held" for p in pipelines} <= names:
            masks = [self.compiled.peek(f"transfer_{p}.held") for p in pipelines]
            held = np.array([[_bits(mask, self.shape.vfsms) for mask in row] for row in masks]).swapaxes(0, 1)
            state["held"] = held
            show("buffer", "transfer", "buffers", held, np.uint64)
        active = np.array([self.compiled.peek(f"annotation_{p}.active") for p in pipelines]).T
        show("decode_vfsm", "annotation", "decode_vfsm", active)
        show("read_active", "transfer", "read_active")
        if "read_active" in state:
            show("read_vfsm", "transfer", "read_vfsm", state.pop("read_active"))
        if {"schedule.setting", "schedule.value"} <= names:
            state["pointer_set"] = np.array(self.compiled.peek("schedule.setting"))
            state["pointer"] = np.array(self.compiled.peek("schedule.value"))
        show("read_idle", "transfer", "read_idle")
        state |= self._registers(names)
        memories = self.memories()
        state["schedule"] = np.array([contents.schedule for contents in memories], dtype=object)
        state["annotation"] = np.array([contents.annotations for contents in memories])
        return state

    def _registers(self, names: set[str]) -> State:
        """Places of the interface registers, their words, and those that pipelines take first."""
        pipelines = range(self.shape.pipelines)
        banks = [f"interface.bank_{k}" for k in range(self.shape.pipelines + 1)]
        bits = ["interface.full_processor", *(f"interface.full_pipeline_{p}" for p in pipelines)]
        if not names.issuperset(banks + bits):
            return {}
        places = np.array([[_bits(mask, self.shape.registers) for mask in self.compiled.peek(name)] for name in bits])
        places = places.swapaxes(0, 1)
        words = np.array([self.compiled.peek(bank) for bank in banks], dtype=np.uint64).swapaxes(0, 1)
        words = words[:, :, : self.shape.registers] * places.astype(np.uint64)
        first = np.where(places[:, 1:].any(1), places[:, 1:].argmax(1) + 1, 0)
        return {"places": places, "words": words, "register": np.take_along_axis(words, first[:, None], 1)[:, 0]}


def _bits(value: int, count: int) -> list[int]:
    return [value >> bit & 1 for bit in range(count)]
