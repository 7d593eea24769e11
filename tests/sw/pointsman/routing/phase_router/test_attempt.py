"""One attempt: from nothing, and beside chains that are kept from another one."""

from __future__ import annotations

from collections import Counter

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.arrays import PartArrays
from pointsman.routing.phase_router.attempt import Budget, Negotiation, RoutingTask
from pointsman.routing.phase_router.necessary import loads_of
from pointsman.routing.phase_router.placement import Placed
from pointsman.routing.phase_router.problem import NodeLimits, RoutingPart, split
from pointsman.routing.phase_router.routes import Chain
from pointsman.routing.streams import Stream

SHAPE = NodeShape()
LIMITS = NodeLimits(SHAPE.pipelines, SHAPE.vfsms, SHAPE.registers, phase_change=True)
NODES = 9


@pytest.fixture(scope="module")
def part() -> RoutingPart:
    """Every node of a mesh sends to the next, and one to all."""
    streams = [Stream(f"s{i}", i, ((i + 1) % NODES,), chains=2) for i in range(NODES)]
    streams.append(Stream("all", 4, tuple(i for i in range(NODES) if i != 4)))
    ((found, _),) = split(streams, mesh(3, 3), SHAPE, ())
    return found


def negotiation(part: RoutingPart, slots: int, words: list[int], chains: list[int]) -> Negotiation:
    task = RoutingTask(part, slots, tuple(words), tuple(chains), reserve=True)
    return Negotiation(task, loads_of(part).totals, LIMITS, PartArrays.of(part), 0)


def placed(one: Negotiation) -> Placed:
    found = one.run(200, 60, Budget(1e9)).placed
    assert found is not None
    return found


def twice_used(chains: list[Chain], slots: int) -> list[tuple[int, int, int]]:
    cells = Counter(
        (node, pipeline, (start + slot) % slots)
        for chain in chains
        for start in chain.starts
        for node, pipeline, slot in chain.route.cells
    )
    return [cell for cell, count in cells.items() if count > 1]


def by_demand(chains: list[Chain], demand: int) -> list[Chain]:
    return [chain for chain in chains if chain.demand == demand]


def test_what_is_kept_needs_no_routing_and_reads_the_same(part):
    ones = [1] * len(part.demands)
    first = placed(negotiation(part, 16, ones, ones))
    again = negotiation(part, 16, ones, ones)
    assert again.keep(first)
    assert again.kept.all()
    assert placed(again).chains() == first.chains()


def test_what_is_kept_is_repeated_in_a_longer_period(part):
    ones = [1] * len(part.demands)
    first = placed(negotiation(part, 16, ones, ones))
    longer = negotiation(part, 32, [2 * words for words in ones], ones)
    assert longer.keep(first)
    for before, after in zip(first.chains(), placed(longer).chains(), strict=True):
        assert after.route == before.route
        assert after.starts == (*before.starts, *(start + 16 for start in before.starts))


def test_what_is_kept_is_not_used_where_its_period_does_not_divide(part):
    ones = [1] * len(part.demands)
    assert not negotiation(part, 24, ones, ones).keep(placed(negotiation(part, 16, ones, ones)))


@pytest.mark.parametrize("chains", [1, 2])
def test_a_word_more_is_routed_beside_what_others_have(part, chains):
    ones = [1] * len(part.demands)
    first = placed(negotiation(part, 16, ones, ones))
    more = negotiation(part, 16, [2, *ones[1:]], [chains, *ones[1:]])
    assert more.keep(first)
    assert list(more.kept) == [demand != 0 for demand in more.chains.demand]
    found = placed(more).chains()
    assert not twice_used(found, 16)
    assert sum(len(chain.starts) for chain in by_demand(found, 0)) == 2
    same = [d for d in range(1, len(ones)) if by_demand(found, d) == by_demand(first.chains(), d)]
    assert len(same) >= len(ones) // 2


@pytest.mark.parametrize(
    ("slots", "words", "fits"), [(7, 2, True), (8, 2, True), (13, 3, True), (9, 3, False), (12, 3, False)]
)
def test_an_attempt_that_is_gone_on_with_comes_to_what_it_comes_to_at_once(part, slots, words, fits):
    ones = [1] * len(part.demands)
    task = slots, [words] * len(part.demands), ones
    whole, steps = negotiation(part, *task), negotiation(part, *task)
    budget, spent = Budget(1e9), Budget(1e9)
    at_once = whole.run(60, 30, budget)
    rounds = 1
    outcome = steps.run(rounds, 30, spent)
    while not outcome.final and rounds < 60:
        rounds += 1
        outcome = steps.run(rounds, 30, spent)
    assert rounds > 2
    assert spent.left == budget.left
    assert (outcome.contested, outcome.nodes, outcome.final) == (at_once.contested, at_once.nodes, at_once.final)
    assert (outcome.placed is not None) == (at_once.placed is not None) == fits
    if outcome.placed is not None and at_once.placed is not None:
        assert outcome.placed.chains() == at_once.placed.chains()


def test_an_attempt_that_has_waited_as_long_as_it_may_does_no_more(part):
    ones = [1] * len(part.demands)
    one = negotiation(part, 12, [3] * len(part.demands), ones)
    before = one.run(8, 1, Budget(1e9))
    budget = Budget(1e9)
    after = one.run(4, 1, budget)
    assert before.placed is None
    assert after.placed is None
    assert not before.final
    assert budget.left == 1e9
    assert after.contested == before.contested
