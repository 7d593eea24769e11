"""Bench of compiled programs: processors load the images through MEMADR, run the programs, and every word is checked.

Each program runs twice, at the processors' best speed and with random pauses between its operations. In between the
processors restore the routers' contents at power-up, again through MEMADR.
"""

from __future__ import annotations

from collections.abc import Coroutine, Sequence
from random import Random
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock as PinClock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge

from cosim.benches.bench import FOUR_NODES
from cosim.benches.coverage import Coverage
from cosim.benches.harness import MismatchError, Monitor, Task, report
from cosim.benches.numesh.drivers.processors import Clock, Processor, by_node
from cosim.benches.programs import Delivered, ImageProgram, Pause, programs
from numesh.codes import FIRST_FREE_VFSM, LOOKAHEAD, Codes
from numesh.shape import NodeShape
from pointsman.artifacts.images.file import read_images
from pointsman.artifacts.images.images import Images
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil

from .catalogue import BENCHES
from .mesh import PROCESSOR_INPUTS, PROCESSOR_OUTPUTS

_QUIET = 4000
"""Cycles without an access after which a run is stuck."""


class MeshPins:
    """The pins of the mesh, and the accesses that they have carried."""

    def __init__(self, dut: Any, reset_cycles: int) -> None:
        self.reset_cycles = reset_cycles
        nodes = range(FOUR_NODES.nodes)
        self.dut = dut
        self.pins = {f"{name}_{i}": getattr(dut, f"{name}_{i}") for i in nodes for name in PROCESSOR_INPUTS}
        self.monitor = Monitor(dut, [f"{name}_{i}" for i in nodes for name in PROCESSOR_OUTPUTS])
        self.cycles = 0

    async def start(self) -> None:
        self.dut.rst.value = 1
        for pin in self.pins.values():
            pin.value = 0
        PinClock(self.dut.clk, 2, unit="step").start(start_high=False)
        await RisingEdge(self.dut.clk)

    async def run(self, clock: Clock, processors: Sequence[Processor]) -> None:
        """Reset, and serve the processors until all have finished.

        Raises
        ------
        MismatchError
            If nothing moves any more.
        """
        dut = self.dut
        dut.rst.value = 1
        for _ in range(self.reset_cycles):
            await RisingEdge(dut.clk)
        dut.rst.value = 0
        quiet = 0
        while not all(processor.done for processor in processors):
            await FallingEdge(dut.clk)
            values = by_node(processors, self.monitor.sample())
            for name, value in values.items():
                self.pins[name].value = value
            moved = any(value and name.startswith(("p_read", "p_write_")) for name, value in values.items())
            timed = any(isinstance(processor.request, (Wait, WaitUntil)) for processor in processors)
            quiet = 0 if moved or timed else quiet + 1
            if quiet > _QUIET:
                stuck = "\n".join(f"  node {i}: {processor}" for i, processor in enumerate(processors))
                raise MismatchError(f"nothing has moved for {_QUIET} cycles at time {clock.time}\n{stuck}")
            await RisingEdge(dut.clk)
            clock.time += 1
            self.cycles += 1
        await FallingEdge(dut.clk)
        await ReadOnly()


async def scrub(codes: Codes) -> None:
    """Restore a router's memories to their contents at power-up. Its loader phase must run, of any length."""
    entries = codes.reset_schedule()
    # With its first entries alone the loader phase does not depend on the others any more.
    for address in range(LOOKAHEAD):
        await _send(0, codes.write_entry(address, entries[address]))
    await Wait(2 * codes.shape.schedule_depth, Category.ROUTER)
    for address in range(LOOKAHEAD, codes.shape.schedule_depth):
        await _send(0, codes.write_entry(address, entries[address]))
    for p in range(codes.shape.pipelines):
        annotations = codes.reset_annotations(p)
        for vfsm in range(FIRST_FREE_VFSM, codes.shape.vfsms):
            await _send(p, codes.write_annotation(vfsm, annotations[vfsm]))
        await WaitEmpty(p, Category.ROUTER)
    await Wait(8, Category.ROUTER)


async def _send(pipeline: int, words: Sequence[int]) -> None:
    await Transfer(Lane(True, pipeline, len(words), np.array(words, np.uint64)), Category.ROUTER)


def no_pause() -> int:
    return 0


def random_pauses(random: Random) -> Pause:
    """Random pauses in cycles: mostly 0, sometimes long."""
    return lambda: random.choice((0, 0, 3, random.randrange(60)))


