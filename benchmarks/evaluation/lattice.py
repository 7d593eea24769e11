"""A dynamic router on the diamond lattice under random traffic, cycle by cycle (Metcalf 1997, §1.2.6, Figure 1-4).

The way of a message is dimension order made fit for the lattice: a node whose coordinates have the greater sum decreases the
first coordinate that must become smaller, any other node increases the first that must become larger. Such ways are shortest. A
message takes the virtual channel of the coordinate that is to be decreased next; that coordinate never goes back along a way,
and only falls within a channel, so no messages wait for each other in a circle.

Routers are input-buffered with wormhole switching: a word a cycle on each link, into each node and out of it, a cycle a hop,
credits at once. That is quicker than any router that we built (``hdl/packet_router``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from pointsman.kernels import kernel
from pointsman.network.lattice import diamond_positions

DIMENSIONS = 4
HERE = DIMENSIONS
"""Port to and from the processor; port k leads along coordinate k."""
PORTS, CLASSES = 5, 4
"""Of a router: ports, and classes of virtual channels of a port."""


@dataclass(frozen=True)
class Router:
    """What a router has in each class: virtual channels, and words that each of them buffers."""

    channels: int = 1
    buffer: int = 8


@dataclass(frozen=True)
class Lattice:
    """A diamond lattice: n × 4 neighbours by port, -1 where there is none; n × n ports and classes of channels of ways to
    destinations."""

    neighbours: np.ndarray
    ports: np.ndarray
    classes: np.ndarray

    @property
    def nodes(self) -> int:
        return len(self.neighbours)

    @property
    def hops(self) -> float:
        """Mean hops of random traffic."""
        return float(self.loads().sum())

    def loads(self) -> np.ndarray:
        """By node and port: messages a cycle if every node sends one message a cycle to any other node, all equally likely."""
        found = np.zeros((self.nodes, DIMENSIONS))
        at = np.repeat(np.arange(self.nodes)[:, None], self.nodes, 1)
        to = np.arange(self.nodes)[None, :].repeat(self.nodes, 0)
        while (moving := at != to).any():
            here, end = at[moving], to[moving]
            port = self.ports[here, end]
            np.add.at(found, (here, port), 1 / (self.nodes - 1))
            at[moving] = self.neighbours[here, port]
        return found


@cache
def lattice(size: int) -> Lattice:
    """The lattice of ``size`` nodes a side, and all ways."""
    positions = np.array(diamond_positions(size))
    number = {tuple(position): node for node, position in enumerate(positions.tolist())}
    high = positions.sum(1) == 2 * (size - 1)
    neighbours = np.full((len(positions), DIMENSIONS), -1)
    for node, position in enumerate(positions.tolist()):
        for axis in range(DIMENSIONS):
            there = list(position)
            there[axis] += -1 if high[node] else 1
            neighbours[node, axis] = number.get(tuple(there), -1)
    wanted = positions[None, :, :] - positions[:, None, :]  # node × destination × coordinate
    down, up = wanted < 0, wanted > 0
    ports = np.where(high[:, None], down.argmax(2), up.argmax(2))
    np.fill_diagonal(ports, HERE)
    classes = np.where(down.any(2), down.argmax(2), CLASSES - 1)
    return Lattice(neighbours, ports, classes)


@dataclass(frozen=True)
class Flow:
    """What came of an offered load: messages a node and cycle, and the mean cycles from a message's making to its last word."""

    accepted: float
    latency: float


def simulate(
    net: Lattice, rate: float, router: Router = Router(), *, words: int = 5, cycles: int = 6000, settle: int = 3000
) -> Flow:
    """Random traffic: in each cycle each node makes a message with probability ``rate``, to any other node.

    Parameters
    ----------
    words : int
        Of a message, with its header.
    cycles, settle : int
        How long to simulate, and after how long to begin to count.
    """
    chance = np.random.default_rng(1)
    made = chance.random((cycles, net.nodes)) < rate
    times, sources = np.nonzero(made)
    ends = chance.integers(0, net.nodes - 1, len(times))
    ends += ends >= sources
    order = np.lexsort((times, sources))
    times, sources, ends = times[order], sources[order], ends[order]
    first = np.searchsorted(sources, np.arange(net.nodes + 1))
    arrived = np.full(len(times), -1)
    sizes = (words, cycles, router.channels, router.buffer)
    _run(net.neighbours, net.ports, net.classes, first, times, ends, sizes, arrived)
    counted = arrived >= settle
    accepted = counted.sum() / (cycles - settle) / net.nodes
    latency = float((arrived - times)[counted].mean()) if counted.any() else 0.0
    return Flow(float(accepted), latency)


