"""What the cycle model of packet routers keeps: state of all stations, and the steps to every destination.

Arrays are flat. A *channel* of an input is numbered (node × ports + port) × lanes + lane; a *room* is what an output, or the
interface as a sender, knows of a buffer behind it: (node × (ports + 1) + port) × rooms + channel, the interface being the last.
Only what happens costs time: words and credits on their way stand in lists of the cycles in which they arrive, and a router that
can do nothing sleeps until something comes to it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from packet_router.mesh import neighbour
from packet_router.routing import up_down_table
from packet_router.shape import RouterShape

# Fields of `Stations.layout`.
NODES, PORTS, LANES, ROOMS, DEPTH, QUEUE, ADDRESSES, ESCAPES, ADAPTIVE, DIMENSIONS, GRAPH, WIDTH = range(12)

# Fields of `Stations.tally`: the cycle, then lengths of the lists of the cycles, each as often as there are cycles ahead.
NOW, ARRIVING, LANDING, RETURNED = 0, 1, 5, 9
AHEAD = 4
"""Lists of this cycle and the next ones, that of cycle t at t % 4."""

# Fields of `Stations.ends_of`: what is at the other end of a link.
FAR_NODE, FAR_INPUT, FAR_BIT, FAR_ROOM = range(4)
# Fields of the lists: a word for a buffer, a word for a queue, a place that is free.
TO_NODE, TO_CHANNEL, TO_BIT, TO_LAST, TO_WORD = range(5)
QUEUE_NODE, QUEUE_ADDRESS, QUEUE_WORD = range(3)
ROOM_NODE, ROOM_NUMBER, ROOM_INSIDE = range(3)

# A step to a destination: hops left in the dimension, channel in dimension order, and port.
HOPS, CHANNEL = 8, 4
FIELD = 15


class Stations(NamedTuple):
    """State of all routers and interfaces."""

    layout: np.ndarray
    """Sizes: NODES …"""
    places: np.ndarray
    """n × dimensions: coordinates."""
    bits: np.ndarray
    """Bits of each coordinate in a header."""
    steps: np.ndarray
    """Dimensions × places × places as headers have them: the step from one to the other; 0 on arrival."""
    ends_of: np.ndarray
    """n·ports × 4: at the other end of the link the node (-1 where there is none), the first channel of the input and its bit in
    ``some``, and the first room of the output."""
    filled: np.ndarray
    """By channel: words in the buffer."""
    front: np.ndarray
    """By channel: place of the first."""
    words: np.ndarray
    """By channel, DEPTH words."""
    ends: np.ndarray
    """By channel: a bit for each place with the last word of a message."""
    way: np.ndarray
    """By channel: the output of the message at the front; -1 until it has a channel there."""
    channel: np.ndarray
    """By channel: its channel there."""
    some: np.ndarray
    """By node: a bit for each channel, port × lanes + lane, with a word."""
    asleep: np.ndarray
    """By node, of int8: the router can do nothing until something comes."""
    room: np.ndarray
    """By room: words for which there is room."""
    held: np.ndarray
    """By room, of int8: it belongs to a message."""
    lane_turn: np.ndarray
    """n·ports: the lane of the input that is the first to be asked whether it has a word to send."""
    message_turn: np.ndarray
    """n·ports: … a message that wants a channel."""
    word_turn: np.ndarray
    """n·ports: the input that is the first at the output to be granted a word."""
    channel_turn: np.ndarray
    """n·ports: … a channel."""
    inside: np.ndarray
    """n, of int8: the processor has begun a message."""
    lane: np.ndarray
    """n: its lane."""
    queue: np.ndarray
    """n × addresses × QUEUE words that have come."""
    queue_front: np.ndarray
    """n × addresses: place of the first."""
    queue_words: np.ndarray
    """n × addresses: how many; at address 0 words dropped whose room has not been given back."""
    closed: np.ndarray
    """n × addresses, of int8: a register takes no word from the processor."""
    waiting: np.ndarray
    """n × addresses, of int8: a word waits."""
    stirred: np.ndarray
    """n, of int8: ``closed`` or ``waiting`` may have changed in this cycle, or the processor has made an access."""
    blocked: np.ndarray
    """n, of int8: the processor has seen that it can make no access."""
    read_data: np.ndarray
    """n words that processors read last."""
    tally: np.ndarray
    """NOW and lengths of the lists."""
    arriving: np.ndarray
    """4 × n·ports × 5: words that come into buffers: node, channel, bit, whether it is the last, word."""
    landing: np.ndarray
    """4 × n × 3: words that come into queues: node, address, word."""
    returned: np.ndarray
    """4 × … × 3: node and room with a place more, and whether the interface counts it."""
    ask: np.ndarray
    """4 × ports, of a router's turn: output that a message asks for, its room, the lane of the message, best rank."""
    want: np.ndarray
    """3 × ports: output that a word wants, its lane, best rank."""


