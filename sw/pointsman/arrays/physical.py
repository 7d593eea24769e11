"""From virtual processors to processors: which pairs of processors a descriptor connects (Yuan 1998, §5.3).

Dimensions of source and destination that share no variable are independent, so their patterns are found one by one and crossed. A
variable is followed until the blocks repeat, so an unknown upper bound does no harm; an unknown lower bound or an unknown
coordinate gives all pairs. One thing is more precise than in the thesis: a variable that occurs in several dimensions of one side
is followed through all of them together, where the thesis takes all pairs.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from pointsman.arrays.analysis.communications import Owners
from pointsman.arrays.analysis.descriptors import Descriptor
from pointsman.arrays.tree.affine import Affine, Range, Scope
from pointsman.arrays.tree.mapping import Grid, Template

Pairs = frozenset[tuple[int, int]]
"""Source and destination processors; both may be the same."""
MOST_POINTS = 1 << 16
"""Values of several variables in one dimension that are tried; beyond that all pairs are taken."""


@dataclass(frozen=True)
class Coordinate:
    """A coordinate of a virtual processor along a distributed dimension: least coordinate, processors and block there."""

    value: Affine
    low: int
    processors: int
    block: int

    def processor(self, at: int) -> int:
        """Coordinate of the processor that has a virtual one."""
        return (at - self.low) // self.block % self.processors

    def state(self, at: int) -> int:
        """What decides where this and all later virtual processors of a sequence lie."""
        return (at - self.low) % (self.block * self.processors)


@dataclass(frozen=True)
class Values:
    """Values of a variable: ``first``, ``first`` + ``step``, …; ``count`` None is as many as it takes."""

    first: int
    step: int
    count: int | None


def sequence_pattern(values: Values, coordinates: Sequence[tuple[int, Coordinate]]) -> set[tuple[int, ...]]:
    """Places on processors that a variable visits, until they repeat or it ends.

    Parameters
    ----------
    values : Values
    coordinates : sequence of (int, Coordinate)
        Each with the variable's coefficient in it; the rest of its value is a constant.

    Returns
    -------
    set of tuples
        A processor coordinate for each of ``coordinates``.

    >>> line = Coordinate(Affine(), 0, 2, 2)
    >>> sorted(sequence_pattern(Values(2, 3, None), [(1, line)]))
    [(0,), (1,)]
    """
    found: set[tuple[int, ...]] = set()
    first = None
    for number in itertools.count() if values.count is None else range(values.count):
        at = [factor * (values.first + number * values.step) + one.value.constant for factor, one in coordinates]
        state = [one.state(value) for value, (_, one) in zip(at, coordinates, strict=True)]
        if first is None:
            first = state
        elif state == first:
            break
        found.add(tuple(one.processor(value) for value, (_, one) in zip(at, coordinates, strict=True)))
    return found


@dataclass(frozen=True)
class Product:
    """A pattern in compact form: coordinates in groups, in each of which places are listed; the rest is their cross product.

    The thesis's descriptors on processors list all pairs, which it calls large and hard to handle (Yuan 1998, §7.2). This one is
    as large as its groups together, and is asked and compared as it is.

    Parameters
    ----------
    source, target : Grid
        The grids of the coordinates: those of the source come first.
    groups : tuple of (members, places)
        Numbers of coordinates, and the places at which these are together; each coordinate is in one group.
    everyone : bool
        Whether each source sends to all processors; then the groups have its coordinates alone.
    """

    source: Grid
    target: Grid
    groups: tuple[tuple[tuple[int, ...], frozenset[tuple[int, ...]]], ...]
    everyone: bool = False

    def __len__(self) -> int:
        """Number of pairs."""
        return prod(len(places) for _, places in self.groups) * (self.target.size if self.everyone else 1)

    def __contains__(self, pair: tuple[int, int]) -> bool:
        at = self.source.place(pair[0])
        if not self.everyone:
            at += self.target.place(pair[1])
        return all(tuple(at[one] for one in members) in places for members, places in self.groups)

    def covers(self, other: Product) -> bool:
        """Has it all pairs of another over the same grids? For others, False if that cannot be told without listing them."""
        if not len(other):
            return True
        if (self.source, self.target, self.everyone) != (other.source, other.target, other.everyone):
            return False
        return all(other.projected(members) <= places for members, places in self.groups)

    def projected(self, members: Sequence[int]) -> set[tuple[int, ...]]:
        """The places at which some coordinates are together, whatever the others are."""
        wanted = set(members)
        parts = [(sorted(wanted & set(own)), own, places) for own, places in self.groups if wanted & set(own)]
        order = [one for kept, _, _ in parts for one in kept]
        back = [order.index(one) for one in members]
        of_parts = ({tuple(at[own.index(one)] for one in kept) for at in places} for kept, own, places in parts)
        joined = (tuple(itertools.chain.from_iterable(chosen)) for chosen in itertools.product(*of_parts))
        return {tuple(at[one] for one in back) for at in joined}

    def pairs(self) -> Pairs:
        """All pairs, one by one."""
        cut = len(self.source.shape)
        everyone = range(self.target.size)
        places = _crossed(cut + (0 if self.everyone else len(self.target.shape)), self.groups)
        return frozenset(
            (self.source.number(place[:cut]), end)
            for place in places
            for end in (everyone if self.everyone else [self.target.number(place[cut:])])
        )


def listed(products: Iterable[Product]) -> Pairs:
    """The pairs of some patterns together; what another covers is not listed."""
    kept: list[Product] = []
    for one in products:
        if not any(other.covers(one) for other in kept):
            kept = [other for other in kept if not one.covers(other)] + [one]
    return frozenset().union(*(one.pairs() for one in kept))


def pattern(
    one: Descriptor, owners: Owners, distributions: tuple[Template, Template | None], scope: Scope | None = None
) -> Pairs:
    """Pairs of processors between which a descriptor sends, for all values of the indices around it; see `product_pattern`."""
    return product_pattern(one, owners, distributions, scope).pairs()


def product_pattern(
    one: Descriptor, owners: Owners, distributions: tuple[Template, Template | None], scope: Scope | None = None
) -> Product:
    """The same, as a product.

    Parameters
    ----------
    one : Descriptor
    owners : Owners
    distributions : tuple of Template and (Template or None)
        Of source and destination, as they are then; None: every processor.
    scope : Scope or None
        Ranges of the loops around it.
    """
    source, target = distributions
    ranges = [*(scope or ()), *one.bound]
    if one.qualifier is not None:
        ranges = [one.qualifier if range_.name == one.qualifier.name else range_ for range_ in ranges]
    grids = (source.on, source.on if target is None else target.on)
    template, start = owners.source(one)
    assert template == source.name
    coordinates = _coordinates(owners, source, start)
    if target is not None:
        coordinates += _coordinates(owners, target, one.destination)
    if any(range_.count == 0 for range_ in ranges):
        groups = [(tuple(range(len(coordinates))), frozenset[tuple[int, ...]]())]
    else:
        groups = _related(coordinates, ranges)
    return Product(*grids, tuple(groups), target is None)


def _coordinates(owners: Owners, template: Template, point: Sequence[Affine]) -> list[Coordinate]:
    at = dict(zip(owners.dimensions[template.name], point, strict=True))
    return [
        Coordinate(at[dimension], *axis) for dimension, axis in zip(template.distributed, template.axes(), strict=True)
    ]


Group = tuple[tuple[int, ...], frozenset[tuple[int, ...]]]


def _related(coordinates: Sequence[Coordinate], ranges: Sequence[Range]) -> list[Group]:
    """Places of the coordinates in groups that share variables, by processor; all places of all if some cannot be told."""
    known: dict[str, Values] = {}
    for one in ranges:
        values = _values(one, ranges)
        if values is not None:
            known[one.name] = values
    groups: list[Group] = []
    for members, names in _components(coordinates):
        parts = [coordinates[at] for at in members]
        places = _places(parts, {name: known[name] for name in names}) if names <= known.keys() else None
        if places is None:
            return [((at,), frozenset((k,) for k in range(one.processors))) for at, one in enumerate(coordinates)]
        groups.append((tuple(members), frozenset(places)))
    return groups


def _values(one: Range, ranges: Sequence[Range]) -> Values | None:
    """A range as numbers; a range over others' values is widened to all that it may take."""
    if one.low.known is not None:
        return Values(one.low.known, one.step, one.count if one.count is not None else _longest(one, ranges))
    scope = Scope(ranges)
    low, high = scope.least(one.least), scope.most(one.most)
    if low is None:
        return None
    return Values(low, 1, None if high is None else max(0, high - low + 1))


