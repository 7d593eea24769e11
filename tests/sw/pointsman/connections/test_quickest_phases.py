"""Phases with degrees of their own, against all ways of cutting a program."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence

import pytest

from pointsman.connections import Network
from pointsman.connections.phases import Communication, For, If, Node, communication_phases, configurations_on
from pointsman.connections.quickest_phases import Weights, communications, quickest_phases, run_slots
from pointsman.errors import PointsmanError

CONFIGURED = configurations_on(Network("crossbar", (6,)))


def to(name: str, *destinations: int) -> Communication:
    return Communication(name, frozenset((0, one) for one in destinations))


def least(nodes: Sequence[Node], at: tuple[object, ...], limit: int, weights: Weights) -> int:
    """By trying every way to cut each list, and to open each node or not."""
    entries = weights.entries.get(at, 1)  # type: ignore[call-overload]
    if not nodes:
        return 0
    found = []
    for cuts in itertools.product([False, True], repeat=max(0, len(nodes) - 1)):
        places = [0, *(k + 1 for k, cut in enumerate(cuts) if cut), len(nodes)]
        total = 0
        for begin, end in itertools.pairwise(places):
            inside = [one for node in nodes[begin:end] for one in communications(node)]
            pattern = frozenset(pair for one in inside for pair in one.connections)
            ways = []
            if len(CONFIGURED(pattern)) <= limit:
                once = weights.load * entries if pattern else 0
                ways.append(len(CONFIGURED(pattern)) * sum(weights.packets[one.name] for one in inside) + once)
            node = nodes[begin]
            if end == begin + 1 and not isinstance(node, Communication):
                ways.append(sum(least(part, (*at, begin, name), limit, weights) for name, part in node.parts))
            if not ways:
                break
            total += min(ways)
        else:
            found.append(total)
    return min(found)


def random_nodes(chance: random.Random, depth: int, names: list[str]) -> list[Node]:
    made: list[Node] = []
    for _ in range(chance.randint(1, 3)):
        kind = chance.random()
        if depth and kind < 0.3:
            made.append(For(random_nodes(chance, depth - 1, names)))
        elif depth and kind < 0.4:
            made.append(If(random_nodes(chance, depth - 1, names), random_nodes(chance, depth - 1, names)))
        else:
            names.append(f"c{len(names)}")
            made.append(to(names[-1], *chance.sample(range(1, 6), chance.randint(1, 2))))
    return made


def places(nodes: Sequence[Node], at: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
    return [at, *(p for k, node in enumerate(nodes) for name, part in node.parts for p in places(part, (*at, k, name)))]


@pytest.mark.parametrize("seed", range(40))
def test_no_other_cut_takes_fewer_slots(seed: int) -> None:
    chance = random.Random(seed)
    names: list[str] = []
    nodes = random_nodes(chance, 2, names)
    weights = Weights(
        {name: chance.randint(1, 30) for name in names},
        {place: chance.randint(1, 5) for place in places(nodes)},  # type: ignore[misc]
        load=chance.choice([0, 3, 40]),
    )
    phases, slots = quickest_phases(nodes, 3, CONFIGURED, weights)
    assert slots == least(nodes, (), 3, weights)
    assert sorted(name for phase in phases for name in phase.names) == sorted(names)
    assert all(len(CONFIGURED(phase.connections)) == phase.degree <= 3 for phase in phases)
    gathered = communication_phases(nodes, 3, lambda pattern: len(CONFIGURED(pattern)))
    assert slots == run_slots(phases, weights) <= run_slots(gathered, weights)


def test_what_does_not_fit_alone_is_divided() -> None:
    phases, slots = quickest_phases([to("all", 1, 2, 3, 4, 5)], 2, CONFIGURED, Weights({"all": 10}, load=7))
    assert [phase.degree for phase in phases] == [2, 2, 1]
    assert slots == 5 * 10 + 3 * 7
    with pytest.raises(PointsmanError, match=r"^there must be at least one slot, not 0$"):
        quickest_phases([], 0, CONFIGURED, Weights({}))
