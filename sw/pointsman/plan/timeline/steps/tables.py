"""Tables of the steps of all processors, for ``kernel.play``: moves along lanes, rewritten annotations, weights, and chunks of
steps, each written once and used again wherever it comes.

A step is (kind, operand, operand) for ``timeline.kernel``; a chunk is a sequence of steps that several nodes and visits may
share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np

from pointsman.artifacts.images.images import LaneImage

from .. import kernel as k
from ..board import Row
from .processor_state import ProcessorState
from .together import Step, joined


class StepTables:
    """Steps of all nodes.

    Parameters
    ----------
    most_lanes : int
        Lanes of a move, at least, for which the kernel has room.
    by_operator : bool
        Do cycles count for what ``count`` says? Else for the phases that steps name.
    """

    def __init__(self, most_lanes: int, *, by_operator: bool = False) -> None:
        self.most_lanes, self.by_operator = most_lanes, by_operator
        self.weights: list[float] = []
        self.kept: dict[object, list[Step]] = {}
        """Steps that have been made, by what they are for."""
        self._lanes: list[tuple[int, ...]] = []
        self._turns: list[int] = []
        self._settings: list[tuple[int, ...]] = []
        self._chunks: dict[tuple[Step, ...], int] = {}

    def move(self, lanes: Sequence[LaneImage], words: int, base: int = 0, item: int = 1) -> list[Step]:
        """Move along ``lanes``, whose registers count from ``base`` on the board; words of an item wait for a whole one."""
        if not lanes:
            return []
        first = len(self._lanes)
        for lane in lanes:
            self._lanes.append(
                (
                    int(lane.write),
                    lane.count(words),
                    -1 if lane.after is None else lane.after,
                    0 if lane.after_all else item,
                    -1 if lane.pair is None else lane.pair,
                    lane.window or 0,
                    len(self._turns),
                    len(lane.registers),
                )
            )
            self._turns += [base + register for register in lane.registers]
        self.most_lanes = max(self.most_lanes, len(lanes))
        return [(k.MOVE, first, len(self._lanes))]

    def together(self, calls: Sequence[Sequence[Step]]) -> list[Step]:
        """Steps of calls that are carried out together."""
        key = ("joined", *(tuple(steps) for steps in calls))
        if key not in self.kept:
            self.kept[key] = joined(calls, self._lanes)
            moves = (step for step in self.kept[key] if step[0] == k.MOVE)
            self.most_lanes = max(self.most_lanes, *(end - first for _, first, end in moves), 0)
        return self.kept[key]

    def rewrite(self, changed: Mapping[int, Row], how: int = k.SET) -> list[Step]:
        """Give VFSMs other rows: at once, or when the command words before have been taken (``k.LATER``)."""
        if not changed:
            return []
        first = len(self._settings)
        self._settings += [(vfsm, *row) for vfsm, row in changed.items()]
        return [(how, first, len(self._settings))]

    def weigh(self, way: ProcessorState, weight: float) -> list[Step]:
        """Let the cycles of later steps count ``weight`` times; nothing if they do already."""
        if way.weight == weight:
            return []
        way.weight = weight
        return [(k.WEIGH, self._weight(weight), 0)]

    def _weight(self, weight: float) -> int:
        if weight not in self.weights:
            self.weights.append(weight)
        return self.weights.index(weight)

    def passed(self, calls: int, played: int) -> list[Step]:
        """Steps after calls of which only some were played: what must not begin before some cycle can begin as much sooner as
        the others take."""
        return [(k.PASS, self._weight((calls - 1) / (played - 1)), 0)] if calls > played > 1 else []

    def add(self, way: ProcessorState, steps: Sequence[Step]) -> None:
        """Append steps to those of a node."""
        if self.by_operator:
            steps = [step for step in steps if step[0] != k.COUNT]
        kept = tuple([step for step in steps if step[1] or step[0] != k.WAIT])
        if kept:
            way.chunks.append(self._chunks.setdefault(kept, len(self._chunks)))

    def count(self, way: ProcessorState, where: int) -> None:
        """Let the cycles of a node's later steps count for an index of ``kernel.play``'s phases."""
        way.chunks.append(self._chunks.setdefault(((k.COUNT, where, 0),), len(self._chunks)))

    def table(self, ways: Sequence[ProcessorState]) -> k.StepTable:
        """What the kernel plays: the steps of all nodes."""
        first_step = np.zeros(len(self._chunks) + 1, np.int64)
        np.cumsum([len(chunk) for chunk in self._chunks], out=first_step[1:])
        first_chunk = np.zeros(len(ways) + 1, np.int64)
        np.cumsum([len(way.chunks) for way in ways], out=first_chunk[1:])
        return k.StepTable(
            _table((way.chunks for way in ways), 1)[:, 0],
            first_chunk,
            _table(chain.from_iterable(self._chunks), 3),
            first_step,
            _table(self._lanes, 8),
            np.array(self._turns, np.int64),
            _table(self._settings, 7),
            np.array(self.weights or [1.0]),
        )


def _table(rows: Iterable[Iterable[int]], columns: int) -> np.ndarray:
    """Numbers in rows of ``columns``."""
    return np.fromiter(chain.from_iterable(rows), np.int64).reshape(-1, columns)