def node_program(program: ImageProgram, node: Node, pause: Pause) -> Coroutine[Any, None, Delivered]:
    """Program of a node's processor from reset to the end."""

    async def main() -> Delivered:
        await node.cop.init()
        received = await program.main(node, pause)
        await node.cop.fini()
        return received

    return main()


class PromiseCoverage:
    """Bins for every way that the compiler promises: each must have carried words."""

    def __init__(self, coverage: Coverage, program: ImageProgram, images: Images) -> None:
        self.coverage = coverage
        self.images = images
        self.name = program.name
        written, read = set(), set()
        for promise in images.promises:
            written.add((promise.source, promise.register))
            read |= set(promise.destinations)
        self.written, self.read = sorted(written), sorted(read)
        coverage.group(f"{self.name}: registers written", [_place(*place) for place in self.written])
        coverage.group(f"{self.name}: registers read", [_place(*place) for place in self.read])
        coverage.group(
            f"{self.name}: received words of", sorted({o.label for o in images.operators if o.kind != "barrier"})
        )

    def count(self, processors: Sequence[Processor], received: Sequence[Delivered]) -> None:
        for i, processor in enumerate(processors):
            for register, _ in processor.injections:
                if (i, register) in self.written:
                    self.coverage.hit(f"{self.name}: registers written", _place(i, register))
            for delivery in processor.deliveries:
                if (i, delivery.register) in self.read:
                    self.coverage.hit(f"{self.name}: registers read", _place(i, delivery.register))
        for messages in received:
            for label, _ in messages:
                self.coverage.hit(f"{self.name}: received words of", label)


def _place(node: int, register: int) -> str:
    return f"node {node}, register {register}"


def compare(program: ImageProgram, how: str, processors: Sequence[Processor]) -> int:
    """Compare the words that every node has received with the program's meaning. Gives the number of words.

    Raises
    ------
    MismatchError
        With the first word that differs.
    """
    words = 0
    for i, processor in enumerate(processors):
        meant = program.meaning(i)
        where = f"{program.name}, {how}, node {i}"
        # The words that came through the port, in order ...
        came = [delivery.word for delivery in processor.deliveries if delivery.wanted]
        wanted = [word for _, message in meant for word in message]
        for k, (word, expected) in enumerate(zip(came, wanted, strict=False)):
            if word != expected:
                raise MismatchError(f"{where}: word {k} is {word:#x} and must be {expected:#x}")
        if len(came) != len(wanted):
            raise MismatchError(f"{where}: {len(came)} words came and {len(wanted)} must have come")
        # ... and the words that the program was given.
        if processor.result != meant:
            raise MismatchError(f"{where}: the program received {processor.result} and must have received {meant}")
        words += len(came)
    return words


@cocotb.test()
async def image(dut: Any) -> None:
    """Compiled programs deliver every word where, and in the order in which, the COP text says."""
    task = Task.given()
    coverage = Coverage()
    bench = MeshPins(dut, task.among(BENCHES).shape.reset_cycles)
    await bench.start()
    compared = 0
    facts: list[str] = []
    try:
        for program in programs(FOUR_NODES):
            images = read_images(program.file(task.prepared), shape=task.among(BENCHES).shape)
            counter = PromiseCoverage(coverage, program, images)
            pauses = random_pauses(task.random(program.name))
            for how, pause in (("at full speed", no_pause), ("with pauses", pauses)):
                clock = Clock()
                processors = [
                    Processor(node_program(program, numesh_node(images, i, clock), pause), clock)
                    for i in range(FOUR_NODES.nodes)
                ]
                await bench.run(clock, processors)
                words = compare(program, how, processors)
                counter.count(processors, [processor.result for processor in processors])
                compared += words
                facts.append(f"{program.name}, {how}: {words} words delivered as meant in {clock.time:,} cycles")
                await _clean_up(bench, task.among(BENCHES).shape)
        missing = [f"{group.name}: {name}" for group in coverage.groups.values() for name in group.missing]
        assert not missing, f"{len(missing)} bins are empty: {', '.join(missing)}"
    finally:
        report(task, bench.cycles, compared, coverage, facts)


async def _clean_up(bench: MeshPins, shape: NodeShape) -> None:
    await RisingEdge(bench.dut.clk)
    clock = Clock()
    await bench.run(clock, [Processor(scrub(Codes(shape)), clock) for _ in range(FOUR_NODES.nodes)])
    await RisingEdge(bench.dut.clk)