@kernel(error_model="numpy")
def _run(neighbours, ports, classes, first, times, ends, sizes, arrived) -> None:  # type: ignore[no-untyped-def]
    words, cycles, copies, buffer = sizes
    nodes = len(neighbours)
    channels = CLASSES * copies
    each = PORTS * channels
    lanes = nodes * each
    message = np.zeros((lanes, buffer), np.int64)  # of each word
    place = np.zeros((lanes, buffer), np.int64)  # of the word in its message
    ready = np.zeros((lanes, buffer), np.int64)  # cycle from which the word may go on
    front = np.zeros(lanes, np.int64)
    filled = np.zeros(lanes, np.int64)
    leaving = np.zeros(lanes, np.int64)  # words that left in this cycle; their places are free in the next
    output = np.full(lanes, -1, np.int64)  # of the message at the front: port * channels + channel
    owner = np.full(lanes, -1, np.int64)  # by node, port and channel of an output: the lane whose message has it
    turn = np.zeros(nodes * PORTS, np.int64)
    asking = np.zeros(nodes, np.int64)
    sending = first[:-1].copy()
    sent = np.zeros(nodes, np.int64)
    used = np.zeros(PORTS, np.bool_)
    for now in range(cycles):
        for node in range(nodes):
            # A processor puts a word into its lane.
            at = sending[node]
            if at < first[node + 1] and times[at] <= now:
                lane = node * each + HERE * channels + at % channels
                if filled[lane] < buffer:
                    k = (front[lane] + filled[lane]) % buffer
                    message[lane, k], place[lane, k], ready[lane, k] = at, sent[node], now + 1
                    filled[lane] += 1
                    sent[node] += 1
                    if sent[node] == words:
                        sent[node] = 0
                        sending[node] += 1
            # Messages at the front take outputs, in turn.
            for step in range(each):
                lane = node * each + (asking[node] + step) % each
                k = front[lane]
                if filled[lane] == 0 or output[lane] >= 0 or ready[lane, k] > now:
                    continue
                end = ends[message[lane, k]]
                port = ports[node, end]
                low = 0 if port == HERE else classes[node, end] * copies
                for channel in range(low, low + (1 if port == HERE else copies)):
                    wanted = port * channels + channel
                    if owner[node * each + wanted] < 0:
                        owner[node * each + wanted] = lane
                        output[lane] = wanted
                        break
            asking[node] = (asking[node] + 1) % each
            # Each output sends a word, each input gives one at most.
            used[:] = False
            for port in range(PORTS):
                start = turn[node * PORTS + port]
                for step in range(channels):
                    channel = (start + step) % channels
                    lane = owner[node * each + port * channels + channel]
                    if lane < 0 or filled[lane] == 0:
                        continue
                    side = (lane - node * each) // channels
                    k = front[lane]
                    if used[side] or ready[lane, k] > now:
                        continue
                    if port != HERE:
                        far = neighbours[node, port] * each + port * channels + channel
                        if filled[far] + leaving[far] >= buffer:
                            continue
                        j = (front[far] + filled[far]) % buffer
                        message[far, j], place[far, j], ready[far, j] = message[lane, k], place[lane, k], now + 1
                        filled[far] += 1
                    used[side] = True
                    front[lane] = (k + 1) % buffer
                    filled[lane] -= 1
                    leaving[lane] += 1
                    if place[lane, k] == words - 1:
                        owner[node * each + port * channels + channel] = -1
                        output[lane] = -1
                        if port == HERE:
                            arrived[message[lane, k]] = now
                    turn[node * PORTS + port] = (channel + 1) % channels
                    break
        leaving[:] = 0
