"""The operators that are chosen for patterns, and the law of them all: everything arrives, once for a step."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pointsman.arrays.execution.steps import Broadcasts, Exchange, Step, choose
from pointsman.arrays.execution.transfers import Transfers
from pointsman.arrays.tree.mapping import Grid


def _one(pairs: dict[tuple[int, int], int]) -> dict[tuple[object, ...], Transfers]:
    return {(): {pair: np.arange(size) + 100 * pair[0] for pair, size in pairs.items()}}


def _kinds(pairs: dict[tuple[int, int], int], grid: Grid) -> list[str]:
    return [one.kind if isinstance(one, Exchange) else "broadcast" for one in choose(_one(pairs), [grid], 1)]


GRID = Grid((4, 4))


def test_neighbours_are_a_shift_without_the_ends() -> None:
    pairs = {(n, n + 1): 5 for n in range(16) if n % 4 < 3}
    (step,) = choose(_one(pairs), [GRID], 1)
    assert isinstance(step, Exchange)
    assert (step.kind, step.distance, step.items, step.groups[0]) == ("eoshift", 1, 5, (0, 1, 2, 3))
    (step,) = choose(_one({(n + 4, n): 5 for n in range(12)}), [GRID], 1)
    assert isinstance(step, Exchange)
    assert (step.kind, step.distance, step.groups[1]) == ("eoshift", -1, (1, 5, 9, 13))


def test_neighbours_around_the_ends_are_a_cyclic_shift() -> None:
    assert _kinds({(n, n // 4 * 4 + (n + 1) % 4): 5 for n in range(16)}, GRID) == ["cshift"]


def test_along_two_axes_it_is_a_permutation() -> None:
    assert _kinds({(n, (n + 5) % 16): 5 for n in range(16)}, GRID) == ["permute"]
    (step,) = choose(_one({(n, n + 5): 5 for n in range(11) if n % 4 < 3}), [GRID], 1)
    assert isinstance(step, Exchange)
    assert step.kind == "permute"
    assert sorted(step.partner.values()) == list(range(16))


def test_nobody_sends_and_gets_in_streams() -> None:
    assert _kinds({(0, 1): 3, (2, 3): 3}, GRID) == ["stream"]


def test_one_to_all_of_its_row_is_a_broadcast() -> None:
    (step,) = choose(_one({(n // 4 * 4 + 2, n): 50 for n in range(16) if n % 4 != 2}), [GRID], 1)
    assert isinstance(step, Broadcasts)
    assert step.fixed == (2, 2, 2, 2)
    assert step.groups[1] == (4, 5, 6, 7)


def test_all_to_all_of_a_row_are_broadcasts_in_turn() -> None:
    pairs = {(a, b): 225 for a in range(16) for b in range(16) if a != b and a // 4 == b // 4}
    (step,) = choose(_one(pairs), [GRID], 1)
    assert isinstance(step, Broadcasts)
    assert step.fixed is None
    assert step.uses(()) == 4
    short = dict.fromkeys(pairs, 20)
    assert _kinds(short, GRID) == ["cshift", "cshift", "cshift"]


def test_lengths_neither_pad_much_nor_cut_small() -> None:
    (step,) = choose(_one({(0, 1): 60, (2, 3): 57}), [GRID], 1)
    assert step.items == 60
    (step,) = choose(
        {("a",): {(0, 1): np.arange(1000)}, ("b",): {(0, 1): np.arange(10)}, ("c",): {(0, 1): np.arange(10)}}, [GRID], 1
    )
    assert step.items == 1000  # ten of the short ones would cost less than a hundred messages for the long one


def arrived(step: Step, key: object) -> list[tuple[int, int, int]]:
    """Source, destination and element of all that a step brings to those who want it."""
    if isinstance(step, Exchange):
        for source, end in step.sent[key]:  # type: ignore[index]
            if step.kind == "eoshift" or step.kind == "cshift":
                line = next(group for group in step.groups if source in group)
                place = line.index(source) + step.distance
                assert line[place % len(line)] == end
                assert step.kind == "cshift" or 0 <= place < len(line)
            else:
                assert step.partner[source] == end
        return [(source, end, int(e)) for (source, end), what in step.sent[key].items() for e in what]  # type: ignore[index]
    return [
        (source, end, int(e))
        for group, of in zip(step.groups, step.sources[key], strict=True)  # type: ignore[index]
        for source, what in of
        for end in group
        if end != source
        for e in what
    ]


@pytest.mark.parametrize("seed", range(40))
def test_everything_arrives(seed: int) -> None:
    chance = random.Random(seed)
    grid = Grid(chance.choice([(3,), (2, 2), (2, 3), (1, 4), (2, 2, 2)]))
    variants: dict[tuple[object, ...], Transfers] = {}
    for number in range(chance.randint(1, 3)):
        pairs = [
            (a, b)
            for a in range(grid.size)
            for b in range(grid.size)
            if a != b and chance.random() < chance.choice([0.1, 0.9])
        ]
        variants[(number,)] = {pair: np.array(sorted(chance.sample(range(30), chance.randint(1, 9)))) for pair in pairs}
    if not any(variants.values()):
        return
    steps = choose(variants, [grid], 1)
    for key, transfers in variants.items():
        wanted = {(a, b, int(e)) for (a, b), what in transfers.items() for e in what}
        found = [one for step in steps for one in arrived(step, key)]
        assert wanted <= set(found)
        if not any(isinstance(step, Broadcasts) for step in steps):
            assert sorted(found) == sorted(wanted)
    for step in steps:
        if isinstance(step, Exchange) and step.kind == "permute":
            assert sorted(step.partner.values()) == list(range(grid.size))
