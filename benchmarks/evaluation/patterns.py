"""Communication patterns of Yuan 1998, Chapter 6, as messages between the 64 nodes of an 8×8 torus.

Table 6.1 names the patterns of the hand-coded programs. The text has the sizes of GS (64 packets a message) and TSCF (1);
those of P3M do not, and were found by trying: with arrays of 32×32×64 words, 4 words a packet, and nodes numbered with the last
dimension first, all multi-hop columns of Table 6.2 come out to a few per cent, the same columns exchanged for P3M 1 and 4 in one
respect: its P3M 1 is the way from planes to blocks (Table 6.1 says from blocks to planes), and P3M 4 the way back.

Of the other programs, two have rows that are multiples of a pattern: 0003 (a two-dimensional Fourier transform on columns) is
two all-to-all exchanges of 4 packets, 0041 four of them and 0008 six; TOMCATV ("simple nearest neighbor communication") is 60
shifts of 128 packets to one neighbour, as the differences between its rows say (16 more for each channel and packet).
"""

from __future__ import annotations

import numpy as np

from pointsman.optical.traffic import Traffic, listed

NODES = 64
WORDS = 4
"""Words of a packet."""
ARRAY = (32, 32, 64)
BLOCKS, PLANES, COLUMNS = (4, 4, 4), (1, 1, 64), (8, 8, 1)
"""Nodes along each dimension for (:block, :block, :block), (:, :, :block) and (:block, :block, :)."""
Message = tuple[int, int, int, int]


def patterns() -> dict[str, Traffic]:
    """All patterns by name."""
    return {
        name: listed(messages, NODES)
        for name, messages in {
            "GS": [(0, u, v, 64) for u in range(NODES) for v in (u - 1, u + 1) if 0 <= v < NODES],
            "TSCF": [(0, u, u ^ (1 << bit), 1) for u in range(NODES) for bit in range(6)],
            "P3M 1": redistribution(PLANES, BLOCKS),
            "P3M 2, 3": redistribution(PLANES, COLUMNS),
            "P3M 4": redistribution(BLOCKS, PLANES),
            "P3M 5": neighbours(4),
            "0003, half": [(0, u, v, 4) for u in range(NODES) for v in range(NODES) if u != v],
            "TOMCATV, a shift": [(0, u, (u + 1) % NODES, 128) for u in range(NODES)],
        }.items()
    }


def redistribution(before: tuple[int, ...], after: tuple[int, ...]) -> list[Message]:
    """Messages that take an array from one distribution in blocks to another."""
    moved = np.zeros((NODES, NODES), np.int64)
    np.add.at(moved, (_owners(before).ravel(), _owners(after).ravel()), 1)
    np.fill_diagonal(moved, 0)
    return [(0, int(u), int(v), -(-int(moved[u, v]) // WORDS)) for u, v in np.argwhere(moved)]


def neighbours(packets: int) -> list[Message]:
    """Messages to the six neighbours in a ring-closed array of 4×4×4 nodes."""
    return [
        (0, u, u + ((place + step) % 4 - place) * stride, packets)
        for u in range(NODES)
        for stride in (1, 4, 16)
        for place in (u // stride % 4,)
        for step in (-1, 1)
    ]


def _owners(nodes: tuple[int, ...]) -> np.ndarray:
    """The node of each element, numbered with the last dimension first."""
    owner, stride = np.zeros(ARRAY, np.int64), 1
    for axis in (2, 1, 0):
        owner += stride * (np.indices(ARRAY)[axis] * nodes[axis] // ARRAY[axis])
        stride *= nodes[axis]
    return owner