def _longest(one: Range, ranges: Sequence[Range]) -> int | None:
    most = Scope(ranges).most((one.high - one.low) * (1 if one.step > 0 else -1))
    return None if most is None else max(0, most // abs(one.step) + 1)


def _components(coordinates: Sequence[Coordinate]) -> list[tuple[list[int], set[str]]]:
    """Coordinates that share variables, together."""
    groups: list[tuple[list[int], set[str]]] = []
    for at, one in enumerate(coordinates):
        members, names = [at], set(one.value.names)
        for group in [group for group in groups if group[1] & names]:
            groups.remove(group)
            members += group[0]
            names |= group[1]
        groups.append((sorted(members), names))
    return groups


def _places(parts: Sequence[Coordinate], values: Mapping[str, Values]) -> set[tuple[int, ...]] | None:
    """Places of coordinates that share variables."""
    if not values:
        return {tuple(one.processor(one.value.constant) for one in parts)}
    if len(values) == 1:
        ((name, of_it),) = values.items()
        bare = [(one.value.factor(name), replace(one, value=Affine(one.value.constant))) for one in parts]
        return sequence_pattern(of_it, bare)
    period = 1
    for one in parts:
        period *= one.block * one.processors
    counts = {name: min(period, period if one.count is None else one.count) for name, one in values.items()}
    points = 1
    for count in counts.values():
        points *= count
    if points > MOST_POINTS:
        return None
    found = set()
    for numbers in itertools.product(*map(range, counts.values())):
        at = {name: values[name].first + n * values[name].step for name, n in zip(counts, numbers, strict=True)}
        found.add(tuple(one.processor(one.value.value(at)) for one in parts))
    return found


def _crossed(size: int, groups: Sequence[Group]) -> Iterator[tuple[int, ...]]:
    """The cross product of groups' places: the thesis's wild cards are the places that are not yet filled."""
    for chosen in itertools.product(*(places for _, places in groups)):
        place = [0] * size
        for (members, _), values in zip(groups, chosen, strict=True):
            for at, value in zip(members, values, strict=True):
                place[at] = value
        yield tuple(place)
