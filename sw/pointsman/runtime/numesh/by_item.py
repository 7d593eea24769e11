"""A call of a combining operator, item by item (`pointsman.artifacts.images.images.Role.by_item`).

A processor that combines a message and passes it on sends the first item before the last has come. A message of m items through
k processors then takes time proportional to m + k, not m · k.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.artifacts.images.images import Combination, LaneImage, before_each
from pointsman.runtime.api.combine import Combiner
from pointsman.runtime.api.folds import Fold, foldable
from pointsman.runtime.api.requests import Attend, Lane, Request, Transfer
from pointsman.runtime.api.substrate import Combine


class ByItem:
    """Calls of a combining operator at a node, which move messages of ``m`` words, items of ``item`` words one after the other.

    Each item passes the lanes of its half, and the combinations, in their order. The processor makes one access a cycle; of all
    possible accesses it makes that of the last lane in this order, because other nodes may wait for its words. What all calls
    have in common is found out once.
    """

    def __init__(
        self,
        lanes: Sequence[LaneImage],
        combines: Sequence[Combination],
        m: int,
        combine: Combine | None,
        item: int,
    ) -> None:
        self.lanes, self.m, self.combine, self.item = lanes, m, combine, item
        self._before = [[one for one in combines if one.step == k] for k in range(len(lanes) + 1)]
        self._in_one: _InOne | None = None
        if isinstance(combine, Combiner) and foldable(combine.function, combine.dtype):
            self._in_one = _InOne(lanes, self._before, m, combine, item)

    def requests(self, messages: Mapping[str, np.ndarray]) -> Iterable[Request]:
        """What a call asks for, one request after the other.

        Parameters
        ----------
        messages : mapping of str to array
            Every message that a lane or combination names, each of m words of uint32.
        """
        if self._in_one is not None:
            return (self._in_one.request(messages),)
        return _in_pieces(self.lanes, self._before, messages, self.m, self.combine, self.item)


class _InOne:
    """A single request a call, which takes the combinations with it."""

    def __init__(
        self,
        lanes: Sequence[LaneImage],
        before: Sequence[Sequence[Combination]],
        m: int,
        combine: Combiner,
        item: int,
    ) -> None:
        self._m = m
        self._pieces: dict[tuple[str, int, int], int] = {}
        """Numbers of pieces of messages, each named by its message, its first word and that behind the last."""

        def piece(name: str, first: int, end: int) -> int:
            return self._pieces.setdefault((name, first, end), len(self._pieces))

        def fold(one: Combination, first: int, end: int) -> tuple[Fold, int, int, int]:
            nothing = np.zeros(end - first, np.uint32)
            kind = Fold(combine.function if one.right else None, combine.dtype, nothing, nothing, nothing)
            left, right, result = (piece(name, first, end) for name in (one.left, one.right or one.left, one.result))
            return kind, left, right, result

        self._first = [fold(one, 0, m) for one in before[0]]
        last = len(lanes) - 1
        moves: list[Lane] = []
        self._moved: list[tuple[int | None, list[tuple[Fold, int, int, int]]]] = []
        """By lane of the request, the piece that it moves, and what is combined as it does."""
        for k, earlier in reversed(list(enumerate(before_each(lanes)))):
            lane = lanes[k]
            first, end = lane.span(m)
            after = None if earlier is None else last - earlier
            moves.append(Lane(lane.write, lane.registers, end - first, after=after).in_items(item))
            data = None if lane.data == "token" else piece(lane.data, first, end)
            self._moved.append((data, [fold(one, first, end) for one in before[k + 1]]))
        self._transfer = Transfer(moves)

    def request(self, messages: Mapping[str, np.ndarray]) -> Transfer:
        pieces = [messages[name][first:end] for name, first, end in self._pieces]
        for kind, left, right, to in self._first:
            kind.of(pieces[left], pieces[right], pieces[to]).apply(0, self._m)
        return self._transfer.of(
            [
                (
                    None if data is None else pieces[data],
                    tuple([kind.of(pieces[left], pieces[right], pieces[to]) for kind, left, right, to in folds]),
                )
                for data, folds in self._moved
            ]
        )


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
