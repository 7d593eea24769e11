"""The elements that a message carries between each two processors, when it takes place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.arrays.analysis.communications import Message, Owners
from pointsman.arrays.analysis.descriptors import Descriptor
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.tree.affine import Affine, Range

from .homes import Distributed, Homes, processors_of

Transfers = dict[tuple[int, int], np.ndarray]
"""By source and destination, which differ: the numbers of the elements that go, ascending and each once."""
MOST_POINTS = 1 << 26
"""Points of a descriptor that are enumerated at most."""


def message_transfers(
    homes: Homes, owners: Owners, message: Message, values: Mapping[str, int], state: Distributed
) -> Transfers:
    """What a message carries at some values of the loop indices around it.

    A processor that is named as its own destination is left out. So are elements outside of the bounds of their array: they were
    never read, an IF sees to it.
    """
    found: list[np.ndarray] = []
    for one in message:
        found += _keys(homes, owners, one, values, state)
    return _by_pair(homes, found)


def redistribution_transfers(homes: Homes, template: str, old: Distributed, new: Distributed) -> Transfers:
    """The elements whose processor is another when a template gets another distribution."""
    found = []
    for name, array in homes.program.arrays.items():
        if array.template == template:
            before, after = homes.owners(name, old), homes.owners(name, new)
            assert before is not None
            assert after is not None
            moving = np.flatnonzero(before != after)
            found.append(_key(homes, before[moving], after[moving], moving + homes.start[name]))
    return _by_pair(homes, found)


def _key(homes: Homes, source: np.ndarray, end: np.ndarray, element: np.ndarray) -> np.ndarray:
    return (source.astype(np.int64) * homes.program.grid.size + end) * homes.size + element


def _by_pair(homes: Homes, keys: Sequence[np.ndarray]) -> Transfers:
    if not keys:
        return {}
    every = np.unique(np.concatenate(keys))
    pairs, elements = np.divmod(every, homes.size)
    cuts = np.flatnonzero(np.diff(pairs)) + 1
    found = {}
    for part, first in zip(np.split(elements, cuts), pairs[np.r_[0, cuts]] if len(pairs) else (), strict=False):
        source, end = divmod(int(first), homes.program.grid.size)
        found[source, end] = part
    return found


def _keys(
    homes: Homes, owners: Owners, one: Descriptor, values: Mapping[str, int], state: Distributed
) -> list[np.ndarray]:
    if one.qualifier is not None and values[one.qualifier.name] not in one.qualifier.values(values):
        return []
    points = expanded(one.bound, values)
    count = len(next(iter(points.values()))) if points else 1
    at = {**values, **points}
    array = homes.program.arrays[one.array]
    element = np.zeros(count, np.int64)
    inside = np.ones(count, bool)
    for value, (low, high) in zip(one.region, array.bounds, strict=True):
        subscript = _value(value, at)
        inside &= (subscript >= low) & (subscript <= high)
        element = element * (high - low + 1) + (subscript - low)
    whose = homes.owners(one.array, state)
    assert whose is not None
    element = element[inside]
    source = whose[element]
    number = element + homes.start[one.array]
    size = homes.program.grid.size
    if one.template is None:
        ends = [np.full(len(element), end) for end in range(size)]
    else:
        dimensions = owners.dimensions[one.template]
        place = {
            dimension: (_value(value, at) + np.zeros(count, np.int64))[inside]
            for dimension, value in zip(dimensions, one.destination, strict=True)
        }
        ends = [processors_of(homes.template(one.template, state), place, (len(element),))]
    found = []
    for end in ends:
        away = end != source
        found.append(_key(homes, source[away], end[away], number[away]))
    return found


def _value(value: Affine, at: Mapping[str, Any]) -> Any:
    return value.constant + sum(factor * at[name] for name, factor in value.terms)


def expanded(ranges: Sequence[Range], values: Mapping[str, int]) -> dict[str, np.ndarray]:
    """Every combination of the values of ranges, as an array for each name; later ranges may use the names of earlier ones.

    Raises
    ------
    ArrayProgramError
        If there are more than `MOST_POINTS`.

    >>> expanded([Range("i", Affine(1), Affine(2)), Range("j", Affine(1), Affine.of("i"))], {})
    {'i': array([1, 2, 2]), 'j': array([1, 1, 2])}
    """
    found: dict[str, np.ndarray] = {}
    count = 1
    for one in ranges:
        at = {**values, **found}
        low = np.broadcast_to(_value(one.low, at), (count,))
        high = np.broadcast_to(_value(one.high, at), (count,))
        counts = np.maximum((high - low) // one.step + 1, 0)
        total = int(counts.sum())
        if total > MOST_POINTS:
            raise ArrayProgramError(
                f"a communication over {', '.join(r.name for r in ranges)} has more than {MOST_POINTS} points"
            )
        again = np.repeat(np.arange(count), counts)
        number = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
        found = {name: known[again] for name, known in found.items()}
        found[one.name] = low[again] + number * one.step
        count = total
    return found
