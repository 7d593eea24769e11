"""Affine expressions over names (loop indices and parameters), ranges of names, and bounds of the one over the other.

Everything is exact over the integers. What cannot be told, because a name has no known range, is None and never a guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True)
class Affine:
    """``constant`` + the sum of coefficient × name over ``terms``, which are sorted by name and have no coefficient 0."""

    constant: int = 0
    terms: tuple[tuple[str, int], ...] = ()

    @staticmethod
    def of(value: Affine | int | str) -> Affine:
        """An integer, a name or an expression as an expression."""
        if isinstance(value, Affine):
            return value
        return Affine(0, ((value, 1),)) if isinstance(value, str) else Affine(int(value))

    @staticmethod
    def _made(constant: int, terms: Mapping[str, int]) -> Affine:
        return Affine(constant, tuple(sorted((name, factor) for name, factor in terms.items() if factor)))

    def __add__(self, other: Affine | int) -> Affine:
        if not isinstance(other, Affine):
            return Affine(self.constant + int(other), self.terms)
        if not other.terms or not self.terms:
            return Affine(self.constant + other.constant, self.terms or other.terms)
        terms = dict(self.terms)
        for name, factor in other.terms:
            terms[name] = terms.get(name, 0) + factor
        return Affine._made(self.constant + other.constant, terms)

    __radd__ = __add__

    def __neg__(self) -> Affine:
        return self * -1

    def __sub__(self, other: Affine | int) -> Affine:
        if self == other:
            return Affine()
        return self + -other

    def __rsub__(self, other: int) -> Affine:
        return -self + other

    def __mul__(self, factor: int) -> Affine:
        if not factor:
            return Affine()
        return Affine(self.constant * factor, tuple([(name, factor * own) for name, own in self.terms]))

    __rmul__ = __mul__

    def divided(self, divisor: int) -> Affine | None:
        """The quotient if it is affine with integer coefficients, else None."""
        if self.constant % divisor or any(factor % divisor for _, factor in self.terms):
            return None
        return Affine(self.constant // divisor, tuple((name, factor // divisor) for name, factor in self.terms))

    @property
    def names(self) -> frozenset[str]:
        """The names in it."""
        return frozenset(name for name, _ in self.terms)

    @property
    def known(self) -> int | None:
        """Its value if it is a constant."""
        return None if self.terms else self.constant

    def factor(self, name: str) -> int:
        """Coefficient of a name; 0 if it is not in it."""
        for own, factor in self.terms:
            if own == name:
                return factor
        return 0

    def put(self, values: Mapping[str, Affine | int]) -> Affine:
        """With names replaced by values."""
        constant, terms, same = self.constant, dict[str, int](), True
        for name, factor in self.terms:
            value = values.get(name)
            if value is None:
                terms[name] = terms.get(name, 0) + factor
                continue
            same = False
            if isinstance(value, Affine):
                constant += factor * value.constant
                for other, own in value.terms:
                    terms[other] = terms.get(other, 0) + factor * own
            else:
                constant += factor * int(value)
        return self if same else Affine._made(constant, terms)

    def value(self, values: Mapping[str, int]) -> int:
        """Its value where all names have one (KeyError otherwise)."""
        return self.constant + sum(factor * values[name] for name, factor in self.terms)

    def __str__(self) -> str:
        text = ""
        for name, factor in self.terms:
            size = name if abs(factor) == 1 else f"{abs(factor)}*{name}"
            text += f"{'-' if factor < 0 else '+' if text else ''}{size}"
        if not text:
            return str(self.constant)
        return f"{text}{self.constant:+d}" if self.constant else text


@dataclass(frozen=True)
class Range:
    """A name that runs from ``low`` to ``high`` by ``step``, as a DO loop does: ``high`` is included if a step falls on it.

    The step may be negative, and the range may be empty.
    """

    name: str
    low: Affine
    high: Affine
    step: int = 1

    def __post_init__(self) -> None:
        assert self.step, "the front ends refuse a step of 0"

    def values(self, outer: Mapping[str, int]) -> range:
        """Its values, given those of the names in its bounds."""
        return range(self.low.value(outer), self.high.value(outer) + (1 if self.step > 0 else -1), self.step)

    @property
    def count(self) -> int | None:
        """How many values it has, if that is known without the names in its bounds."""
        length = (self.high - self.low).known
        return None if length is None else max(0, length // self.step + 1)

    @property
    def last(self) -> Affine | None:
        """The last value, if the range is not known to be empty and it is known where it ends."""
        if self.step in (1, -1):
            return self.high
        return self.low + (self.count - 1) * self.step if self.count else None

    @property
    def least(self) -> Affine:
        """A lower bound of its values: the least value wherever `last` is known."""
        return self.low if self.step > 0 else self.last or self.high

    @property
    def most(self) -> Affine:
        """An upper bound of its values."""
        return (self.last or self.high) if self.step > 0 else self.low

    def put(self, values: Mapping[str, Affine | int]) -> Range:
        """With names in its bounds replaced."""
        return Range(self.name, self.low.put(values), self.high.put(values), self.step)

    def renamed(self, names: Mapping[str, str]) -> Range:
        """With its own name and those in its bounds replaced."""
        new = {old: Affine.of(name) for old, name in names.items()}
        return Range(names.get(self.name, self.name), self.low.put(new), self.high.put(new), self.step)

    def __str__(self) -> str:
        return f"{self.name} = {self.low}:{self.high}:{self.step}"


class Scope:
    """The ranges that are known at a place, from the outermost inwards; later ranges may use the names of earlier ones."""

    def __init__(self, ranges: Iterable[Range] = ()) -> None:
        self.ranges = tuple(ranges)

    def __iter__(self) -> Iterator[Range]:
        return iter(self.ranges)

    def with_ranges(self, ranges: Iterable[Range]) -> Scope:
        """This scope with ranges inside it."""
        return Scope((*self.ranges, *ranges))

    def most(self, value: Affine) -> int | None:
        """An upper bound of an expression (the greatest value where ranges are boxes or triangles); None if there is none known.

        Every range is taken to have a value: where one is empty, nothing is executed and any bound is true.
        """
        for one in reversed(self.ranges):
            factor = value.factor(one.name)
            if factor:
                value = value.put({one.name: one.most if factor > 0 else one.least})
        return value.known

    def least(self, value: Affine) -> int | None:
        """A lower bound of an expression; None if there is none known."""
        most = self.most(-value)
        return None if most is None else -most

    def at_most(self, one: Affine, other: Affine) -> bool:
        """Is ``one`` known to be never more than ``other``?"""
        most = self.most(one - other)
        return most is not None and most <= 0

    def may_vanish(self, value: Affine) -> bool:
        """Can an expression be 0? False only if it is proved by its bounds or by divisibility."""
        most, least = self.most(value), self.least(value)
        if (most is not None and most < 0) or (least is not None and least > 0):
            return False
        constant, common = value, 0
        for one in reversed(self.ranges):
            factor = constant.factor(one.name)
            if factor:
                common = gcd(common, factor * one.step)
                constant = constant.put({one.name: one.low})
        if constant.terms:
            return True
        return constant.constant % common == 0 if common else constant.constant == 0


def fresh(stem: str, taken: Iterable[str]) -> str:
    """A name like ``stem`` that is not taken."""
    taken = set(taken)
    number = 1
    while (name := f"{stem}'{number}") in taken:
        number += 1
    return name


def names_of(values: Sequence[Affine]) -> frozenset[str]:
    """All names in some expressions."""
    return frozenset().union(*(value.names for value in values))
