"""The RTL in Amaranth's own simulator: slow, without further tools, and the reference for the other engines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from amaranth.hdl import Cat, ClockDomain, Module
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.sim import Simulator

from cosim.engines import processors
from cosim.engines.processors import Access, Outcome, Program, Programs, RunOptions
from cosim.record import State
from numesh.memories import NodeMemories
from numesh.mesh import Mesh
from numesh.node import Node
from numesh.shape import NodeShape
from pointsman.network import Topology

from .base import Engine


class AmaranthEngine(Engine):
    """All nodes as RTL, clocked by hand."""

    name = "amaranth"

    def __init__(self, shape: NodeShape, topology: Topology) -> None:
        super().__init__(shape, topology)
        key = (shape, topology)
        self._bench = _kept.pop(key) if key in _kept else _Bench(shape, topology)
        self._mesh = self._bench.mesh
        self._context = self._bench.start()
        self._ports = Cat(
            getattr(self._mesh, f"p_{name}_{node}")
            for node in range(self.nodes)
            for name in ("address", "write", "read", "write_data")
        )
        self._widths = (len(self._mesh.p_address_0), 1, 1, shape.width)
        self._time = -1
        self._context.set(self._bench.domain.rst, 1)
        self._tick()
        self._context.set(self._bench.domain.rst, 0)

    def close(self) -> None:
        if hasattr(self, "_bench"):  # closed once more, another engine may have the bench by now
            _kept.clear()
            _kept[self.shape, self.topology] = self._bench
            del self._bench

    def _tick(self) -> None:
        self._context.set(self._bench.domain.clk, 1)
        self._context.set(self._bench.domain.clk, 0)
        self._time += 1

    @property
    def time(self) -> int:
        return self._time

    # -- ports of the processors -----------------------------------------------------------------------------

    def full(self, node: int) -> int:
        """Full bits of a node's interface registers."""
        return int(self._context.get(getattr(self._mesh, f"p_full_{node}")))

    available = full

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        """Simulate a cycle in which nodes make these accesses. Gives the words read, by node."""
        packed, offset = 0, 0
        for node in range(self.nodes):
            access = accesses.get(node)
            values = (0, 0, 0, 0)
            if access is not None:
                values = (access.register, int(access.write), int(not access.write), access.word)
            for value, width in zip(values, self._widths, strict=True):
                packed |= value << offset
                offset += width
        self._context.set(self._ports, packed)
        self._tick()
        return {
            node: int(self._context.get(getattr(self._mesh, f"p_read_data_{node}")))
            for node, access in accesses.items()
            if not access.write
        }

    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        held = Programs(self.shape, programs, self.time, lambda node, register: bool(self.full(node) >> register & 1))
        return processors.run(self, held, options)

    # -- memories and state ----------------------------------------------------------------------------------

    def preload(self, memories: Sequence[NodeMemories]) -> None:
        for node, contents in zip(self._mesh.nodes, memories, strict=True):
            self._fill(node.schedule.ram, contents.schedule)
            for annotation, words in zip(node.annotations, contents.annotations, strict=True):
                self._fill(annotation.ram, words)

    def _fill(self, memory: Memory, words: Sequence[int]) -> None:
        rows = Cat(self._bench.rows(memory))
        width = len(rows) // memory.depth
        self._context.set(rows, sum(word << (address * width) for address, word in enumerate(words)))

    def memories(self) -> list[NodeMemories]:
        return [
            NodeMemories(
                tuple(self._words(node.schedule.ram)),
                tuple(tuple(self._words(annotation.ram)) for annotation in node.annotations),
            )
            for node in self._mesh.nodes
        ]

    def _get(self, value: Any) -> int:
        return int(self._context.get(value))

    def _words(self, memory: Memory) -> list[int]:
        return [self._get(row) for row in self._bench.rows(memory)]

    def state(self) -> State:
        rows = [self._node_state(node) for node in self._mesh.nodes]
        kinds: dict[str, type] = dict.fromkeys(("write_word", "buffer", "register", "read_data"), np.uint64)
        kinds["words"] = np.uint64
        kinds["schedule"] = object
        return {name: np.array([row[name] for row in rows], dtype=kinds.get(name, np.int64)) for name in rows[0]}

    def _node_state(self, node: Node) -> dict[str, Any]:
        get, codes, schedule = self._get, self.codes, node.schedule
        entry = codes.decode_entry(get(schedule.entry.as_value()) if get(schedule.running) else 0)
        # Without a command the value is 0, which tells nothing from an addition of 0.
        setting, value = get(schedule.setting), get(schedule.value)
        decode_valid = [get(stage.active) for stage in node.annotations]
        active = [get(stage.read_active) for stage in node.transfers]
        valid = [get(stage.write_valid) for stage in node.transfers]
        held = [_bits(get(stage.held), self.shape.vfsms) for stage in node.transfers]
        places = [_bits(get(full), self.shape.registers) for full in node.interface.full]
        words = [_valid(full, self._words(bank)) for full, bank in zip(places, node.interface.banks, strict=True)]
        buffers = [self._words(stage.buffers) for stage in node.transfers]
        state: dict[str, Any] = {
            "entry_vfsm": entry.vfsms,
            "entry_ahead": entry.ahead,
            "pointer_set": setting,
            "pointer": value,
            "decode_vfsm": _valid(decode_valid, [get(stage.decode_vfsm) for stage in node.annotations]),
            "decode_annotation": _valid(decode_valid, [get(stage.annotation.as_value()) for stage in node.annotations]),
            "read_vfsm": _valid(active, [get(stage.read_vfsm) for stage in node.transfers]),
            "read_annotation": _valid(active, [get(stage.read_annotation.as_value()) for stage in node.transfers]),
            "write_valid": valid,
            "held": held,
            "buffer": [_valid(bits, words) for bits, words in zip(held, buffers, strict=True)],
            "full": _bits(get(node.p_full), self.shape.registers),
            "register": [
                next((w for f, w in zip(*pair, strict=True) if f), 0) for pair in self._by_register(places, words)
            ],
            "places": places,
            "words": words,
            "read_idle": [get(stage.read_idle) for stage in node.transfers],
            "collected": [get(stage.count) for stage in node.commands],
            "read_data": get(node.p_read_data),
            "schedule": self._words(schedule.ram),
            "annotation": [self._words(stage.ram) for stage in node.annotations],
        }
        for name in ("word", "vfsm", "type", "destination", "forked", "from_buffer"):
            state[f"write_{name}"] = _valid(valid, [get(getattr(stage, f"write_{name}")) for stage in node.transfers])
        return state

    def _by_register(
        self, places: Sequence[Sequence[int]], words: Sequence[Sequence[int]]
    ) -> list[tuple[list[int], list[int]]]:
        """Which places of each register are full, and their words, in the order in which pipelines take them."""
        order = [*range(1, len(places)), 0]
        registers = range(self.shape.registers)
        return [([places[k][r] for k in order], [words[k][r] for k in order]) for r in registers]


