"""Every implementation of every operator against the reference machine, and through the judge."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from loading import module_at
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


def _load(name: str) -> ModuleType:
    return module_at(Path(__file__).with_name(f"{name}.py"))


PROGRAMS = _load("operator_programs")
Exercise, WAYS = PROGRAMS.Exercise, PROGRAMS.WAYS

BOXES = ("str_bcast_dense", "str_collect_dim", "sch_permute_runtime", "sch_shift_runtime")
"""Implementations that need a box of nodes."""
BY_VALUE = ("sch_bcast_dense", "sch_collect_dim", "sch_reduce", "sch_shift", "sch_stream")
"""Implementations with a schedule for each value, of which a node holds few."""
CONNECTED = (
    *BY_VALUE,
    "str_bcast_linear",
    "str_bcast_round",
    "str_barrier",
    "str_collect_runtime",
    "sch_collect_dense",
    "str_stream_runtime",
    *BOXES,
)
"""Implementations that need nodes that hang together."""
SIZES = ("1x1", "1x2", "2x2", "3x5", "4x4", "2x2x2")
LENGTHS = (1, 2, 3, 64)
TYPES = ("int32*", "float32*", "int64*", "float64*", "int32", "float64")
WHERE = ("all", "rows", "sparse", "valid")


def exercise(way: tuple[str, str, tuple[str, ...]], size: str, m: int, type_: str, where: str) -> Exercise | None:
    """A case, or None where the language or the implementation has no such thing."""
    kind, impl, operands = way
    nodes = Exercise(kind, impl, operands, size, m, type_, where).nodes
    if where == "sparse" and impl in CONNECTED:
        where = "rows" if impl in BY_VALUE else "all"
    if impl == "str_bcast_round":
        if size == "3x5":
            return None  # no cycle goes through all nodes
        where = "all" if where == "rows" else where
    if kind == "barrier":
        m, type_ = 1, "int32*"
    if not type_.endswith("*"):
        m = 2 if "64" in type_ else 1
    if kind in ("seqread", "seqwrite"):
        valid = Exercise(kind, impl, operands, size, m, type_, where).valid
        if len(valid) < 2 + len(operands):
            return None
    if impl.endswith(("permute_runtime", "shift_runtime")) and where == "valid":
        where = "rows"
    if impl == "str_bcast_linear" and m == 1 and where == "valid":
        where = "all"
    # The registers of the standard node hold the fans of small subsets only.
    limited = impl in ("str_spread", "str_gather", "str_seqread_fan", "str_seqwrite_fan", "par_bcast")
    if limited and nodes > 12:
        where = "rows"
    # And so it is with streams for each value.
    if impl in ("par_shift", "par_reduce", "par_stream") and nodes > 4:
        where = "rows"
    if (impl in BY_VALUE and nodes > 6) or (impl == "str_stream_dyn" and nodes > 5):
        where = "rows"
    function = {"reduce": "max", "prefix": "add"}.get(kind, "")
    if impl == "str_allreduce_exchange":
        # A few words, and nodes that make rows.
        m = min(m, 4)
        if where == "valid" or nodes in (1, 2, 3, 5):
            where = "all"
        if Exercise(kind, impl, operands, size, m, type_, where).nodes < 4:
            return None
    if impl.endswith("_halves"):
        # Messages of several items, whose function is known.
        m, type_, function = max(3, m), type_.rstrip("*") + "*", "add"
    return Exercise(kind, impl, operands, size, m, type_, where, function)


def covering() -> Iterator[Exercise]:
    """Two small cases for each implementation; together they cover every length, type and place, and small meshes."""
    small = ("2x2", "1x2", "1x1", "3x2")
    for number, way in enumerate(WAYS):
        for turn in range(2):
            k = 2 * number + turn
            where = WHERE[(k // 2 + turn) % 4] if small[k % 3 if turn else 0] == "2x2" else "all"
            if way[1] in BY_VALUE and where == "all":
                where = "rows"  # each value takes as long to plan as an operator
            found = exercise(way, small[(k // 2) % 3 if turn else 0], LENGTHS[k % 4], TYPES[(k // 3) % 6], where)
            if found is not None:
                yield found


def full() -> Iterator[Exercise]:
    """Every implementation, mesh and place, with lengths and types in turn so that all pairs of these come up."""
    turn = 0
    for way in WAYS:
        for size in SIZES:
            for where in WHERE:
                found = exercise(way, size, LENGTHS[turn % 4], TYPES[turn // 4 % 6], where)
                turn += 1
                if found is not None:
                    yield found


@cache
def machine(topology: Topology, engine: str) -> Machine:
    return Machine(shape_for(topology), topology, engine=engine, progress=False)  # type: ignore[arg-type]


def shape_for(topology: Topology) -> NodeShape:
    return NodeShape(neighbours=max(4, topology.ports))


def put_to_the_test(case: Exercise, engine: str = "model") -> None:
    program = case.program
    topology = program.topology
    images = make_images(make_plan(program, shape_for(topology), name="exercise", period=16))
    assert case.impl in (images.operators[0].implementation, *(one.implementation for one in images.replaced))
    report = check_images(images)
    assert report.ok, f"{case.text()}\n{report.render()}"
    expected = ReferenceMachine(program).run(case.main)
    assert not expected.unread
    hardware = Machine(shape_for(topology), topology, engine=engine, progress=False)  # type: ignore[arg-type]
    with hardware:
        nodes = [numesh_node(images, number, hardware) for number in range(topology.nodes)]
        record = run_nodes(nodes, case.main, hardware)
    assert record.results == expected.results, case.text()


def name(case: Exercise) -> str:
    return f"{case.kind}-{case.impl}-{case.size}-{case.m}-{case.type.replace('*', 'a')}-{case.where}"


@pytest.mark.parametrize("case", list(covering()), ids=name)
def test_implementation_moves_what_the_operator_means(case: Exercise) -> None:
    put_to_the_test(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", list(full()), ids=name)
def test_implementation_moves_what_the_operator_means_everywhere(case: Exercise) -> None:
    put_to_the_test(case)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS, ids=lambda way: f"{way[0]}-{way[1]}")
def test_implementation_on_the_rtl(way: tuple[str, str, tuple[str, ...]]) -> None:
    case = exercise(way, "2x2", 3, "int32*", "all")
    assert case is not None
    put_to_the_test(case, "verilated")


@pytest.mark.slow
def test_a_row_broadcast_with_a_schedule_for_each_source_is_as_quick_as_with_a_known_source() -> None:
    program = compile_text("(broadcast 'b (runtime) :m 64 :impl 'sch_bcast_dense)", topology=mesh(4))
    images = make_images(make_plan(program, NodeShape(), name="row", period=24))
    assert check_images(images).ok
    schedules = [one for one in images.operators if one.label == "b"]
    assert len(schedules) == 4
    assert min(one.bandwidth for one in schedules) >= 0.5


def test_a_stream_from_few_nodes_has_streams_from_these_alone() -> None:
    program = compile_text("(stream 's (runtime :values '(0 8)) 4 :m 2 :impl 'str_stream_rtsrc)", topology=mesh(3, 3))
    images = make_images(make_plan(program, NodeShape(), name="few", period=16))
    report = check_images(images)
    assert report.ok, report.render()


@pytest.mark.parametrize(("impl", "sources"), [("str_stream_runtime", (0, 1, 2, 3)), ("str_stream_rtsrc", (3,))])
def test_a_stream_that_goes_one_way_has_two_chains(impl: str, sources: tuple[int, ...]) -> None:
    values = " ".join(map(str, sources))
    text = f"(loop 'l 12 (stream 's (runtime :values '({values})) 0 :m 40 :impl '{impl}))"
    topology = mesh(4)
    program = compile_text(text, topology=topology)
    plan = make_plan(program, NodeShape(), name="one way", period=16)
    (one,) = plan.phases[0].operators
    assert max(plan.phases[0].routed.words(stream) for stream in one.streams) > 8
    images = make_images(plan)
    assert check_images(images).ok

    async def main(node: Node) -> list[list[int]]:
        found = []
        for turn in range(12):
            source = sources[turn * turn % len(sources)]
            await node.cop.s_load(source)
            if node.number == source:
                await node.cop.s_write(np.arange(40, dtype=np.int32) + 100 * turn)
            if node.number == 0:
                found.append((await node.cop.s_read()).tolist())
        return found

    with Machine(NodeShape(), topology, engine="model", progress=False) as hardware:
        nodes = [numesh_node(images, number, hardware) for number in range(topology.nodes)]
        record = run_nodes(nodes, main, hardware)
    assert record.results == [[[100 * turn + k for k in range(40)] for turn in range(12)], [], [], []]


def test_every_implementation_is_put_to_the_test() -> None:
    # test_online has those that pass messages on.
    offline = [one for one in IMPLEMENTATIONS if not one.name.startswith("dyn_")]
    known = {(kind, one.name) for one in offline for kind in one.kinds}
    assert {(kind, impl) for kind, impl, _ in WAYS} == known
    cases = list(covering())
    assert {case.m for case in cases} >= set(LENGTHS)
    assert {case.type for case in cases} == set(TYPES)
    assert {case.where for case in cases} == set(WHERE)
    assert {case.impl for case in cases} == {impl for _, impl, _ in WAYS}
