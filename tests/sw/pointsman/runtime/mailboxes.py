"""Processors of packet nodes without routers: words that are sent are in the queue of their address at once.

Carries out `Transfer`, `Attend` and `Wait` by their meaning, a word of some lane at a time; which node goes first is random. As
in the network, an address belongs to one message until its last word has come, and its queue may have little room.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Coroutine, Sequence
from random import Random
from typing import Any

from packet_router.header import ADDRESS
from packet_router.node import LAST, WORD
from packet_router.shape import RouterShape
from pointsman.runtime.api.requests import Attend, Request, Transfer, Wait


class StuckError(Exception):
    """No node can go on."""


class Mailboxes:
    """All processors, run to their ends; ``time`` is 0 for ever."""

    time = 0

    def __init__(self, shape: RouterShape, seed: int = 0, *, room: int = 1 << 30) -> None:
        self.shape = shape
        self.room = room
        """Words that each queue holds."""
        self.owner: dict[tuple[int, int], int] = {}
        """By node and address: the sender of the message that is coming there."""
        self.random = Random(seed)
        self.places = {shape.pack(shape.place(node)): node for node in range(shape.nodes)}
        self.queues: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        self.outgoing: list[tuple[int, int] | None] = [None] * shape.nodes
        """Node and address of the message that each node is sending."""

    def run(self, programs: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        results: list[Any] = [None] * len(programs)
        waiting: dict[int, tuple[Request, list[int]]] = {}
        live = dict(enumerate(programs))

        def resume(node: int) -> None:
            try:
                request = live[node].send(None)
            except StopIteration as stop:
                results[node] = stop.value
                del live[node]
                return
            if isinstance(request, Wait):
                waiting[node] = (request, [request.cycles])
                return
            assert isinstance(request, Transfer | Attend)
            done = request.moved.tolist() if isinstance(request, Attend) else [0] * len(request.lanes)
            waiting[node] = (request, done)

        for node in list(live):
            resume(node)
        while live:
            moved = False
            for node in self.random.sample(sorted(live), len(live)):
                transfer, done = waiting[node]
                if isinstance(transfer, Wait):
                    done[0] -= self.random.randrange(1, 50)
                    moved = True
                    if done[0] <= 0:
                        resume(node)
                    continue
                assert isinstance(transfer, Transfer | Attend)
                while not self._done(transfer, done) and self._move(node, transfer, done):
                    moved = True
                if self._done(transfer, done):
                    resume(node)
                    moved = True
            if not moved:
                for program in live.values():
                    program.close()
                raise StuckError(f"nodes {sorted(live)} wait")
        left = {key: len(queue) for key, queue in self.queues.items() if queue}
        assert not left, f"words are left over: {left}"
        return results

    @staticmethod
    def _done(request: Transfer | Attend, done: list[int]) -> bool:
        if isinstance(request, Attend):
            request.moved[:] = done
            return request.done
        return all(count == lane.words for count, lane in zip(done, request.lanes, strict=True))

    def _move(self, node: int, transfer: Transfer | Attend, done: list[int]) -> bool:
        closed = False
        for number, lane in enumerate(transfer.lanes):
            word = done[number]
            if word == lane.words:
                continue
            if lane.after is not None:
                other = transfer.lanes[lane.after]
                if done[lane.after] < other.words if lane.after_all else done[lane.after] <= word:
                    continue
            register = lane.registers[word % len(lane.registers)]
            assert lane.data is not None
            if lane.write:
                if closed or not self._send(node, register, int(lane.data[word])):
                    closed = True  # no word overtakes another
                    continue
            else:
                queue = self.queues[node, register]
                if not queue:
                    continue
                lane.data[word] = queue.popleft()
            done[number] += 1
            return True
        return False

    def _send(self, node: int, register: int, word: int) -> bool:
        """Put a word of a message where it goes; False: there is no room now."""
        assert register in (WORD, LAST)
        to = self.outgoing[node]
        if to is None:
            address = word >> ADDRESS & self.shape.addresses - 1
            assert address
            to = self.places[word & 0xFFF], address
        if self.owner.get(to, node) != node or len(self.queues[to]) >= self.room:
            return False
        self.owner[to] = node
        self.outgoing[node] = to
        self.queues[to].append(word)
        if register == LAST:
            del self.owner[to]
            self.outgoing[node] = None
        return True