class _Bench(wiring.Component):
    """The mesh with a clock that is driven by hand, in a simulator."""

    def __init__(self, shape: NodeShape, topology: Topology) -> None:
        super().__init__({})
        links = [(link.node, link.port, link.other, link.other_port) for link in topology.links]
        self.mesh = Mesh(shape=shape, nodes=topology.nodes, links=links)
        self.domain = ClockDomain("sync")
        self._simulator = Simulator(self)
        self._simulator.add_testbench(self._begun)
        self._context: Any = None
        self._rows: dict[Memory, tuple[Any, ...]] = {}

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.sync = self.domain
        m.submodules.mesh = self.mesh
        return m

    def start(self) -> Any:
        """Everything as it was at first, memories too. Gives what reads and sets signals."""
        if self._context is not None:
            self._simulator.reset()
        self._simulator.advance()
        return self._context

    def rows(self, memory: Memory) -> tuple[Any, ...]:
        """All words of a memory."""
        if memory not in self._rows:
            self._rows[memory] = tuple(memory.data[address] for address in range(memory.depth))
        return self._rows[memory]

    async def _begun(self, context: Any) -> None:
        self._context = context


_kept: dict[tuple[NodeShape, Topology], _Bench] = {}
"""The bench of the engine that was closed last: to make one takes as long as a thousand cycles."""


def _bits(value: int, count: int) -> list[int]:
    return [value >> bit & 1 for bit in range(count)]


def _valid(valid: Sequence[int], values: Sequence[int]) -> list[int]:
    """The values, 0 where they mean nothing."""
    return [value if bit else 0 for bit, value in zip(valid, values, strict=False)]
