"""Bench of compiled connection tables: processors load them into the switch, set by set, use every connection, and each word is
compared.

Processor 0 gives the commands. A set is loaded when all words of the set before have been delivered; then each connection of the
set carries a message of random length, with random pauses on both sides.
"""

from __future__ import annotations

from collections import defaultdict, deque
from random import Random
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from cosim.benches.bench import FOUR_NODES
from cosim.benches.coverage import Coverage
from cosim.benches.harness import MismatchError, Monitor, Task, report
from cosim.benches.programs import programs
from pointsman.artifacts.tables import ConnectionTables, WorkingSet, read_tables
from pointsman.artifacts.tables.tables import MODES
from tdm_switch.codes import Command, Predictor, Registers, encode, encode_predictor
from tdm_switch.shape import SwitchShape

from .catalogue import BENCHES
from .compiled import tables_file
from .switch import NAMES

_QUIET = 3000
"""Cycles without an access after which a run is stuck."""

Access = tuple[str, int, int]


class SwitchPins:
    """The pins of the switch, and a processor at each port: commands first, then words as they come."""

    def __init__(self, dut: Any, shape: SwitchShape, random: Random) -> None:
        self.dut = dut
        self.shape = shape
        self.random = random
        self.registers = Registers(shape)
        ports = range(shape.ports)
        self.pins = {f"{name}_{i}": getattr(dut, f"{name}_{i}") for name in NAMES for i in ports}
        self.full = Monitor(dut, [f"p_full_{i}" for i in ports])
        self.data = Monitor(dut, [f"p_read_data_{i}" for i in ports])
        self.cycles = 0
        self.compared = 0

    async def start(self) -> None:
        self.dut.rst.value = 1
        for pin in self.pins.values():
            pin.value = 0
        Clock(self.dut.clk, 2, unit="step").start(start_high=False)
        for _ in range(3):
            await RisingEdge(self.dut.clk)
        self.dut.rst.value = 0

    async def command(self, words: dict[int, list[int]]) -> None:
        """Processors give commands, and wait for the last to be done. None may be refused."""
        left = {i: deque(commands) for i, commands in words.items()}
        quiet = 0
        while quiet < 4:
            full = await self._settled()
            accesses: dict[int, Access] = {}
            busy = False
            for i, commands in left.items():
                pending = full[f"p_full_{i}"] >> self.registers.command & 1
                if full[f"p_full_{i}"] >> self.registers.answer & 1:
                    raise MismatchError(f"a command of processor {i} was refused")
                busy |= bool(pending or commands)
                if commands and not pending:
                    accesses[i] = ("write", self.registers.command, commands.popleft())
            quiet = 0 if busy else quiet + 1
            await self._access(accesses)

    async def exchange(self, messages: dict[tuple[int, int], list[int]]) -> None:
        """Send ``messages``, words by (source, destination); each word must arrive once and in order.

        Raises
        ------
        MismatchError
            If a wrong word arrives, or a word does not arrive.
        """
        n, random = self.shape.ports, self.random
        to_send = {pair: deque(words) for pair, words in messages.items()}
        expected = {pair: deque(words) for pair, words in messages.items()}
        reading: dict[int, int] = {}
        eager = {i: random.choice((0.2, 0.7, 1.0)) for i in range(n)}
        quiet = 0
        while any(expected.values()) or reading:
            full = await self._settled()
            if reading:
                data = self.data.sample()
                for v, u in reading.items():
                    word, queue = data[f"p_read_data_{v}"], expected.get((u, v))
                    if not queue or queue[0] != word:
                        raise MismatchError(
                            f"cycle {self.cycles}: {word:#x} from {u} to {v}, and {list(queue or [])[:3]} is due"
                        )
                    queue.popleft()
                    self.compared += 1
            reading = {}
            accesses: dict[int, Access] = {}
            for i in range(n):
                if random.random() >= eager[i]:
                    continue
                bits = full[f"p_full_{i}"]
                choices: list[Access] = [("read", n + u, 0) for u in range(n) if bits >> (n + u) & 1]
                choices += [("write", v, q[0]) for (u, v), q in to_send.items() if u == i and q and not bits >> v & 1]
                if not choices:
                    continue
                kind, register, word = accesses[i] = random.choice(choices)
                if kind == "read":
                    reading[i] = register - n
                else:
                    to_send[i, register].popleft()
            quiet = 0 if accesses else quiet + 1
            if quiet > _QUIET:
                left = {pair: len(words) for pair, words in expected.items() if words}
                raise MismatchError(f"cycle {self.cycles}: nothing moves; words left: {left}")
            await self._access(accesses)

    async def _settled(self) -> dict[str, int]:
        await FallingEdge(self.dut.clk)
        await ReadOnly()
        return self.full.sample()

    async def _access(self, accesses: dict[int, Access]) -> None:
        await RisingEdge(self.dut.clk)
        for i in range(self.shape.ports):
            kind, register, word = accesses.get(i, ("", 0, 0))
            values = (register, int(kind == "write"), int(kind == "read"), word)
            for name, value in zip(NAMES, values, strict=True):
                self.pins[f"{name}_{i}"].value = value
        # The access is made in this cycle; its effects are seen in the next cycle.
        await RisingEdge(self.dut.clk)
        for i in accesses:
            self.pins[f"p_write_{i}"].value = 0
            self.pins[f"p_read_{i}"].value = 0
        self.cycles += 2


