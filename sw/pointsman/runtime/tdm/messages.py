"""The messages of a node on the switch: words into queues, words out of buffers, and messages that came before they were wanted.

Words between two ports come in the order in which they were sent. On a connection where that does not tell which operator
they belong to, a message begins with a mark (`pointsman.artifacts.tables.OperatorTable.marked`). A message with the mark of
another operator is put aside in the node's memory, so it keeps nobody waiting. Its words may come late, as whoever passes a
message on sends the mark before it has the words: a reader who reads from anybody goes on listening to the others meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pointsman.artifacts.tables import ConnectionTables
from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Attend, Category, Lane, Transfer
from tdm_switch.codes import Registers


@dataclass
class _Begun:
    """A message of an operator that is being put aside: its words, and how many of them have come."""

    operator: int
    words: np.ndarray
    read: int = 0


class Messages:
    """What a node sends and receives. An operator is given by its number in the tables."""

    def __init__(self, tables: ConnectionTables, number: int) -> None:
        self.number = number
        self.registers = Registers(tables.shape)
        self.lengths = [1 if one.operator.kind == "barrier" else one.operator.m for one in tables.operators]
        """Words of a message of each operator, without the mark."""
        self.marked = tables.marked
        self.aside: dict[tuple[int, int], deque[np.ndarray]] = {}
        """Messages that came too early, by source and operator, oldest first."""
        self.begun: dict[int, _Begun] = {}
        """Messages that came too early and are not there as a whole, by source. All messages on such a connection are marked."""
        self.last = 0
        """Node from which a message was read last by a reader who reads from anybody."""

    def outgoing(self, operator: int, to: int, words: np.ndarray, *, after: int | None = None) -> list[Lane]:
        """Lanes that send ``words``, as lane ``after`` of the same transfer reads them."""
        register = self.registers.queue(to)
        lanes = [Lane(True, register, len(words), words, after=after)]
        if (self.number, to) in self.marked[operator]:
            # The mark goes first, because of lanes that are ready the first comes first, and both have the same register.
            lanes.insert(0, Lane(True, register, 1, np.array([operator], np.uint32)))
        return lanes

    def mark_comes(self, operator: int, source: int) -> bool:
        """Do messages of an operator from ``source`` begin with a mark?"""
        return (source, self.number) in self.marked[operator]

    def put_aside(self, operator: int, source: int) -> np.ndarray | None:
        """The oldest message that was put aside for an operator; None if there is none."""
        found = self.aside.get((source, operator))
        return found.popleft() if found else None

    async def wait_for(
        self, operator: int, source: int, out: Sequence[Lane]
    ) -> tuple[np.ndarray | None, Sequence[Lane]]:
        """Wait until the next message of an operator from ``source`` begins, and send the words of ``out`` meanwhile.

        Gives the message if it was put aside, None if its words are the next in the buffer; and what is left to be sent.
        """
        mark = np.zeros(1, np.uint32)
        while True:
            found = self.put_aside(operator, source)
            if found is not None:
                return found, out
            if source in self.begun:
                out = await self._finish(source, out)
                continue
            out = await self._read(source, mark, out)
            if int(mark[0]) == operator:
                return None, out
            self._begin(source, int(mark[0]))

    async def from_anybody(self, operator: int, sources: Sequence[int], into: np.ndarray) -> None:
        """Read the next message of an operator from any of ``sources``; those that wait long have their turn."""
        order = sorted(sources, key=lambda node: (node <= self.last, node))
        mark = np.zeros(1, np.uint32)
        while True:
            for source in order:
                found = self.put_aside(operator, source)
                if found is not None:
                    into[:] = found
                    self.last = source
                    return
            heard = await self._heard(order)
            if heard is None:
                continue
            source = heard
            if self.mark_comes(operator, source):
                await self._read(source, mark, ())
                if int(mark[0]) != operator:
                    self._begin(source, int(mark[0]))
                    continue
            await Transfer(Lane(False, self.registers.buffer(source), len(into), into))
            self.last = source
            return

    async def _heard(self, sources: Sequence[int]) -> int | None:
        """Wait for the first of ``sources`` from which a message begins, and go on with those that have begun.

        None: one of these is there as a whole and has been put aside. It must not be waited for alone: its words may come by way
        of a node that waits for this one to take another message.
        """
        buffer = self.registers.buffer
        begun = [(source, self.begun[source]) for source in sources if source in self.begun]
        lanes = [Lane(False, buffer(source), len(one.words) - one.read, one.words[one.read :]) for source, one in begun]
        attend = Attend(
            Transfer(lanes, Category.READ) if lanes else None,
            full=[buffer(source) for source in sources if source not in self.begun],
            category=Category.READ,
            beside=range(len(lanes)),
        )
        await attend
        for (source, one), moved in zip(begun, attend.moved.tolist(), strict=True):
            one.read += moved
            if one.read == len(one.words):
                self._keep(source)
        full, _ = attend.calls
        return next((source for source in sources if source not in self.begun and buffer(source) in full), None)

    def _begin(self, source: int, operator: int) -> None:
        """A message of another operator comes from ``source``: its mark has been read."""
        if operator >= len(self.lengths):
            raise PointsmanError(
                f"node {self.number} reads a message of operator {operator} from node {source}, and there are only "
                f"{len(self.lengths)}",
                hint="operators must be used in the order of the program at all nodes",
            )
        self.begun[source] = _Begun(operator, np.zeros(self.lengths[operator], np.uint32))

    async def _finish(self, source: int, out: Sequence[Lane]) -> Sequence[Lane]:
        """Read the rest of a message that has begun, and put it aside. Gives what of ``out`` is left to be sent."""
        one = self.begun[source]
        out = await self._read(source, one.words[one.read :], out)
        self._keep(source)
        return out

    def _keep(self, source: int) -> None:
        """Put a message aside that is there as a whole."""
        one = self.begun.pop(source)
        self.aside.setdefault((source, one.operator), deque()).append(one.words)

    async def _read(self, source: int, into: np.ndarray, out: Sequence[Lane]) -> Sequence[Lane]:
        """Fill ``into`` from ``source``, and send those of ``out`` meanwhile. Gives what of them is left to be sent."""
        words, read = len(into), 0
        while read < words:
            lanes = [*out, Lane(False, self.registers.buffer(source), words - read, into[read:])]
            attend = Attend(Transfer(lanes), beside=range(len(lanes)))
            await attend
            *sent, got = attend.moved.tolist()
            out = [_rest(lane, count) for lane, count in zip(out, sent, strict=True) if count < lane.words]
            read += got
        return out


def _rest(lane: Lane, moved: int) -> Lane:
    assert lane.data is not None
    return Lane(True, lane.registers, lane.words - moved, lane.data[moved : lane.words])
