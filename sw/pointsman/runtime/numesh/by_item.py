"""A call of a combining operator, item by item (`pointsman.artifacts.images.images.Role.by_item`).

A processor that combines a message and passes it on sends the first item before the last has come. A message of m items through
k processors then takes time proportional to m + k, not m · k.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.artifacts.images.images import Combination, LaneImage, before_each
from pointsman.runtime.api.combine import Combiner
from pointsman.runtime.api.folds import Fold, foldable
from pointsman.runtime.api.requests import Attend, Lane, Transfer
from pointsman.runtime.api.substrate import Combine


def move_by_item(
    lanes: Sequence[LaneImage],
    combines: Sequence[Combination],
    messages: Mapping[str, np.ndarray],
    m: int,
    combine: Combine | None,
    item: int,
) -> Generator[Any, Any, None]:
    """Move messages of ``m`` words through the lanes, items of ``item`` words one after the other.

    Each item passes the lanes of its half, and the combinations, in their order. The processor makes one access a cycle; of all
    possible accesses it makes that of the last lane in this order, because other nodes may wait for its words.

    Parameters
    ----------
    messages : mapping of str to array
        Every message that a lane or combination names, each of m words.
    """
    before = [[one for one in combines if one.step == k] for k in range(len(lanes) + 1)]
    if isinstance(combine, Combiner) and foldable(combine.function, combine.dtype):
        yield _in_one(lanes, before, messages, m, combine, item)
    else:
        yield from _in_pieces(lanes, before, messages, m, combine, item)


def _in_one(
    lanes: Sequence[LaneImage],
    before: Sequence[Sequence[Combination]],
    messages: Mapping[str, np.ndarray],
    m: int,
    combine: Combiner,
    item: int,
) -> Transfer:
    """A single request, which takes the combinations with it."""

    def fold(one: Combination, first: int, end: int) -> Fold:
        left, result = messages[one.left][first:end], messages[one.result][first:end]
        right = messages[one.right][first:end] if one.right else None
        function = combine.function if one.right else None
        return Fold(function, combine.dtype, left, right, result)

    for one in before[0]:
        fold(one, 0, m).apply(0, m)
    last = len(lanes) - 1
    moves = []
    for k, earlier in reversed(list(enumerate(before_each(lanes)))):
        lane = lanes[k]
        first, end = lane.span(m)
        data = None if lane.data == "token" else messages[lane.data][first:end]
        folds = [fold(one, first, end) for one in before[k + 1]]
        after = None if earlier is None else last - earlier
        moves.append(Lane(lane.write, lane.registers, end - first, data, after=after).in_items(item, folds))
    return Transfer(moves)


def _in_pieces(
    lanes: Sequence[LaneImage],
    before: Sequence[Sequence[Combination]],
    messages: Mapping[str, np.ndarray],
    m: int,
    combine: Combine | None,
    item: int,
) -> Generator[Any, Any, None]:
    """A request an item, for functions that only Python can call."""
    moved = [0] * len(lanes)
    spans = [lane.span(m) for lane in lanes]
    earlier = before_each(lanes)

    def combined(k: int, first: int, end: int) -> None:
        for one in before[k]:
            left, result = messages[one.left][first:end], messages[one.result][first:end]
            if one.right:
                assert combine is not None
                combine(left, messages[one.right][first:end], result)
            else:
                result[:] = left

    combined(0, 0, m)
    while any(count < end - first for count, (first, end) in zip(moved, spans, strict=True)):
        numbers: list[int] = []
        pieces: list[Lane] = []
        for k in reversed(range(len(lanes))):
            lane, (at, behind), before_it = lanes[k], spans[k], earlier[k]
            begin = moved[k]
            end = behind - at if before_it is None else moved[before_it] - moved[before_it] % item
            if k in earlier or before[k + 1]:
                end = min(end, begin - begin % item + item)  # each item is waited for, here or at another node
            if begin < end:
                turn = begin % len(lane.registers)
                registers = lane.registers[turn:] + lane.registers[:turn]
                data = None if lane.data == "token" else messages[lane.data][at + begin : at + end]
                pieces.append(Lane(lane.write, registers, end - begin, data))
                numbers.append(k)
        request = Attend(Transfer(pieces), beside=range(len(pieces)))
        yield request
        for k, count in zip(numbers, request.moved.tolist(), strict=True):
            done = moved[k] - moved[k] % item
            moved[k] += count
            at = spans[k][0]
            combined(k + 1, at + done, at + moved[k] - moved[k] % item)
