"""Expected bandwidths, by hand and by their laws."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.network import Topology, graph, mesh, torus
from pointsman.plan.bandwidth import Demand, expected_bandwidth


def stream(operator: int, source: int, *destinations: int, traffic: float = 1.0, alone: bool = False) -> Demand:
    return Demand(operator, source, destinations, traffic, alone=alone)


def test_a_stream_that_is_alone_gets_all_it_can_use() -> None:
    assert expected_bandwidth([stream(0, 0, 3)], mesh(4), pipelines=2) == [1.0]
    assert expected_bandwidth([Demand(0, 0, (3,), 1, limit=0.5)], mesh(4), pipelines=2) == [0.5]


def test_a_node_shares_its_pipelines_by_traffic() -> None:
    demands = [stream(i, 0, 1 + i, traffic=t) for i, t in enumerate((3, 1, 4))]
    found = expected_bandwidth(demands, graph(4, [(0, 1), (0, 2), (0, 3)]), pipelines=2)
    assert found == pytest.approx([0.75, 0.25, 1.0])


def test_a_shift_writes_and_reads_at_every_node() -> None:
    ring = [stream(0, i, (i + 1) % 4) for i in range(4)]
    assert expected_bandwidth(ring, torus(4), pipelines=2) == [1.0] * 4
    assert expected_bandwidth(ring, torus(4), pipelines=2, interface=1.0) == [0.5] * 4


def test_streams_across_a_bisection_share_its_links() -> None:
    left_to_right = [stream(i, i, 4 + i) for i in range(4)]
    assert expected_bandwidth(left_to_right, mesh(8), pipelines=2) == [0.25] * 4
    # The other way has links of its own.
    assert expected_bandwidth([*left_to_right, stream(9, 7, 0)], mesh(8), pipelines=2)[-1] == 1.0


def test_all_streams_of_an_operator_go_at_the_pace_of_the_slowest() -> None:
    demands = [stream(0, 0, 1), stream(0, 2, 3), stream(1, 0, 2), stream(1, 4, 5), stream(2, 0, 4), stream(3, 6, 7)]
    where = graph(8, [(i, i + 1) for i in range(7)])
    found = expected_bandwidth(demands, where, pipelines=2)
    assert found == pytest.approx([2 / 3] * 5 + [1.0])


def test_online_streams_are_slowed_one_by_one() -> None:
    demands = [stream(0, 0, 1, alone=True), stream(0, 2, 3, alone=True), stream(1, 0, 2), stream(2, 0, 4)]
    found = expected_bandwidth(demands, graph(8, [(i, i + 1) for i in range(7)]), pipelines=2)
    assert found == pytest.approx([2 / 3, 1.0, 2 / 3, 2 / 3])


@st.composite
def problems(draw: st.DrawFn) -> tuple[Topology, list[Demand]]:
    where = draw(st.sampled_from([mesh(5), mesh(3, 3), torus(4, 2), mesh(2, 2, 2)]))
    node = st.integers(0, where.nodes - 1)
    demands = []
    for _ in range(draw(st.integers(1, 8))):
        source = draw(node)
        others = tuple(draw(st.frozensets(node.filter(lambda n, s=source: n != s), min_size=1, max_size=3)))
        demands.append(
            Demand(draw(st.integers(0, 3)), source, others, draw(st.integers(1, 100)), alone=draw(st.booleans()))
        )
    return where, demands


@given(problems(), st.integers(1, 3))
def test_no_processor_is_promised_more_than_it_has(problem: tuple[Topology, list[Demand]], pipelines: int) -> None:
    where, demands = problem
    found = expected_bandwidth(demands, where, pipelines=pipelines, interface=2.0)
    assert all(0 < share <= 1 for share in found)
    for node in range(where.nodes):
        used = [share for d, share in zip(demands, found, strict=True) if node in (d.source, *d.destinations)]
        if len(used) > 1:
            assert sum(used) <= min(pipelines, 2.0) + 1e-6
    for a, one in enumerate(demands):
        for b, other in enumerate(demands):
            if one.operator == other.operator and not (one.alone or other.alone):
                assert found[a] == pytest.approx(found[b])


@given(problems())
def test_more_pipelines_never_slow_the_slowest(problem: tuple[Topology, list[Demand]]) -> None:
    where, demands = problem
    assert (
        min(expected_bandwidth(demands, where, pipelines=2))
        >= min(expected_bandwidth(demands, where, pipelines=1)) - 1e-9
    )