def stations(shape: RouterShape) -> Stations:
    """All stations at reset."""
    nodes, ports, lanes, addresses = shape.nodes, shape.ports, shape.lanes, shape.addresses
    rooms = max(lanes, addresses)
    room = np.full((nodes, ports + 1, rooms), shape.buffer, np.int64)
    room[:, shape.local] = shape.queue
    ends_of = np.full((nodes, ports, 4), -1, np.int64)
    for node in range(nodes):
        for port in range(shape.links):
            end = neighbour(shape, node, port)
            if end is not None:
                far, there = end
                ends_of[node, port] = (
                    *(far, (far * ports + there) * lanes, there * lanes),
                    (far * (ports + 1) + there) * rooms,
                )
    closed = np.ones((nodes, addresses), np.int8)
    closed[:, :2] = 0
    channels, inputs = nodes * ports * lanes, nodes * ports
    layout = (
        *(nodes, ports, lanes, rooms, shape.buffer, shape.queue, addresses, shape.escape_channels),
        *(shape.routing == "adaptive", shape.dimensions, shape.graph is not None, shape.width),
    )
    return Stations(
        layout=np.array(layout, np.int64),
        places=np.array([shape.place(node) for node in range(nodes)], np.int64),
        bits=np.array(shape.coordinate_bits, np.int64),
        steps=step_table(shape),
        ends_of=ends_of.reshape(-1, 4),
        filled=_zeros(channels),
        front=_zeros(channels),
        words=_zeros(channels * shape.buffer),
        ends=_zeros(channels),
        way=_zeros(channels) - 1,
        channel=_zeros(channels),
        some=_zeros(nodes),
        asleep=_flags(nodes),
        room=room.reshape(-1),
        held=_flags(room.size),
        lane_turn=_zeros(inputs),
        message_turn=_zeros(inputs),
        word_turn=_zeros(inputs),
        channel_turn=_zeros(inputs),
        inside=_flags(nodes),
        lane=_zeros(nodes),
        queue=_zeros(nodes * addresses * shape.queue),
        queue_front=_zeros(nodes * addresses),
        queue_words=_zeros(nodes * addresses),
        closed=closed,
        waiting=_flags(nodes, addresses),
        stirred=_flags(nodes),
        blocked=_flags(nodes),
        read_data=_zeros(nodes),
        tally=_zeros(RETURNED + AHEAD),
        arriving=_zeros(AHEAD, inputs, 5),
        landing=_zeros(AHEAD, nodes, 3),
        returned=_zeros(AHEAD, 2 * inputs + nodes, 3),
        ask=_zeros(4, ports),
        want=_zeros(3, ports),
    )


def step_table(shape: RouterShape) -> np.ndarray:
    """`Stations.steps`: what `packet_router.routing.ways` says, by dimension."""
    extent, codes = max(shape.size), 1 << max(shape.coordinate_bits)
    table = np.zeros((shape.dimensions, extent, codes), np.int32)
    if shape.graph is not None:
        for here, row in enumerate(up_down_table(shape)):
            table[0, here, : shape.nodes] = [0 if port is None else 1 << HOPS | port for port in row]
        return table
    for dimension, size in enumerate(shape.size):
        at, to = np.arange(size)[:, None], np.arange(1 << shape.coordinate_bits[dimension])[None, :]
        hops, up, late = abs(to - at), to > at, np.zeros(1, bool)
        if shape.torus:
            ahead = (to - at) % size
            up = 2 * ahead <= size
            hops = np.minimum(ahead, size - ahead)
            late = np.where(up, to >= at, to <= at)
        table[dimension, :size, : to.size] = (hops << HOPS | late << CHANNEL | (2 * dimension + up)) * (hops > 0)
    return table


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.int64)


def _flags(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.int8)
