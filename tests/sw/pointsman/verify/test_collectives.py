"""The judge of collectives: it finds every change that matters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pointsman.artifacts.routes.collectives import CollectiveResult, CollectiveWord
from pointsman.artifacts.routes.file import make_collective, make_problem
from pointsman.artifacts.routes.routes import Bound
from pointsman.network import mesh, torus
from pointsman.routing.collectives.router import route_collective
from pointsman.verify.collectives import check_collective


def made(kind, topology=None, **options) -> CollectiveResult:
    topology = topology or mesh(3, 3)
    result = route_collective(make_collective(make_problem(topology, []), kind, **options))
    return replace(result, words=list(result.words))


def word(item, centre, slot, outward=(), inward=(), ends=(), own=True, kept=False) -> CollectiveWord:
    table = [np.array(moves, np.int64).reshape(-1, 3) for moves in (inward, outward)]
    return CollectiveWord(item, centre, slot, table[0], table[1], list(ends), own, kept)


def told(kind, moved, *, period=4, latency=2, topology=None, ordered=False, **options) -> str:
    problem = make_collective(make_problem(topology or mesh(3), []), kind, **options)
    return check_collective(CollectiveResult(problem, period, latency, moved, "by hand", ordered=ordered)).render()


def test_what_is_written_by_hand_passes():
    broadcast = word((0,), 0, 0, [(0, 0, 1), (1, 1, 2)], ends=[1, 2])
    assert "every rule" in told("broadcast", [broadcast])
    reduction = word((0,), 1, 1, inward=[(0, 0, 1), (2, 0, 1)], kept=True)
    assert "every rule" in told("reduce", [reduction], latency=1, root=1, ordered=True)
    both = word((0,), 1, 1, [(1, 1, 0), (1, 1, 2)], [(0, 0, 1), (2, 0, 1)], [0, 2], kept=True)
    assert "every rule" in told("all-reduce", [both], ordered=True)


@pytest.mark.parametrize(
    ("kind", "words", "finding"),
    [
        ("broadcast", [word((0,), 0, 0, [(0, 0, 1)], ends=[1])], "must be delivered at [1, 2], not at [1]"),
        ("broadcast", [word((0,), 0, 0, [(0, 0, 1), (1, 2, 2)], ends=[1, 2])], "when it is not there"),
        ("broadcast", [word((0,), 0, 0, [(0, 0, 2)], ends=[2])], "no working link 0 -> 2"),
        ("broadcast", [word((0,), 0, 0, [(0, 0, 5)], ends=[2])], "a node that does not exist"),
        ("broadcast", [word((0,), 0, 0, [(0, 0, 1), (1, 1, 2), (1, 1, 0)], ends=[1, 2])], "it enters a node twice"),
        ("broadcast", [word((0,), 0, 0, [(0, 0, 1), (1, 1, 2)], ends=[1])], "it ends at node 2"),
        ("broadcast", [word((0,), 0, 0, [(0, 0, 1), (1, 1, 2)], ends=[1, 2, 2])], "delivered twice"),
        ("broadcast", [word((0,), 0, 0, [(0, 0, 1)], ends=[1, 2])], "where it never comes"),
        ("broadcast", [word((0,), 1, 0, [(1, 0, 0), (1, 0, 2)], ends=[0, 2])], "is of (1,), not of (0,)"),
        ("broadcast", [word((0,), 7, 0)], "centre 7 is no working node"),
        ("broadcast", [word((0,), 0, 0, [(0, 0, 1), (1, 1, 2)], ends=[1, 2], own=False)], "comes from nowhere"),
        ("broadcast", [], "must be sent once, not 0 times"),
        ("broadcast", [word((3,), 0, 0, [(0, 0, 1), (1, 1, 2)], ends=[1, 2])], "(3,) is nobody's"),
        ("reduce", [word((0,), 0, 1, inward=[(1, 0, 0)], kept=True)], "is of [0, 1], not of each node once"),
        ("reduce", [word((0,), 0, 3, inward=[(2, 0, 1), (1, 2, 0)], kept=True)], "comes when nothing leaves 1"),
        ("reduce", [word((0,), 0, 1, inward=[(1, 0, 0), (1, 0, 2)], kept=True)], "leaves a node twice"),
    ],
)
def test_each_broken_rule_is_found(kind, words, finding):
    assert finding in told(kind, words)


def test_two_words_on_a_link_are_found():
    twice = [word((index,), 0, 4 * index, [(0, 4 * index, 1)], ends=[1]) for index in range(2)]
    text = told("broadcast", twice, words=2, topology=mesh(2), latency=5)
    assert "link 0 -> 1 is used already in slot 0" in text
    assert "the injection port of node 0 is used already" in text
    assert "the ejection port of node 1 is used already" in text


def test_latency_bound_and_order_are_not_believed():
    good = made("reduce", torus(4, 4), root=5)
    assert check_collective(good).ok
    assert not good.ordered
    assert "combined in the order" in check_collective(replace(good, ordered=True)).render()
    assert "the latency is" in check_collective(replace(good, latency=good.latency - 1)).render()
    wanted = replace(good, problem=replace(good.problem, ordered=True))
    assert "must be combined in the order" in check_collective(wanted).render()
    low = replace(good, bounds=(Bound(good.period + 1, "cut"),))
    assert "below the bound" in check_collective(low).render()
    assert "at least one slot" in check_collective(replace(good, period=0)).render()


@pytest.mark.parametrize("kind", ["all-gather", "reduce-scatter", "all-reduce", "scatter"])
def test_every_single_change_of_a_move_is_found(kind):
    good = made(kind, words=2)
    assert check_collective(good).ok
    chance = np.random.default_rng(3)
    for _ in range(60):
        at = int(chance.integers(len(good.words)))
        old = good.words[at]
        name = "inward" if len(old.inward) and (chance.integers(2) or not len(old.outward)) else "outward"
        moves = getattr(old, name).copy()
        row, column = int(chance.integers(len(moves))), int(chance.integers(3))
        moves[row, column] += int(chance.choice([-1, 1]))
        words = list(good.words)
        words[at] = replace(old, **{name: moves})
        assert not check_collective(replace(good, words=words)).ok
