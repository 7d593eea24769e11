"""Affine expressions, ranges and their bounds, against their values point by point."""

from __future__ import annotations

import itertools
import random

from pointsman.arrays.tree.affine import Affine, Range, Scope, fresh, names_of


def test_arithmetic_is_that_of_the_values() -> None:
    i, j = Affine.of("i"), Affine.of("j")
    value = 2 * (i - 3) + j * -1 + 4
    assert value.value({"i": 5, "j": 2}) == 6
    assert str(value) == "2*i-j-2"
    assert (value - value).known == 0
    assert value.put({"j": i * 2}).known == -2
    assert (i * 4 + 6).divided(2) == i * 2 + 3
    assert (i * 4 + 5).divided(2) is None
    assert names_of([value, Affine(3)]) == {"i", "j"}
    assert fresh("i", ["i'1"]) == "i'2"


def test_ranges_are_those_of_do_loops() -> None:
    for low, high, step in itertools.product(range(-3, 4), range(-3, 4), (-3, -2, -1, 1, 2, 3)):
        one = Range("i", Affine(low), Affine(high), step)
        values = list(one.values({}))
        assert one.count == len(values)
        if values:
            assert (one.least.known, one.most.known) == (min(values), max(values))
            assert one.last == Affine(values[-1])


def test_bounds_hold_and_are_reached_over_triangles() -> None:
    random.seed(1)
    for _ in range(200):
        scope = Scope(
            [
                Range("i", Affine(random.randint(-2, 2)), Affine(random.randint(3, 5))),
                Range("j", Affine.of("i") - 6, Affine.of("i") + random.randint(0, 3)),
            ]
        )
        value = (
            Affine(random.randint(-9, 9))
            + Affine.of("i") * random.randint(-3, 3)
            + Affine.of("j") * random.randint(-3, 3)
        )
        i, j = scope.ranges
        met = [value.value({"i": a, "j": b}) for a in i.values({}) for b in j.values({"i": a})]
        assert (scope.least(value), scope.most(value)) == (min(met), max(met))
        if 0 in met:
            assert scope.may_vanish(value)


def test_what_has_no_range_has_no_bounds() -> None:
    scope = Scope([Range("i", Affine(1), Affine.of("n"))])
    assert scope.most(Affine.of("i")) is None
    assert scope.at_most(Affine.of("i"), Affine.of("n"))
    assert not scope.may_vanish(Affine.of("i") * 2 - Affine.of("i") * 2 + 1)
    assert not scope.may_vanish(Affine.of("i"))
