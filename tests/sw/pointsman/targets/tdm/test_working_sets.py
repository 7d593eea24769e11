"""Which phases share a working set, and where its configurations stand."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from pointsman.operators.messages.crossbar import SwitchUse
from pointsman.targets.tdm.working_sets import (
    Cost,
    PhaseNeeds,
    always_fit,
    assign,
    degree_of,
    divide,
    exclusive,
    may_hold,
)
from tdm_switch.shape import SwitchShape


def _pairs(chance: random.Random, count: int, ports: int = 6) -> frozenset[tuple[int, int]]:
    every = [(u, v) for u in range(ports) for v in range(ports)]
    return frozenset(chance.sample(every, count))


def test_the_busiest_port_says_how_many_configurations_there_are() -> None:
    assert degree_of(()) == 0
    assert degree_of([(0, 1), (2, 3)]) == 1
    assert degree_of([(0, 1), (0, 2), (3, 2)]) == 2


def test_connections_fit_in_any_order_if_their_ports_are_not_crowded() -> None:
    assert always_fit([(0, 1), (2, 3)], 1)
    assert not always_fit([(0, 1), (0, 2), (3, 2)], 2)
    assert always_fit([(0, 1), (0, 2), (3, 2)], 3)


def test_what_is_held_leaves_a_slot_to_every_connection_of_every_set() -> None:
    gather = [(1, 3), (2, 3)]
    assert may_hold([(gather, gather)], 2) == [True]
    assert may_hold([([(0, 3)], ()), (gather, gather)], 2) == [False, False]
    assert may_hold([([(0, 3)], ()), (gather, gather)], 3) == [False, True]
    assert may_hold([([(2, 1), (2, 3)], [(2, 3)]), ([(0, 1)], [(0, 1)])], 2) == [True, False]


@pytest.mark.parametrize("seed", range(10))
def test_each_connection_of_a_set_stands_once_and_no_port_twice_in_a_register(seed: int) -> None:
    chance = random.Random(seed)
    sets = [_pairs(chance, chance.randint(1, 8)) for _ in range(3)]
    registers = max(map(degree_of, sets))
    placed = assign(sets, registers, 6)
    for pairs, configurations in zip(sets, placed, strict=True):
        assert len(configurations) == registers
        assert sorted(pair for one in configurations for pair in one) == sorted(pairs)
        for one in configurations:
            assert len({u for u, _ in one}) == len({v for _, v in one}) == len(one)


def test_a_set_is_exclusive_if_nobody_else_feeds_its_ports() -> None:
    assert exclusive([(((0, 1),),), (((0, 1), (2, 3)),)]) == [True, True]
    assert exclusive([(((0, 1),),), (((2, 1),),)]) == [False, False]
    assert exclusive([(((0, 1),), ()), ((), ((2, 1),))]) == [True, True], "in different registers"


def test_phases_share_a_set_if_changing_it_costs_more_than_another_slot() -> None:
    cost = Cost(SwitchShape(ports=4))
    needs = []
    for pair in ((0, 1), (0, 2)):
        use = SwitchUse({pair: 4.0}, {pair: 1.0}, (frozenset({pair}),), accesses=4, depth=1)
        needs.append(PhaseNeeds(frozenset({pair}), ((use, 1.0),), alone=False))
    again = {(-1, 0): 1.0, (0, 1): 100.0, (1, 0): 99.0}
    assert divide(needs, again, cost, registers=4) == [(0, 2)]
    assert divide(needs, again, cost, registers=1) == [(0, 1), (1, 2)]
    apart = [PhaseNeeds(one.pairs, one.uses, alone=True) for one in needs]
    assert divide(apart, again, cost, registers=4) == [(0, 1), (1, 2)]


def _needs(chance: random.Random, count: int) -> tuple[list[PhaseNeeds], dict[tuple[int, int], float]]:
    """Phases in a row, and how often each follows each: loops around some of them."""
    parts = []
    for _ in range(count):
        pairs = _pairs(chance, chance.randint(1, 3))
        use = SwitchUse(
            {pair: float(chance.randint(1, 9)) for pair in pairs},
            dict.fromkeys(pairs, 1.0),
            (pairs,),
            accesses=4,
            depth=1,
        )
        parts.append(PhaseNeeds(pairs, ((use, float(chance.randint(1, 50))),), alone=chance.random() < 0.1))
    edges = {(k - 1, k): float(chance.randint(1, 40)) for k in range(count)}
    for _ in range(count // 2):
        low, high = sorted(chance.sample(range(count), 2))
        edges[high, low] = float(chance.randint(1, 40))
    return parts, edges


@pytest.mark.parametrize("seed", range(20))
def test_no_other_division_takes_fewer_cycles(seed: int) -> None:
    chance = random.Random(seed)
    parts, edges = _needs(chance, 7)
    cost, registers = Cost(SwitchShape(ports=6)), chance.choice([1, 2, 4])

    def cycles(runs: list[tuple[int, int]]) -> float:
        total = 0.0
        for first, past in runs:
            union = frozenset[tuple[int, int]]().union(*(one.pairs for one in parts[first:past]))
            degree = degree_of(union)
            if past - first > 1 and (degree > registers or any(one.alone for one in parts[first:past])):
                return float("inf")
            entered = sum(n for (a, b), n in edges.items() if first <= b < past and not first <= a < past)
            total += sum(one.time(cost, degree) for one in parts[first:past]) + entered * cost.change(union, degree)
        return total

    every = []
    for cuts in range(1 << 6):
        ends = [0, *(k + 1 for k in range(6) if cuts >> k & 1), 7]
        every.append(cycles(list(pairwise(ends))))
    assert cycles(divide(parts, edges, cost, registers)) == pytest.approx(min(every))


def test_the_cycles_of_a_phase_are_reckoned_once_for_each_degree(monkeypatch: pytest.MonkeyPatch) -> None:
    parts, edges = _needs(random.Random(1), 60)
    asked = 0
    plain = PhaseNeeds.time

    def counted(one: PhaseNeeds, cost: Cost, degree: int) -> float:
        nonlocal asked
        asked += 1
        return plain(one, cost, degree)

    monkeypatch.setattr(PhaseNeeds, "time", counted)
    divide(parts, edges, Cost(SwitchShape(ports=6)), registers=6)
    assert asked <= 60 * 7
