"""A part as arrays: they say what the part says."""

from __future__ import annotations

import numpy as np
import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.arrays import PRICE, PartArrays, count_in, nothing_used
from pointsman.routing.phase_router.fixed_routes import FixedVfsm
from pointsman.routing.phase_router.problem import NodeLimits, RoutingPart, split
from pointsman.routing.streams import Stream

LIMITS = NodeLimits(2, 32, 16, phase_change=True)


@pytest.fixture(scope="module")
def part() -> RoutingPart:
    streams = [
        Stream("a", 0, (8,)),
        Stream("b", 4, (0, 2, 6)),
        Stream("c", 2, (1,), keep_in=frozenset({0, 1, 2}), chains=2),
    ]
    ((found, _),) = split(streams, mesh(3, 3), NodeShape(), {(0, 1, 3), (0, 1, 9)})
    return found


def test_links_stand_with_the_node_that_writes_them(part: RoutingPart) -> None:
    net = PartArrays.of(part).network
    for node in range(part.nodes):
        own = net.links_from[net.first_link[node] : net.first_link[node + 1]].tolist()
        assert own == [link for link, (writer, _) in enumerate(part.links) if writer == node]
    assert net.link_to.tolist() == [reader for _, reader in part.links]
    assert net.most_links == 4, "the node in the middle"


def test_demands_have_their_ends_and_only_their_nodes(part: RoutingPart) -> None:
    demands = PartArrays.of(part).demands
    for i, demand in enumerate(part.demands):
        assert tuple(demands.ends[demands.first_end[i] : demands.first_end[i + 1]].tolist()) == demand.destinations
        assert tuple(np.flatnonzero(demands.allowed[i]).tolist()) == demand.nodes
        grows = demand.tree is None and len(demand.destinations) > 1
        assert (demands.branching[i] < 0) == (demands.longer[i] < 0) == grows


def test_branchings_of_a_path_lead_to_its_end_and_the_longer_one_has_more(part: RoutingPart) -> None:
    demands = PartArrays.of(part).demands
    for i, demand in enumerate(part.demands):
        sizes = []
        for number in (demands.branching[i], demands.longer[i]) if demands.branching[i] >= 0 else ():
            rows = demands.branches[demands.first_branch[number] : demands.first_branch[number + 1]]
            assert rows[0, 0] == demand.source
            assert set(rows[:, 0].tolist()) <= set(demand.nodes)
            assert set(demand.destinations) <= set(rows[:, 0].tolist())
            sizes.append(len(rows))
        assert sizes == sorted(sizes)


def test_slots_that_are_blocked_repeat_with_the_period(part: RoutingPart) -> None:
    one = PartArrays.of(part)
    for slots in (4, 6, 16):
        net = one.blocked(part, slots)
        found = {(int(link), int(slot)) for link, slot in np.argwhere(net.blocked[0])}
        assert found == {(link, slot % slots) for link, slot in part.blocked}
        assert net.any_blocked
    assert not one.network.any_blocked


def test_chains_share_the_words_of_their_demand_and_have_rows_of_their_own(part: RoutingPart) -> None:
    chains = PartArrays.of(part).chains([2, 1, 6], [1, 1, 2])
    assert chains.demand.tolist() == [0, 1, 2, 2]
    assert chains.words.tolist() == [2, 1, 3, 3]
    assert np.diff(chains.first_start).tolist() == chains.words.tolist()
    for first, rows in ((chains.first_visit, chains.visits), (chains.first_op, chains.ops)):
        assert first[0] == 0
        assert (np.diff(first) > 0).all()
        assert first[-1] == len(rows)
    assert not chains.n_ops.any()


def test_what_stands_is_counted_where_it_stands(part: RoutingPart) -> None:
    use = nothing_used(part, LIMITS, 6)
    assert not any(table.any() for name, table in use._asdict().items() if name != "held")
    assert (use.held == -1).all()
    count_in([FixedVfsm(2, 1, (1, 7, 4), 0, reads=True, writes=False)], use, 2, 6)
    place = 2 * 2 + 1
    assert np.argwhere(use.cells).tolist() == [[place, 1], [place, 4]], "slots 1 and 7 are one of six"
    assert np.argwhere(use.wires).tolist() == [[0, 1], [0, 4]]
    assert use.numbers.tolist() == [int(i == place) for i in range(len(use.numbers))]
    assert use.cell_history[place].tolist() == [0, PRICE, 0, 0, PRICE, 0]
    assert np.argwhere(use.turn_history).tolist() == [[place, 0], [place, 3]], "nobody delivers in the slot before"
    assert not use.writers.any()
    assert (use.readers_met[:, place, 1] == 1).all()
