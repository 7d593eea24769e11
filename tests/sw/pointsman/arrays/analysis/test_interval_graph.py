"""Loops are the intervals of the flow graph, and requests propagated through it find what the walks through the tree do."""

from __future__ import annotations

from types import ModuleType

import networkx as nx
import pytest

from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.communications import every
from pointsman.arrays.analysis.dependence import moved
from pointsman.arrays.analysis.scheduling import _Scheduling, _Writes
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.affine import Scope
from pointsman.arrays.tree.statements import Branch, DoLoop, Redistribute, assignments

from .interval_graph import IntervalGraph

FIGURE = """program figure
real, dimension(101, 101) :: x, y, z, w
!hpf$ processors p(2, 2)
!hpf$ template vprocs(202, 202)
!hpf$ align (i, j) with vprocs(i, j) :: x, y, z
!hpf$ align (i, j) with vprocs(2*j, i+1) :: w
!hpf$ distribute vprocs(block, block)
do i = 1, 100
  do j = 1, 100
    x(i,j) = 1
  end do
end do
do i = 1, 100
  do j = 1, 100
    y(i,j) = w(i,j)
  end do
end do
do i = 1, 100
  do j = 1, 100
    z(i,j) = x(i+1,j) * w(i,j)
    z(i,j) = z(i,j) * y(i+1,j)
  end do
  w(i+1,100) = 2
end do
end
"""


def test_figure_5_2() -> None:
    """Three nests, of which the headers and tails of the inner ones touch those of the outer: these edges are split."""
    graph = IntervalGraph(read_program(FIGURE, "figure.f90"))
    assert not graph.critical()
    statements = [node for node in graph.nodes if node.statement is not None]
    assert [(type(node.statement).__name__, node.level) for node in statements] == [
        *[("DoLoop", 0), ("DoLoop", 1), ("Assign", 2)] * 2,
        *[("DoLoop", 0), ("DoLoop", 1), ("Assign", 2), ("Assign", 2), ("Assign", 1)],
    ]
    # header to header, three into bodies and two behind a nest; tail to header, where an inner loop ends its outer one
    assert sorted(node.level for node in graph.nodes if node.role == "split") == [0, 0, 1, 1, 1, 1, 1]


def _check(graph: IntervalGraph) -> int:
    program = graph.program
    assert not graph.critical()
    # Back edges close natural loops, and without them there is no cycle: the graph is reducible, a loop of the text an interval.
    flow = graph.digraph()
    dominator = nx.immediate_dominators(flow, graph.entry)
    for tail, header in graph.back:
        up = tail
        while up not in (header, graph.entry):
            up = dominator[up]
        assert up is header
        without = flow.copy()
        without.remove_node(header)
        body = {tail, *nx.ancestors(without, tail)} if tail is not header else set()
        assert body == {node for node in graph.nodes if header.statement in node.loops}
    flow.remove_edges_from(graph.back)
    assert nx.is_directed_acyclic_graph(flow)
    for loop in every(program.body):
        if isinstance(loop, DoLoop):
            found = graph.summary(loop)
            assert {one for one in found if not isinstance(one[0], Redistribute)} == set(
                assignments(loop.body, (loop.range,))
            )
            assert {one.template for one, _ in found if isinstance(one, Redistribute)} == moved(program, loop.body)
    work = _Scheduling(derive(program)["eliminated"])
    compared = 0

    def of_body(body: tuple[object, ...], scope: Scope) -> None:
        nonlocal compared
        writes = _Writes(program, body)  # type: ignore[arg-type]
        for latest, statement in enumerate(body):
            for message in work.old.get(statement, ()):  # type: ignore[call-overload]
                for one in message:
                    passed = graph.passed(one, statement, scope)  # type: ignore[arg-type]
                    earliest = latest
                    while earliest and graph.of[body[earliest - 1]] in passed:  # type: ignore[index]
                        earliest -= 1
                    assert earliest == work.earliest(one, writes, latest, scope)
                    compared += earliest < latest
            if isinstance(statement, DoLoop):
                of_body(statement.body, scope.with_ranges([statement.range]))
            elif isinstance(statement, Branch):
                of_body(statement.then, scope)
                of_body(statement.otherwise, scope)

    of_body(program.body, Scope())
    return compared


def test_the_figure_and_livermore_18(livermore18: str) -> None:
    assert _check(IntervalGraph(read_program(FIGURE, "figure.f90"))) == 2
    assert _check(IntervalGraph(read_program(livermore18, "livermore18.f90"))) > 5


@pytest.mark.parametrize("several", [False, True])
def test_random_programs(several: bool, enumeration: ModuleType) -> None:
    moving = 0
    for seed in range(60):
        try:
            moving += _check(IntervalGraph(enumeration.random_program(seed, several=several)))
        except Exception as error:
            raise AssertionError(f"random program {seed}") from error
    assert moving > 20
