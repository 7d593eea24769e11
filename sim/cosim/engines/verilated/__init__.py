"""The RTL, translated to C++ by Verilator and compiled into a Python extension that also resumes the programs.

``verilog`` writes the mesh around a node, ``build`` makes and keeps the extension, the C++ files beside them are its
source: ``mesh.h`` the hardware, ``requests`` what processors ask for, ``run`` the loop, ``module`` the Python side.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import numpy as np

from cosim.engines import processors
from cosim.engines.base import Engine, State
from cosim.engines.processors import Access, Options, Outcome, Program, Programs
from cosim.errors import DeadlockError
from cosim.record import EVENT
from numesh.memories import NodeMemories
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import Topology
from pointsman.runtime.requests import Category, Request

from .build import MODULE, engine_library, forget, is_whole

_loaded: dict[Path, Any] = {}


class VerilatedEngine(Engine):
    """All nodes as compiled RTL.

    Parameters
    ----------
    shape : NodeShape
        Sizes of every node.
    topology : Topology
        The links.
    progress : bool
        Show on standard error how a build goes on.
    """

    name = "verilated"

    def __init__(self, shape: NodeShape, topology: Topology, *, progress: bool = False) -> None:
        super().__init__(shape, topology)
        self._mesh: Any = _load(shape, topology, progress).Mesh()

    @property
    def time(self) -> int:
        return int(self._mesh.time)

    def close(self) -> None:
        self._mesh = None

    # -- memories and state ----------------------------------------------------------------------------------

    def preload(self, memories: Sequence[NodeMemories]) -> None:
        for node, contents in enumerate(memories):
            self._mesh.poke(node, "schedule.ram", tuple(contents.schedule))
            for p, words in enumerate(contents.annotations):
                self._mesh.poke(node, f"annotation_{p}.ram", tuple(words))

    def memories(self) -> list[NodeMemories]:
        schedules = self._mesh.peek("schedule.ram")
        annotations = [self._mesh.peek(f"annotation_{p}.ram") for p in range(self.shape.pipelines)]
        return [
            NodeMemories(tuple(schedule), tuple(map(tuple, words)))
            for schedule, *words in zip(schedules, *annotations, strict=True)
        ]

    def state(self) -> State:
        names = set(self._mesh.names().split())
        pipelines = range(self.shape.pipelines)
        state: State = {}

        def show(name: str, block: str, signal: str, valid: np.ndarray | int = 1, kind: type = np.int64) -> None:
            """One value, or a list of them, per pipeline."""
            if {f"{block}_{p}.{signal}" for p in pipelines} <= names:
                values: np.ndarray = np.array([self._mesh.peek(f"{block}_{p}.{signal}") for p in pipelines], dtype=kind)
                state[name] = values.swapaxes(0, 1) * np.asarray(valid, dtype=kind)

        full = np.array([_bits(self.full(node), self.shape.registers) for node in range(self.nodes)])
        state["full"] = full
        state["read_data"] = np.array(self._mesh.peek("port.read_data"), dtype=np.uint64)
        show("write_valid", "transfer", "write_valid")
        if "write_valid" in state:
            valid = state["write_valid"]
            show("write_word", "transfer", "out_data", valid, np.uint64)
            for name in ("vfsm", "type", "destination", "forked", "from_buffer"):
                show(f"write_{name}", "transfer", f"write_{name}", valid)
        show("collected", "command", "count")
        if {f"transfer_{p}.held" for p in pipelines} <= names:
            masks = [self._mesh.peek(f"transfer_{p}.held") for p in pipelines]
            held = np.array([[_bits(mask, self.shape.vfsms) for mask in row] for row in masks]).swapaxes(0, 1)
            state["held"] = held
            show("buffer", "transfer", "buffers", held, np.uint64)
        active = np.array([self._mesh.peek(f"annotation_{p}.active") for p in pipelines]).T
        show("decode_vfsm", "annotation", "decode_vfsm", active)
        show("read_active", "transfer", "read_active")
        if "read_active" in state:
            show("read_vfsm", "transfer", "read_vfsm", state.pop("read_active"))
        if {"schedule.setting", "schedule.value"} <= names:
            state["pointer_set"] = np.array(self._mesh.peek("schedule.setting"))
            state["pointer"] = np.array(self._mesh.peek("schedule.value"))
        registers = self._registers(names)
        if registers is not None:
            state["register"] = registers * full.astype(np.uint64)
        memories = self.memories()
        state["schedule"] = np.array([contents.schedule for contents in memories], dtype=object)
        state["annotation"] = np.array([contents.annotations for contents in memories])
        return state

    def _registers(self, names: set[str]) -> np.ndarray | None:
        """Words of the interface registers: each is the exclusive or of what the banks have."""
        banks = [f"interface.bank_{k}" for k in range(self.shape.pipelines + 1)]
        if not names.issuperset(banks):
            return None
        words = np.array([self._mesh.peek(bank) for bank in banks], dtype=np.uint64)[:, :, : self.shape.registers]
        return np.bitwise_xor.reduce(words, axis=0)

    # -- single cycles, as the plain processors drive them ---------------------------------------------------

    def full(self, node: int) -> int:
        """Full bits of a node's interface registers."""
        return int(self._mesh.full(node))

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        """Let one cycle pass in which these nodes make these accesses. Gives the words that were read."""
        words = self._mesh.clock([(node, a.register, a.write, a.word) for node, a in accesses.items()])
        return {node: word for node, word in zip(accesses, words, strict=True) if word is not None}

    # -- programs --------------------------------------------------------------------------------------------

    def run(self, programs: Sequence[Program | None], options: Options) -> Outcome:
        started = self.time
        cycles = np.zeros((self.nodes, len(Category)), dtype=np.int64)
        accesses = np.zeros((self.nodes, 2), dtype=np.int64)
        finished = np.full(self.nodes, started, dtype=np.int64)
        results: list[Any] = [None] * self.nodes
        recorded = self._mesh.run(
            list(programs),
            results,
            cycles,
            accesses,
            finished,
            len(Category),
            -1 if options.max_cycles is None else options.max_cycles,
            options.quiet_cycles,
            options.events,
            options.observer,
            _Host(self.shape, options),
        )
        events = None if recorded is None else np.frombuffer(bytearray(recorded), dtype=EVENT)
        return Outcome(cycles, finished, accesses, results, events)

    def run_plain(self, programs: Sequence[Program | None], options: Options) -> Outcome:
        """As `run`, with the plain Python processors in place of the compiled ones."""
        held = Programs(self.shape, programs, self.time, lambda node, register: bool(self.full(node) >> register & 1))
        return processors.run(self, held, options)


