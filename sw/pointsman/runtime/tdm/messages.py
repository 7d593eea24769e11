"""The messages of a node on the switch: words into queues, words out of buffers, and messages that came before they were wanted.

Words between two ports come in the order in which they were sent. On a connection where that does not tell which operator
they belong to, a message begins with a mark (`pointsman.artifacts.tables.OperatorTable.marked`). A message with the mark of
another operator is put aside in the node's memory, so it keeps nobody waiting.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from pointsman.artifacts.tables import ConnectionTables
from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Attend, Category, Lane, Transfer
from tdm_switch.codes import Registers


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
        found = self.put_aside(operator, source)
        while found is None:
            mark, out = await self._read(source, 1, out)
            if int(mark[0]) == operator:
                return None, out
            out = await self._keep(source, int(mark[0]), out)
        return found, out

    async def from_anybody(self, operator: int, sources: Sequence[int], into: np.ndarray) -> None:
        """Read the next message of an operator from any of ``sources``; those that wait long have their turn."""
        order = sorted(sources, key=lambda node: (node <= self.last, node))
        while True:
            for source in order:
                found = self.put_aside(operator, source)
                if found is not None:
                    into[:] = found
                    self.last = source
                    return
            attend = Attend(full=[self.registers.buffer(source) for source in order], category=Category.READ)
            await attend
            full, _ = attend.calls
            source = next(node for node in order if self.registers.buffer(node) in full)
            if self.mark_comes(operator, source):
                mark, _ = await self._read(source, 1, ())
                if int(mark[0]) != operator:
                    await self._keep(source, int(mark[0]), ())
                    continue
            await Transfer(Lane(False, self.registers.buffer(source), len(into), into))
            self.last = source
            return

    async def _keep(self, source: int, operator: int, out: Sequence[Lane]) -> Sequence[Lane]:
        """Put a message of another operator aside. Gives what of ``out`` is left to be sent."""
        if operator >= len(self.lengths):
            raise PointsmanError(
                f"node {self.number} reads a message of operator {operator} from node {source}, and there are only "
                f"{len(self.lengths)}",
                hint="operators must be used in the order of the program at all nodes",
            )
        words, out = await self._read(source, self.lengths[operator], out)
        self.aside.setdefault((source, operator), deque()).append(words)
        return out

    async def _read(self, source: int, words: int, out: Sequence[Lane]) -> tuple[np.ndarray, Sequence[Lane]]:
        """Read words from ``source``, and send those of ``out`` meanwhile; gives what of them is left to be sent."""
        into = np.zeros(words, np.uint32)
        read = 0
        while True:
            lanes = [*out, Lane(False, self.registers.buffer(source), words - read, into[read:])]
            attend = Attend(Transfer(lanes), beside=range(len(lanes)))
            await attend
            *sent, got = attend.moved.tolist()
            out = [_rest(lane, count) for lane, count in zip(out, sent, strict=True) if count < lane.words]
            read += got
            if read == words:
                return into, out


def _rest(lane: Lane, moved: int) -> Lane:
    assert lane.data is not None
    return Lane(True, lane.registers, lane.words - moved, lane.data[moved : lane.words])
