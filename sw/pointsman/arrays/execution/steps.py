"""How the elements of a site travel: by broadcasts in groups of processors, shifts, permutations, or streams.

Takes all variants of a site; gives steps that carry every variant, each step one operator of COP with a length of message that is
known. The choice is the least estimated number of cycles.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pointsman.arrays.tree.mapping import Grid

from .sites import Key
from .transfers import Transfers

Pair = tuple[int, int]
Kind = Literal["cshift", "eoshift", "permute", "stream"]
MESSAGE = {"broadcast": 120, "exchange": 80, "stream": 60}
WORD = {"broadcast": 1.35, "exchange": 2.6, "stream": 1.7}
"""Cycles of a message and of a word, roughly, on the mesh of scheduled routers; only their order matters."""
MOST_LENGTHS = 24
"""Lengths of messages that are tried."""


@dataclass(frozen=True, eq=False)
class Broadcasts:
    """In each group of processors one after the other sends what it has for all others.

    ``sources``: for each variant and group the sources with the elements that each sends. ``fixed``: each group's only source,
    by its place in the group, if it is the same in all variants.
    """

    groups: tuple[tuple[int, ...], ...]
    items: int
    sources: Mapping[Key, tuple[tuple[tuple[int, np.ndarray], ...], ...]]
    fixed: tuple[int, ...] | None

    def uses(self, key: Key) -> int:
        """Messages of a group, the most of any."""
        return max((sum(messages(len(what), self.items) for _, what in of) for of in self.sources[key]), default=0)


@dataclass(frozen=True, eq=False)
class Exchange:
    """Processors send to a partner each: by a shift in lines of processors, a permutation of all, or a stream from each.

    ``partner`` is complete for all but ``eoshift`` and ``stream``. ``sent``: for each variant the elements of each pair.
    """

    kind: Kind
    groups: tuple[tuple[int, ...], ...]
    distance: int
    partner: Mapping[int, int]
    items: int
    sent: Mapping[Key, Transfers]

    def uses(self, key: Key) -> int:
        """Messages of a processor, the most of any."""
        return max((messages(len(what), self.items) for what in self.sent[key].values()), default=0)


Step = Broadcasts | Exchange


def messages(elements: int, items: int) -> int:
    """Messages for some elements."""
    return -(-elements // items)


def choose(variants: Mapping[Key, Transfers], grids: Sequence[Grid], words: int) -> tuple[Step, ...]:
    """Steps for a site.

    Parameters
    ----------
    variants : mapping
        What the site carries, by variant.
    grids : sequence of Grid
        Shapes of the processors, in whose lines shifts and broadcasts are looked for.
    words : int
        Words of an element.
    """
    ways: list[list[Step]] = [_exchanges(variants, grid, words) for grid in grids]
    for groups in dict.fromkeys(groups for grid in grids for groups in _partitions(grid)):
        found = _broadcasts(variants, groups, words)
        if found is not None:
            ways.append([found])
    costs = [_cost(steps, variants, words) for steps in ways]
    return tuple(ways[costs.index(min(costs))])


def _cost(steps: Sequence[Step], variants: Iterable[Key], words: int) -> float:
    return sum(price_of(step, step.items, step.uses(key), words) for key in variants for step in steps)


def price_of(step: Step, items: int, uses: int, words: int) -> float:
    """Cycles of some messages of a step, by the estimate."""
    kind = "broadcast" if isinstance(step, Broadcasts) else "stream" if step.kind == "stream" else "exchange"
    return uses * (MESSAGE[kind] + WORD[kind] * items * words)


def _length(kind: str, sizes: Sequence[Sequence[int]], words: int) -> int:
    """The best length of messages; ``sizes`` are, a variant, the elements of those that work at the same time."""
    found = sorted({size for of in sizes for size in of if size})
    if len(found) > MOST_LENGTHS:
        found = [found[round(at * (len(found) - 1) / (MOST_LENGTHS - 1))] for at in range(MOST_LENGTHS)]

    def cost(items: int) -> float:
        most = (max((messages(size, items) for size in of), default=0) for of in sizes)
        return sum(most) * (MESSAGE[kind] + WORD[kind] * items * words)

    return min({*found, int(np.gcd.reduce(found))}, key=lambda items: (cost(items), items))


# Broadcasts


def _partitions(grid: Grid) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Groups of processors that differ along some axes only: lines first, all of them last."""
    axes = [axis for axis, size in enumerate(grid.shape) if size > 1]
    for count in range(1, len(axes) + 1):
        for along in itertools.combinations(axes, count):
            yield _groups(grid, along)