def commands_of(tables: ConnectionTables, working: WorkingSet) -> dict[int, list[int]]:
    """Commands of all processors to the switch when they enter a set, by processor."""
    words: dict[int, list[int]] = defaultdict(list)
    first = words[0]
    first.append(encode(Command.FLUSH))
    for slot in range(tables.slots):
        first.append(encode(Command.SLOT, x=slot, mode=int(slot >= tables.registers)))
    if tables.timeout:
        first.append(encode_predictor(Predictor.TIMEOUT, tables.timeout))
    for slot in range(tables.registers):
        pairs = working.configurations[slot] if slot < len(working.configurations) else ()
        if pairs:
            first += [encode(Command.STAGE, x=u, y=v) for u, v in pairs]
            first.append(encode(Command.LOAD, x=slot))
        else:
            first.append(encode(Command.EVICT, x=slot))
    for u, v in working.hold:
        words[u].append(encode(Command.HOLD, x=v))
    return words


@cocotb.test()
async def tdm_tables(dut: Any) -> None:
    """Compiled connection tables carry every word that is sent on their connections."""
    task = Task.given()
    random = task.random("tables")
    coverage = Coverage()
    coverage.group("mode", MODES)
    coverage.group("connection", ["preloaded", "left to the scheduler", "in a slot with others", "held"])
    bench = SwitchPins(dut, task.among(BENCHES).shape, random)
    await bench.start()
    facts = []
    try:
        for program in programs(FOUR_NODES):
            for mode in MODES:
                tables = read_tables(task.prepared / tables_file(program.name, mode), shape=task.among(BENCHES).shape)
                for number, working in enumerate(tables.sets):
                    placed = [pair for pairs in working.configurations for pair in pairs]
                    await bench.command(commands_of(tables, working))
                    messages = {
                        (u, v): [number << 20 | u << 16 | v << 12 | k for k in range(random.randint(1, 12))]
                        for u, v in sorted({*placed, *working.dynamic})
                    }
                    await bench.exchange(messages)
                    coverage.hit("mode", mode)
                    for name, happens in (
                        ("preloaded", placed),
                        ("left to the scheduler", working.dynamic),
                        ("in a slot with others", any(len(pairs) > 1 for pairs in working.configurations)),
                        ("held", working.hold),
                    ):
                        if happens:
                            coverage.hit("connection", name)
                facts.append(f"{program.name}, {mode}: {len(tables.sets)} sets, {len(tables.operators)} operators")
        missing = [f"{group.name}: {name}" for group in coverage.groups.values() for name in group.missing]
        assert not missing, f"{len(missing)} bins are empty: {', '.join(missing)}"
    finally:
        report(task, bench.cycles, bench.compared, coverage, facts)
