"""Cycle model of a network of packet routers under permutation traffic, equal to the RTL to the cycle.

Takes a shape and for each node where it sends, how many packets of how many words. Gives the cycle of each node's last word.
The routers are those of ``model_kernel``. For programs see ``model_engine``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from packet_router.header import ADDRESS, ANY, SOURCE
from packet_router.shape import RouterShape
from pointsman.errors import PointsmanError
from pointsman.kernels import kernel

from .model_kernel import route, send, take, tick
from .model_tables import ADDRESSES, NODES, stations

MAX_CYCLES = 10_000_000


@dataclass(frozen=True)
class Traffic:
    """All nodes send at once: node n sends ``packets`` packets of ``words`` words, header included, to ``ends[n]``.

    Packets take the interface addresses in turn. A node whose end is itself sends nothing.
    """

    ends: tuple[int, ...]
    words: int
    packets: int

    def check(self, shape: RouterShape) -> None:
        """Raise ``PointsmanError`` if it does not fit the shape."""
        if len(self.ends) != shape.nodes:
            raise PointsmanError(f"ends must be given for {shape.nodes} nodes, not {len(self.ends)}")
        if sorted(self.ends) != list(range(shape.nodes)):
            raise PointsmanError("ends must be a permutation of the nodes")
        for name, value in (("words of a packet", self.words), ("packets", self.packets)):
            if not isinstance(value, int) or not 1 <= value <= 1 << 20:
                raise PointsmanError(f"{name} must be 1 to {1 << 20}, not {value!r}")

    def header(self, shape: RouterShape, node: int) -> int:
        """Header words of a node, but for the address."""
        place = shape.pack(shape.place(self.ends[node]))
        return place | node << SOURCE | int(shape.routing == "adaptive") << ANY

    def address(self, shape: RouterShape, packet: int) -> int:
        return 1 + packet % (shape.addresses - 1)

    def checksum(self, shape: RouterShape, node: int) -> int:
        """Sum of all words that ``node`` receives, modulo 2^32."""
        source = self.ends.index(node)
        if source == node:
            return 0
        headers = sum(self.address(shape, k) << ADDRESS for k in range(self.packets))
        headers += self.packets * self.header(shape, source)
        bodies = [k * self.words + w for k in range(self.packets) for w in range(1, self.words)]
        return (headers + sum(bodies)) % (1 << 32)


@dataclass(frozen=True)
class Delivery:
    """``last``: cycle of each node's last word, -1 if it gets none; ``words``: how many it got; ``sums``: their sums."""

    last: np.ndarray
    words: np.ndarray
    sums: np.ndarray

    @property
    def cycles(self) -> int:
        """Cycles until the last word has been taken."""
        return int(self.last.max()) + 1


def run_model(shape: RouterShape, traffic: Traffic, *, max_cycles: int = MAX_CYCLES) -> Delivery:
    """Simulate the traffic to its end.

    Raises
    ------
    PointsmanError
        If the traffic does not fit, or words are left after ``max_cycles``.
    """
    traffic.check(shape)
    nodes = shape.nodes
    last, words, sums = np.full(nodes, -1), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64)
    left = _run(
        stations(shape),
        np.array([traffic.header(shape, n) if traffic.ends[n] != n else -1 for n in range(nodes)]),
        traffic.packets,
        traffic.words,
        max_cycles,
        last,
        words,
        sums,
    )
    if left:
        raise PointsmanError(f"{left} words are on their way after {max_cycles} cycles")
    return Delivery(last, words, sums)


@kernel(error_model="numpy")
def _run(  # type: ignore[no-untyped-def]
    s, headers, packets, length, limit, last, got, sums
) -> Any:
    nodes, addresses = s.layout[NODES], s.layout[ADDRESSES]
    packet = np.zeros(nodes, np.int64)
    word = np.zeros(nodes, np.int64)
    left = 0
    for n in range(nodes):
        if headers[n] >= 0:
            left += packets * length
        else:
            packet[n] = packets
    time = 0
    while left > 0 and time < limit:
        for n in range(nodes):
            ready = s.closed[n, 0] == 0
            for a in range(1, addresses):
                if s.waiting[n, a]:
                    sums[n] = (sums[n] + take(s, n, a)) & 0xFFFFFFFF
                    got[n] += 1
                    last[n] = time
                    left -= 1
                    break
            if packet[n] < packets and ready:
                value = packet[n] * length + word[n]
                if word[n] == 0:
                    value = headers[n] | (1 + packet[n] % (addresses - 1)) << ADDRESS
                word[n] += 1
                send(s, n, value, word[n] == length)
                if word[n] == length:
                    word[n] = 0
                    packet[n] += 1
            if s.some[n] != 0 and not s.asleep[n]:
                route(s, n)
        tick(s)
        time += 1
    return left
