"""Endpoints joined by a network in memory, for tests: messages come in an order of the test's choice."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np


class Nothing:
    """Something to await that takes no time."""

    def __await__(self) -> Any:
        yield


class MemoryLink:
    """A link that delivers at once into the other node's queue."""

    in_order = True

    def __init__(self, number: int, links: list[MemoryLink]) -> None:
        self.number = number
        self.links = links
        self.arrived: deque[tuple[int, np.ndarray]] = deque()
        self.most = 0

    @property
    def nodes(self) -> int:
        return len(self.links)

    async def start(self) -> None:
        """Nothing to do."""

    async def send(self, to: int, words: np.ndarray) -> None:
        other = self.links[to]
        other.arrived.append((self.number, words))
        other.most = max(other.most, len(other.arrived))
        await Nothing()

    async def look(self) -> None:
        await Nothing()

    async def wait(self) -> None:
        while not self.arrived:
            await Nothing()


def run_all(programs: list[Any], steps: int = 10_000_000) -> list[Any]:
    """Run coroutines in turn; gives their results. Fails if they do not end."""
    results: list[Any] = [None] * len(programs)
    live = dict(enumerate(programs))
    while live:
        for number, program in list(live.items()):
            steps -= 1
            assert steps, "no end"
            try:
                program.send(None)
            except StopIteration as end:
                results[number] = end.value
                del live[number]
    return results