def _groups(grid: Grid, along: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    numbers = np.arange(grid.size).reshape(grid.shape)
    others = [axis for axis in range(len(grid.shape)) if axis not in along]
    size = int(np.prod([grid.shape[axis] for axis in along]))
    return tuple(tuple(map(int, row)) for row in numbers.transpose([*others, *along]).reshape(-1, size))


def _broadcasts(
    variants: Mapping[Key, Transfers], groups: tuple[tuple[int, ...], ...], words: int
) -> Broadcasts | None:
    """Each source's elements to all of its group; None if an element has to leave its source's group."""
    group_of = {node: number for number, group in enumerate(groups) for node in group}
    found: dict[Key, tuple[tuple[tuple[int, np.ndarray], ...], ...]] = {}
    for key, transfers in variants.items():
        union: dict[int, list[np.ndarray]] = {}
        for (source, end), what in transfers.items():
            if group_of[source] != group_of[end]:
                return None
            union.setdefault(source, []).append(what)
        of_group: list[list[tuple[int, np.ndarray]]] = [[] for _ in groups]
        for source, parts in sorted(union.items()):
            of_group[group_of[source]].append((source, np.unique(np.concatenate(parts))))
        found[key] = tuple(map(tuple, of_group))
    # Sources of a group send one after the other, so what counts is their sum: each source alone decides the length.
    sizes = [[len(what)] for of_key in found.values() for of in of_key for _, what in of]
    if not sizes:
        return None
    items = _length("broadcast", sizes, words)
    fixed: list[int] = []
    for number, group in enumerate(groups):
        sources = {source for of_key in found.values() for source, _ in of_key[number]}
        if len(sources) > 1:
            return Broadcasts(groups, items, found, None)
        fixed.append(group.index(min(sources, default=group[0])))
    return Broadcasts(groups, items, found, tuple(fixed))


# Exchanges


def _exchanges(variants: Mapping[Key, Transfers], grid: Grid, words: int) -> list[Step]:
    pairs = sorted({pair for transfers in variants.values() for pair in transfers})
    by_distance: dict[object, list[Pair]] = {}
    for pair in pairs:
        by_distance.setdefault(_distance(grid, pair), []).append(pair)
    classes = min([list(by_distance.values()), _coloured(pairs)], key=len)
    return [_exchange(one, variants, grid, words) for one in classes]


def _place(grid: Grid, number: int) -> tuple[int, ...]:
    return tuple(map(int, np.unravel_index(number, grid.shape)))


def _distance(grid: Grid, pair: Pair) -> tuple[int, ...]:
    start, end = (_place(grid, one) for one in pair)
    return tuple((b - a) % size for a, b, size in zip(start, end, grid.shape, strict=True))


def _coloured(pairs: Sequence[Pair]) -> list[list[Pair]]:
    """Pairs in classes, in each of which a processor sends once at most and gets once at most: first fit."""
    classes: list[list[Pair]] = []
    senders: list[set[int]] = []
    getters: list[set[int]] = []
    for source, end in pairs:
        for at in range(len(classes)):
            if source not in senders[at] and end not in getters[at]:
                break
        else:
            at = len(classes)
            classes.append([])
            senders.append(set())
            getters.append(set())
        classes[at].append((source, end))
        senders[at].add(source)
        getters[at].add(end)
    return classes


def _exchange(pairs: Sequence[Pair], variants: Mapping[Key, Transfers], grid: Grid, words: int) -> Exchange:
    wanted = set(pairs)
    sent = {key: {pair: what for pair, what in of.items() if pair in wanted} for key, of in variants.items()}
    sizes = [[len(what) for what in of.values()] for of in sent.values()]
    made: Callable[[str], int] = lambda kind: _length(kind, sizes, words)  # noqa: E731
    everyone = (tuple(range(grid.size)),)
    if not {source for source, _ in pairs} & {end for _, end in pairs}:
        # Nobody sends and gets at once, so no circle of processors waits for itself.
        return Exchange("stream", everyone, 0, dict(pairs), made("stream"), sent)
    shift = _as_shift(pairs, grid)
    if shift is not None:
        kind, groups, distance = shift
        return Exchange(kind, groups, distance, dict(pairs), made("exchange"), sent)
    return Exchange("permute", everyone, 0, _completed(pairs, grid.size), made("exchange"), sent)


def _as_shift(pairs: Sequence[Pair], grid: Grid) -> tuple[Kind, tuple[tuple[int, ...], ...], int] | None:
    """Pairs as a shift in lines along an axis: without the ends if none goes around them."""
    distances = {_distance(grid, pair) for pair in pairs}
    if len(distances) > 1:
        return None
    along = [axis for axis, step in enumerate(next(iter(distances))) if step]
    if len(along) != 1:
        return None
    (axis,) = along
    groups = _groups(grid, along)
    straight = {_place(grid, end)[axis] - _place(grid, start)[axis] for start, end in pairs}
    if len(straight) == 1:
        return "eoshift", groups, straight.pop()
    return "cshift", groups, next(iter(distances))[axis]


def _completed(pairs: Sequence[Pair], size: int) -> dict[int, int]:
    """A permutation with some pairs: the end of each chain sends to its beginning, everyone else to itself."""
    partner = dict(pairs)
    heads = set(partner) - set(partner.values())
    for head in heads:
        last = head
        while last in partner:
            last = partner[last]
        partner[last] = head
    return {node: partner.get(node, node) for node in range(size)}
