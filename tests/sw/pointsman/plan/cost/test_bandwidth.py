"""Expected bandwidths, by hand and by their laws."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.network import Topology, graph, mesh, torus
from pointsman.plan.cost.bandwidth import Resources, expected_bandwidth

Streams = list[tuple[int, tuple[int, ...]]]


def expected(
    operators: Sequence[Streams],
    where: Topology,
    *,
    traffic: Sequence[float] | None = None,
    limits: Sequence[float] | None = None,
    pipelines: float = 2,
    interface: float = 2.0,
) -> list[float]:
    resources = Resources.of(where, pipelines=pipelines, interface=interface)
    usage = np.array([resources.usage(streams) for streams in operators])
    ones = np.ones(len(operators))
    found = expected_bandwidth(
        usage,
        ones if traffic is None else np.array(traffic),
        ones if limits is None else np.array(limits),
        resources.capacity,
    )
    return list(found)


@pytest.fixture(autouse=True, scope="module")
def _warm() -> None:
    """Compiling the kernel takes longer than Hypothesis allows an example."""
    expected([[(0, (1,))]], mesh(2))


def test_a_stream_that_is_alone_gets_all_it_can_use() -> None:
    assert expected([[(0, (3,))]], mesh(4)) == [1.0]
    assert expected([[(0, (3,))]], mesh(4), limits=[0.5]) == [0.5]


def test_a_node_shares_its_pipelines_by_traffic() -> None:
    star = graph(4, [(0, 1), (0, 2), (0, 3)])
    found = expected([[(0, (1,))], [(0, (2,))], [(0, (3,))]], star, traffic=[3, 1, 4])
    assert found == pytest.approx([0.75, 0.25, 1.0])


def test_a_shift_writes_and_reads_at_every_node() -> None:
    ring: Streams = [(i, ((i + 1) % 4,)) for i in range(4)]
    assert expected([ring], torus(4)) == [1.0]
    assert expected([ring], torus(4), interface=1.0) == [0.5]


def test_a_multicast_is_forked_at_its_nodes() -> None:
    assert expected([[(0, (1, 2, 3))]], mesh(4)) == [1.0]
    assert expected([[(0, (1, 2, 3))], [(3, (0, 1, 2))]], mesh(4)) == [0.5, 0.5]


def test_streams_across_a_cut_share_its_links() -> None:
    left_to_right: list[Streams] = [[(i, (4 + i,))] for i in range(4)]
    assert expected(left_to_right, mesh(8)) == [0.25] * 4
    assert expected([[s for one in left_to_right for s in one]], mesh(8)) == [0.25]
    # The other way has links of its own.
    assert expected([*left_to_right, [(7, (0,))]], mesh(8))[-1] == 1.0


def test_all_streams_of_an_operator_go_at_the_pace_of_the_slowest() -> None:
    line = graph(8, [(i, i + 1) for i in range(7)])
    found = expected([[(0, (1,)), (2, (3,))], [(0, (2,)), (4, (5,))], [(0, (4,))], [(6, (7,))]], line)
    assert found == pytest.approx([2 / 3, 2 / 3, 2 / 3, 1.0])


@st.composite
def problems(draw: st.DrawFn) -> tuple[Topology, list[Streams], list[int]]:
    where = draw(st.sampled_from([mesh(5), mesh(3, 3), torus(4, 2), mesh(2, 2, 2)]))
    node = st.integers(0, where.nodes - 1)
    operators = []
    for _ in range(draw(st.integers(1, 6))):
        streams = []
        for source in draw(st.lists(node, min_size=1, max_size=3)):
            others = draw(st.frozensets(node.filter(lambda n, s=source: n != s), min_size=1, max_size=3))
            streams.append((source, tuple(others)))
        operators.append(streams)
    return where, operators, [draw(st.integers(1, 100)) for _ in operators]


@settings(deadline=None)  # the first one compiles the kernel
@given(problems(), st.integers(1, 3))
def test_no_resource_is_promised_twice(problem: tuple[Topology, list[Streams], list[int]], pipelines: int) -> None:
    where, operators, traffic = problem
    found = np.array(expected(operators, where, traffic=traffic, pipelines=pipelines))
    resources = Resources.of(where, pipelines=pipelines)
    usage = np.array([resources.usage(streams) for streams in operators])
    used = found @ usage
    assert (used <= resources.capacity * (1 + 1e-6)).all()
    assert (found > 0).all()
    assert (found <= 1).all()


@given(problems())
def test_words_load_the_cuts_that_they_cross(problem: tuple[Topology, list[Streams], list[int]]) -> None:
    where, operators, _ = problem
    resources = Resources.of(where, pipelines=2)
    for streams in operators:
        crossed = [
            sum(
                (where.coordinates(source)[axis] <= below) == upward
                and any((where.coordinates(node)[axis] > below) == upward for node in destinations)
                for source, destinations in streams
            )
            for axis, below, upward in resources.cuts
        ]
        assert resources.usage(streams)[where.nodes :].tolist() == crossed


@given(problems())
def test_more_pipelines_never_slow_the_slowest(problem: tuple[Topology, list[Streams], list[int]]) -> None:
    where, operators, _ = problem
    assert min(expected(operators, where, pipelines=2)) >= min(expected(operators, where, pipelines=1)) - 1e-9