class _Host:
    """What the compiled loop leaves to Python: errors and progress."""

    def __init__(self, shape: NodeShape, options: Options) -> None:
        self._shape = shape
        self._options = options
        self.progress = options.progress

    def refusal(self, request: object) -> PointsmanError:
        """Why a node cannot do what its program asks for."""
        try:
            processors.check_request(request, self._shape)
        except PointsmanError as error:
            return error.with_traceback(None)
        return PointsmanError(f"the node cannot carry out {request!r}")

    note = staticmethod(processors.note_place)

    def too_long(self, live: int) -> None:
        assert self._options.max_cycles is not None
        raise processors.too_long(live, self._options.max_cycles)

    def deadlock(self, time: int, quiet: int, rows: list[tuple[int, Request, tuple[int, ...], int]]) -> None:
        waiting = [processors.waiting(node, request, moved, since) for node, request, moved, since in rows]
        raise DeadlockError(time=time, quiet=quiet, waiting=waiting)


class _BuildLine:
    """One line on standard error that says how a build goes on."""

    def __init__(self, shown: bool, what: str) -> None:
        self._shown = shown
        self._what = what
        self._width = 0

    def __call__(self, step: str, done: int, steps: int) -> None:
        if self._shown:
            text = f"building the engine for {self._what}: {step} ({done} of {steps})"
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = max(self._width, len(text))

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def _load(shape: NodeShape, topology: Topology, progress: bool) -> Any:
    """The extension for a mesh; built anew if the one in the cache cannot be loaded."""
    line = _BuildLine(progress, f"a {topology} {topology.kind}")
    try:
        library = engine_library(shape, topology, line)
        if library not in _loaded:
            if not is_whole(library):
                forget(library)
                library = engine_library(shape, topology, line)
            try:
                _loaded[library] = _import(library)
            except ImportError:
                forget(library)
                _loaded[library] = _import(engine_library(shape, topology, line))
    finally:
        line.close()
    return _loaded[library]


def _import(library: Path) -> Any:
    loader = ExtensionFileLoader(MODULE, str(library))
    module = module_from_spec(ModuleSpec(MODULE, loader, origin=str(library)))
    loader.exec_module(module)
    return module


def _bits(value: int, count: int) -> list[int]:
    return [value >> bit & 1 for bit in range(count)]
