"""Cycle model of a network of packet routers under permutation traffic, equal to the RTL to the cycle.

Takes a shape and for each node where it sends, how many packets of how many words. Gives the cycle of each node's last word.
Follows `packet_router` stage by stage; where a message may go comes from `packet_router.routing`. Tests compare
it with the RTL. Non-goals: programs (the RTL is fast enough for them).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from packet_router.header import ADDRESS, ANY, SOURCE
from packet_router.mesh import neighbour
from packet_router.routing import ways
from packet_router.shape import RouterShape
from pointsman.errors import PointsmanError
from pointsman.kernels import kernel

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
        nodes,
        shape.ports,
        shape.lanes,
        shape.escape_channels,
        shape.buffer,
        shape.addresses,
        shape.queue,
        shape.routing == "adaptive",
        *_links(shape),
        *_tables(shape, traffic.ends),
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


def _links(shape: RouterShape) -> tuple[np.ndarray, np.ndarray]:
    other = np.full((shape.nodes, shape.ports), -1)
    port_there = np.full((shape.nodes, shape.ports), -1)
    for node in range(shape.nodes):
        for port in range(shape.links):
            end = neighbour(shape, node, port)
            if end is not None:
                other[node, port], port_there[node, port] = end
    return other, port_there


def _tables(shape: RouterShape, ends: Sequence[int]) -> tuple[np.ndarray, ...]:
    """By destination (as headers have it: its number among ``ends``) and node: ports in order of preference, escape."""
    nodes = shape.nodes
    places = [shape.place(node) for node in range(nodes)]
    number = np.full(1 << sum(shape.coordinate_bits), -1)
    prefer = np.full((nodes, nodes, shape.dimensions), -1, np.int8)
    escape = np.full((nodes, nodes, 2), -1, np.int8)
    for to in range(nodes):
        number[shape.pack(places[to])] = to
        for here in range(nodes):
            found = ways(shape, places[here], places[to])
            if found is not None:
                escape[to, here] = found.escape
                prefer[to, here, : len(found.adaptive)] = found.adaptive
    return number, prefer, escape


@kernel
def _run(  # type: ignore[no-untyped-def]
    nodes, ports, lanes, escapes, depth, addresses, queue, adaptive, other, there, number, prefer, escape, headers, packets,
    length, limit, last, got, sums,
) -> Any:  # fmt: skip
    local = ports - 1
    wide = max(lanes, addresses)
    end_bit = 1 << 40
    # Inputs: buffers; which output and channel the message at the front has.
    count = np.zeros((nodes, ports, lanes), np.int64)
    front = np.zeros((nodes, ports, lanes), np.int64)
    words = np.zeros((nodes, ports, lanes, depth), np.int64)
    active = np.zeros((nodes, ports, lanes), np.bool_)
    way = np.zeros((nodes, ports, lanes), np.int64)
    channel = np.zeros((nodes, ports, lanes), np.int64)
    # Outputs: credits, owners.
    credit = np.full((nodes, ports, wide), depth)
    credit[:, local, :] = queue
    held = np.zeros((nodes, ports, wide), np.bool_)
    # Who comes first in each arbitration.
    lane_first = np.zeros((nodes, ports), np.int64)
    word_first = np.zeros((nodes, ports), np.int64)
    message_first = np.zeros((nodes, ports), np.int64)
    channel_first = np.zeros((nodes, ports), np.int64)
    # Registers between the stages.
    sent = np.full((nodes, ports), -1)
    sent_channel = np.zeros((nodes, ports), np.int64)
    now_sent = np.full((nodes, ports), -1)
    now_channel = np.zeros((nodes, ports), np.int64)
    caught = np.full((nodes, ports), -1)
    caught_channel = np.zeros((nodes, ports), np.int64)
    returned = np.full((nodes, ports), -1)  # credits of inputs, on their way to whoever sends there
    coming = np.full((nodes, ports), -1)
    taken = np.full(nodes, -1)  # credits of the interface's queues
    # Interfaces.
    inside = np.zeros(nodes, np.bool_)
    lane = np.zeros(nodes, np.int64)
    own_credit = np.full((nodes, lanes), depth)
    waiting = np.zeros((nodes, addresses), np.int64)
    box = np.zeros((nodes, addresses, queue), np.int64)
    box_front = np.zeros((nodes, addresses), np.int64)
    packet = np.zeros(nodes, np.int64)
    word = np.zeros(nodes, np.int64)
    left = 0
    for n in range(nodes):
        if headers[n] >= 0:
            left += packets * length
        else:
            packet[n] = packets
    pick = np.zeros(ports, np.int64)
    ask = np.zeros(ports, np.int64)
    ask_channel = np.zeros(ports, np.int64)
    want_lane = np.zeros(ports, np.int64)
    want = np.zeros(ports, np.int64)
    winner = np.zeros(ports, np.int64)
    time = 0
    while left > 0 and time < limit:
        now_sent[:, :] = -1
        coming[:, :] = -1
        for n in range(nodes):
            # Messages at the front ask for a channel.
            for p in range(ports):
                pick[p] = -1
                ask[p] = -1
                for k in range(lanes):
                    c = (message_first[n, p] + k) % lanes
                    if not active[n, p, c] and count[n, p, c] > 0:
                        pick[p] = c
                        break
                if pick[p] < 0:
                    continue
                message_first[n, p] = (pick[p] + 1) % lanes
                header = words[n, p, pick[p], front[n, p, pick[p]]]
                to = number[header & (len(number) - 1)]
                if to == n:
                    a = (header >> 12) & (addresses - 1)
                    if not held[n, local, a]:
                        ask[p] = local
                        ask_channel[p] = a
                    continue
                if adaptive and (header >> 28) & 1:
                    for k in range(prefer.shape[2]):
                        o = prefer[to, n, k]
                        if o < 0:
                            break
                        for c in range(escapes, lanes):
                            if not held[n, o, c] and credit[n, o, c] == depth:
                                ask[p] = o
                                ask_channel[p] = -1
                                break
                        if ask[p] >= 0:
                            break
                if ask[p] < 0:
                    o, c = escape[to, n, 0], escape[to, n, 1]
                    if not held[n, o, c]:
                        ask[p] = o
                        ask_channel[p] = c
            # Words ask for an output.
            for p in range(ports):
                want[p] = -1
                for k in range(lanes):
                    c = (lane_first[n, p] + k) % lanes
                    if active[n, p, c] and count[n, p, c] > 0 and credit[n, way[n, p, c], channel[n, p, c]] > 0:
                        want[p] = way[n, p, c]
                        want_lane[p] = c
                        break
            for o in range(ports):
                for k in range(ports):
                    p = (word_first[n, o] + k) % ports
                    if want[p] == o:
                        c = want_lane[p]
                        now_sent[n, o] = words[n, p, c, front[n, p, c]]
                        now_channel[n, o] = channel[n, p, c]
                        winner[o] = p
                        word_first[n, o] = (p + 1) % ports
                        lane_first[n, p] = (c + 1) % lanes
                        break
            # Channels are given.
            for o in range(ports):
                for k in range(ports):
                    p = (channel_first[n, o] + k) % ports
                    if ask[p] == o:
                        c = ask_channel[p]
                        if c < 0:
                            for free in range(escapes, lanes):
                                if not held[n, o, free] and credit[n, o, free] == depth:
                                    c = free
                                    break
                        active[n, p, pick[p]] = True
                        way[n, p, pick[p]] = o
                        channel[n, p, pick[p]] = c
                        held[n, o, c] = True
                        channel_first[n, o] = (p + 1) % ports
                        break
            # The interface sends; room is what its registers say.
            send = -1
            if packet[n] < packets:
                if not inside[n]:
                    if not adaptive:
                        if own_credit[n, 0] > 0:
                            send = 0
                    elif own_credit[n, 0] > 0:
                        for c in range(1, lanes):
                            if own_credit[n, c] == depth:
                                send = c
                                break
                elif own_credit[n, lane[n]] > 0:
                    send = lane[n]
            # The edge of the clock. Credits that come in are counted first, those that go out then replace them.
            for p in range(ports):
                if p < local and other[n, p] >= 0 and returned[other[n, p], there[n, p]] >= 0:
                    credit[n, p, returned[other[n, p], there[n, p]]] += 1
            if returned[n, local] >= 0:
                own_credit[n, returned[n, local]] += 1
            if taken[n] >= 0:
                credit[n, local, taken[n]] += 1
                taken[n] = -1
            for a in range(addresses):
                if waiting[n, a] > 0:
                    value = box[n, a, box_front[n, a]]
                    box_front[n, a] = (box_front[n, a] + 1) % queue
                    waiting[n, a] -= 1
                    taken[n] = a
                    sums[n] = (sums[n] + value) & 0xFFFFFFFF
                    got[n] += 1
                    last[n] = time
                    left -= 1
                    break
            for p in range(ports):
                if caught[n, p] >= 0:
                    c = caught_channel[n, p]
                    words[n, p, c, (front[n, p, c] + count[n, p, c]) % depth] = caught[n, p]
                    count[n, p, c] += 1
                    caught[n, p] = -1
            if send >= 0:
                caught[n, local] = packet[n] * length + word[n]
                if word[n] == 0:
                    caught[n, local] = headers[n] | (1 + packet[n] % (addresses - 1)) << 12
                caught_channel[n, local] = send
                own_credit[n, send] -= 1
                inside[n] = word[n] < length - 1
                lane[n] = send
                word[n] += 1
                if word[n] == length:
                    caught[n, local] |= end_bit
                    word[n] = 0
                    packet[n] += 1
            for o in range(ports):
                if now_sent[n, o] >= 0:
                    p = winner[o]
                    c = want_lane[p]
                    front[n, p, c] = (front[n, p, c] + 1) % depth
                    count[n, p, c] -= 1
                    credit[n, o, now_channel[n, o]] -= 1
                    if now_sent[n, o] & end_bit:
                        held[n, o, now_channel[n, o]] = False
                        active[n, p, c] = False
                    coming[n, p] = c
        returned[:, :] = coming
        for n in range(nodes):
            for o in range(ports):
                if sent[n, o] >= 0:
                    if o == local:
                        a = sent_channel[n, o]
                        box[n, a, (box_front[n, a] + waiting[n, a]) % queue] = sent[n, o] & (end_bit - 1)
                        waiting[n, a] += 1
                    else:
                        m, q = other[n, o], there[n, o]
                        caught[m, q] = sent[n, o]
                        caught_channel[m, q] = sent_channel[n, o]
                sent[n, o] = now_sent[n, o]
                sent_channel[n, o] = now_channel[n, o]
        time += 1
    return left
