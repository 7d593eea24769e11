"""Descriptors' operations, against the sets they stand for."""

from __future__ import annotations

import random

from pointsman.arrays.analysis.descriptors import (
    Descriptor,
    Triple,
    apart,
    covers,
    hull,
    without_copies,
    without_elements,
)
from pointsman.arrays.analysis.emulation import delivered
from pointsman.arrays.tree.affine import Affine, Range, Scope

X, Y, N = Affine.of("i"), Affine.of("j"), Affine.of("n")


def _of(region: list[Affine], to: list[Affine], *bound: Range) -> Descriptor:
    return Descriptor("a", tuple(region), "t", tuple(to), bound)


def _set(*ones: Descriptor) -> list[object]:
    return sorted(pair for one in ones for pair in set(delivered(one, {})))  # type: ignore[type-var]


def _random(chance: random.Random) -> Descriptor:
    ranges = [
        Range(name, Affine(chance.randint(0, 3)), Affine(chance.randint(3, 8)), chance.choice([1, 1, 2]))
        for name in "ij"
    ]
    shift = [chance.choice([-1, 0, 0, 1]) for _ in "ij"]
    return _of([X * chance.choice([1, 1, 2, -1]) + 8, Y], [X + shift[0], Y + shift[1]], *ranges)


def test_without_elements_is_exact_on_boxes() -> None:
    chance = random.Random(1)
    for _ in range(300):
        one = _random(chance)
        low = [chance.randint(0, 20), chance.randint(0, 8)]
        box = tuple(Triple(Affine(at), Affine(at + chance.randint(0, 9)), 1) for at in low)
        pieces = without_elements(one, box, Scope())
        left = [
            pair
            for pair in _set(one)
            if not all(t.low.constant <= e <= t.high.constant for e, t in zip(pair[0], box, strict=True))  # type: ignore[index]
        ]
        assert _set(*pieces) == left
        assert not apart(one, box, Scope()) or left == _set(one)


def test_without_copies_is_exact_for_one_mapping_and_does_nothing_for_others() -> None:
    chance = random.Random(2)
    smaller = 0
    for _ in range(500):
        one, other = _random(chance), _random(chance)
        if chance.random() < 0.5:
            other = _of(list(one.region), list(one.destination), *other.bound)
        pieces = without_copies(one, other, Scope())
        assert set(_set(*pieces)) >= set(_set(one)) - set(_set(other))
        assert len(_set(*pieces)) == len(set(_set(*pieces)))
        if pieces != [one]:
            smaller += 1
            assert set(_set(*pieces)) == set(_set(one)) - set(_set(other))
        assert covers(one, one, Scope())
    assert smaller > 20


def test_red_and_black_are_apart() -> None:
    one = _of([2 * X], [2 * X + 1], Range("i", Affine(0), N))
    odd = (Triple(Affine(1), 2 * N + 1, 2),)
    assert apart(one, odd, Scope())
    assert not apart(one, (Triple(Affine(0), 2 * N, 2),), Scope())


def test_symbols_that_cannot_be_told_are_left_alone() -> None:
    one = _of([X], [X + 1], Range("i", Affine(1), N))
    assert without_elements(one, (Triple(Affine(1), N, 1),), Scope()) == []
    assert without_elements(one, (Triple(Affine.of("m"), Affine.of("m"), 0),), Scope()) == []
    assert without_copies(one, _of([X], [X + 1], Range("i", Affine(1), Affine.of("m"))), Scope()) == [one]
    assert covers(_of([X], [X + 1], Range("i", Affine(0), N)), one, Scope())


def test_everyone_has_what_one_needs() -> None:
    one = _of([X], [X + 1], Range("i", Affine(1), Affine(5)))
    everyone = Descriptor("a", (X,), None, (), (Range("i", Affine(1), Affine(5)),))
    assert covers(everyone, one, Scope())
    assert not covers(one, everyone, Scope())


def test_a_section_is_the_thesiss_d() -> None:
    one = _of([X - 1, Y * 2], [X, Y], Range("i", Affine(1), Affine(100)), Range("j", Affine(1), N))
    assert list(map(str, one.section)) == ["0:99:1", "2:2*n:2"]
    assert str(one) == "a(i-1,2*j) -> t(i,j), i = 1:100:1, j = 1:n:1"
    assert str(hull([X + Y], [Range("i", Affine(1), Affine(3), 2), Range("j", X, Affine(9))])[0]) == "2:12:1"
    assert str(Triple(N, N, 0)) == "n"
