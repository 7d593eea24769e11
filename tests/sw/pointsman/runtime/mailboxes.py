"""Processors of packet nodes without routers: words that are sent are in the queue of their address at once.

Carries out `Transfer` requests by their meaning, a word of some lane at a time; which node goes first is random.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Coroutine, Sequence
from random import Random
from typing import Any

from packet_router.header import ADDRESS
from packet_router.node import LAST, WORD
from packet_router.shape import RouterShape
from pointsman.runtime import Transfer


class StuckError(Exception):
    """No node can go on."""


class Mailboxes:
    """All processors, run to their ends; ``time`` is 0 for ever."""

    time = 0

    def __init__(self, shape: RouterShape, seed: int = 0) -> None:
        self.shape = shape
        self.random = Random(seed)
        self.places = {shape.pack(shape.place(node)): node for node in range(shape.nodes)}
        self.queues: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        self.outgoing: list[list[int]] = [[] for _ in range(shape.nodes)]

    def run(self, programs: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
        results: list[Any] = [None] * len(programs)
        waiting: dict[int, tuple[Transfer, list[int]]] = {}
        live = dict(enumerate(programs))

        def resume(node: int) -> None:
            try:
                request = live[node].send(None)
            except StopIteration as stop:
                results[node] = stop.value
                del live[node]
                return
            assert isinstance(request, Transfer)
            waiting[node] = (request, [0] * len(request.lanes))

        for node in list(live):
            resume(node)
        while live:
            moved = False
            for node in self.random.sample(sorted(live), len(live)):
                transfer, done = waiting[node]
                while self._move(node, transfer, done):
                    moved = True
                if all(count == lane.words for count, lane in zip(done, transfer.lanes, strict=True)):
                    resume(node)
                    moved = True
            if not moved:
                for program in live.values():
                    program.close()
                raise StuckError(f"nodes {sorted(live)} wait")
        left = {key: len(queue) for key, queue in self.queues.items() if queue}
        assert not left, f"words are left over: {left}"
        return results

    def _move(self, node: int, transfer: Transfer, done: list[int]) -> bool:
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
                self._send(node, register, int(lane.data[word]))
            else:
                queue = self.queues[node, register]
                if not queue:
                    continue
                lane.data[word] = queue.popleft()
            done[number] += 1
            return True
        return False

    def _send(self, node: int, register: int, word: int) -> None:
        assert register in (WORD, LAST)
        self.outgoing[node].append(word)
        if register == LAST:
            header = self.outgoing[node][0]
            address = header >> ADDRESS & self.shape.addresses - 1
            assert address
            self.queues[self.places[header & 0xFFF], address].extend(self.outgoing[node])
            self.outgoing[node] = []
