"""Bench of a mesh: random programs on every node, processors that stall, every link watched."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from cosim.benches.numesh.drivers.timetable import Timetable
from cosim.benches.numesh.drivers.traffic import RandomProcessor, RandomProgram
from numesh.codes import LOOKAHEAD
from numesh.shape import NodeShape
from pointsman.network import Topology

from .catalogue import BENCHES
from .models.mesh import MeshModel
from .models.places import kind_of

PROCESSOR_INPUTS = ("p_address", "p_write", "p_read", "p_write_data")
PROCESSOR_OUTPUTS = ("p_full", "p_read_data")
LINK_OUTPUTS = ("in_accept", "out_valid", "out_data")

CROSSINGS = (
    *("register > link", "link > link", "link > register", "buffer > link", "link > buffer"),
    *("fork > link", "fork > register"),
)
"""Words on their way through a node: from where, to where."""


class MeshDriver:
    """A processor per node. In the first half of some cycles the processors make other accesses.

    Most programs come from a common timetable, and the nodes start together; some are random, node by node.
    """

    def __init__(self, shape: NodeShape, topology: Topology, random: Random) -> None:
        self.random = random
        self.topology = topology
        self.processors = [RandomProcessor(shape, random) for _ in range(topology.nodes)]
        self.resets = 3
        self.reset_cycles = shape.reset_cycles

    def early(self, cycle: int) -> Values:
        if self.resets:
            self.resets -= 1
            if not self.resets:
                self._restart()
        elif all(processor.finished for processor in self.processors) or self.random.random() < 0.001:
            self.resets = self.reset_cycles + self.random.randint(0, 2)
        values = {"rst": int(self.resets > 0)}
        if self.random.random() < 0.2:
            for i, processor in enumerate(self.processors):
                values |= {f"{name}_{i}": value for name, value in processor.anything().items()}
        return values

    def _restart(self) -> None:
        random = self.random
        together = random.random() < 0.8
        table = Timetable(self.processors[0].codes, self.topology, random)
        commands = random.choice((0.0, 0.0, 0.15)) if together else 0.15
        for i, processor in enumerate(self.processors):
            if together:
                processor.restart(table.program(i, processor.words), commands=commands)
                processor.start = LOOKAHEAD, LOOKAHEAD + 1
                processor.held = True
            else:
                processor.restart(RandomProgram(processor.codes, processor.words, random), commands=commands)

    def late(self, settled: Values) -> Values:
        values: dict[str, int] = {}
        if all(processor.ready for processor in self.processors):
            for processor in self.processors:
                processor.held = False
        for i, processor in enumerate(self.processors):
            values |= {f"{name}_{i}": value for name, value in processor.access(settled[f"p_full_{i}"]).items()}
        return values


class CoveredMesh(CoveredModel[MeshModel]):
    """The model, which also counts events on the links in coverage bins."""

    def __init__(self, shape: NodeShape, topology: Topology, coverage: Coverage) -> None:
        self.model = MeshModel(shape, topology)
        self.coverage = coverage
        for i, ports in enumerate(topology.at_port):
            for d, (other, _) in sorted(ports.items()):
                coverage.group(
                    f"link from node {i} to node {other} (port {d})",
                    ["a word passes", "a word is refused", "a reader waits", "words in both directions"],
                )
            coverage.group(f"words through node {i}", CROSSINGS)
        edge = [f"node {i}, port {d}" for i in range(topology.nodes) for d in self._edge(i)]
        coverage.group("a word for a port without a link", edge)
        coverage.group("a reader at a port without a link", edge)

    def _edge(self, i: int) -> list[int]:
        return [d for d in range(self.model.shape.neighbours) if d not in self.model.topology.at_port[i]]

    def clock(self, inputs: Values) -> None:
        given = [node.outputs() for node in self.model.nodes]
        for i, ports in enumerate(self.model.topology.at_port):
            for d, (other, port) in ports.items():
                self._cover_link(i, d, other, port, given)
            for d in self._edge(i):
                if given[i][f"out_valid_{d}"]:
                    self.coverage.hit("a word for a port without a link", f"node {i}, port {d}")
                if given[i][f"in_accept_{d}"]:
                    self.coverage.hit("a reader at a port without a link", f"node {i}, port {d}")
        self.model.clock(inputs)
        for i, node in enumerate(self.model.nodes):
            for happening in node.happenings:
                if happening.written is not None and happening.ok and not happening.written.from_buffer:
                    annotation = happening.written.annotation
                    source, to = (kind_of(node.codes, c) for c in (annotation.source, annotation.destination))
                    if source == "link" and annotation.type.name == "FORK":
                        source = "fork"
                    if f"{source} > {to}" in CROSSINGS:
                        self.coverage.hit(f"words through node {i}", f"{source} > {to}")

    def _cover_link(self, i: int, d: int, other: int, port: int, given: list[dict[str, int | None]]) -> None:
        valid, accept = given[i][f"out_valid_{d}"], given[other][f"in_accept_{port}"]
        back = given[other][f"out_valid_{port}"] and given[i][f"in_accept_{d}"]
        group = f"link from node {i} to node {other} (port {d})"
        if valid:
            self.coverage.hit(group, "a word passes" if accept else "a word is refused")
            if accept and back:
                self.coverage.hit(group, "words in both directions")
        elif accept:
            self.coverage.hit(group, "a reader waits")


@cocotb.test()
async def mesh(dut: Any) -> None:
    """A mesh does what its model does, on every link and at every processor."""
    task = Task.given()
    shape, topology = task.among(BENCHES).shape, task.among(BENCHES).topology
    assert topology is not None
    nodes = range(topology.nodes)
    coverage = Coverage()
    outputs = [f"{name}_{i}" for i in nodes for name in PROCESSOR_OUTPUTS]
    outputs += [f"node_{i}.{name}_{d}" for i in nodes for d in range(shape.neighbours) for name in LINK_OUTPUTS]
    plan = BenchPlan(
        inputs=["rst", *(f"{name}_{i}" for i in nodes for name in PROCESSOR_INPUTS)],
        outputs=outputs,
        settled=[f"p_full_{i}" for i in nodes],
        least=3000,
        most=30000,
    )
    driver = MeshDriver(shape, topology, task.random("driver"))
    await run(dut, driver, CoveredMesh(shape, topology, coverage), coverage, plan)
