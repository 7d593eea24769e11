"""Which word waits for which, on the two trees of an all-reduce, and what ways a word has."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop.compile import compile_text
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.scheduled.in_halves import IN_HALVES
from pointsman.routing.phase_router.paced.order import WAYS, Turns, WordOrder, order_of
from pointsman.routing.phase_router.problem import RoutingPart, split


def problem(size: tuple[int, int]) -> tuple[RoutingPart, Turns]:
    """The only part of an all-reduce on two trees, and the places of its streams in the order."""
    topology, shape = mesh(*size), NodeShape()
    (operator,) = compile_text("(allreduce 'o 'add :m 64)", topology=topology).operators()
    streams = IN_HALVES[0].streams(operator, Context(topology, shape))
    ((part, site),) = split(streams, topology, shape, ())
    return part, tuple(turn for turn in (streams[k].turn for k in site.streams) if turn is not None)


@pytest.fixture(scope="module", params=[(2, 2), (4, 4), (3, 5)])
def ordered(request: pytest.FixtureRequest) -> WordOrder:
    found = order_of(*problem(request.param), 6)
    assert found is not None
    return found


def test_a_word_waits_for_those_that_are_combined_with_it(ordered: WordOrder) -> None:
    demands = ordered.part.demands
    for k, before in enumerate(ordered.read):
        for j in before:
            assert demands[j].destinations == (demands[k].source,)
            assert ordered.after[j] == k
            assert ordered.tail[j] > ordered.tail[k]


def test_only_words_on_their_way_back_go_to_several_nodes(ordered: WordOrder) -> None:
    assert len(ordered.multicasts) == 2
    for k in ordered.multicasts:
        assert ordered.after[k] is None
        assert len(ordered.part.demands[k].destinations) == ordered.part.nodes - 1


def test_ways_lead_from_the_source_to_all_destinations(ordered: WordOrder) -> None:
    part = ordered.part
    for demand, ways in zip(part.demands, ordered.ways, strict=True):
        assert 1 <= len(ways) <= WAYS
        for way in ways:
            assert way.visits[0].node == demand.source
            assert set(way.arrivals) == set(demand.destinations)
            for visit in way.visits[1:]:
                assert part.links[visit.link] == (way.visits[visit.parent].node, visit.node)


def test_every_access_of_a_node_is_in_one_of_its_lanes(ordered: WordOrder) -> None:
    for node, lanes in enumerate(ordered.lanes):
        listed = sorted(k for lane in lanes for some in lane for k in some)
        at = [k for k, one in enumerate(ordered.part.demands) if node in (one.source, *one.destinations)]
        assert listed == at


def test_a_multicast_that_is_read_before_others_are_written_is_left_to_the_search() -> None:
    part, turns = problem((4, 4))
    multicast = next(k for k, demand in enumerate(part.demands) if len(demand.destinations) > 1)
    lowest = min(turn.level for turn in turns)
    first = tuple(turn._replace(level=lowest - 1) if k == multicast else turn for k, turn in enumerate(turns))
    assert order_of(part, turns, 6) is not None
    assert order_of(part, first, 6) is None
