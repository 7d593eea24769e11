"""What the processors of a cycle model wait for, in arrays that compiled code can read.

All numbers are int64 unless said otherwise. Words of data are moved as bit patterns, so that words of 64 bits fit as well.
The fields of the arrays' last axes are the constants below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.runtime.api.requests import Category

# Fields of `Requests.lanes`.
(
    WRITE,
    WORDS,
    MOVED,
    TURN,
    FIRST,
    REGISTERS,
    ADDRESS,
    BYTES,
    AFTER,
    AFTER_ALL,
    PAIR,
    WINDOW,
    ITEM,
    FIRST_FOLD,
    FOLDS,
    BESIDE,
) = range(16)
LANE_FIELDS = 16

# Fields of `Requests.folds`.
CODE, LEFT, RIGHT, RESULT = range(4)
FOLD_FIELDS = 4

# Kinds of requests; those up to `TIMER` need no look at the node.
IDLE, TIMER, EMPTY, TRANSFER, ATTEND = range(5)

# Fields of `Requests.clock`.
TIME, LAST_ACCESS, EVENTS, FOLDING = range(4)


class Requests(NamedTuple):
    """What the processors wait for."""

    kind: np.ndarray
    """n: IDLE, TIMER, EMPTY, TRANSFER or ATTEND (only watches registers)."""
    register: np.ndarray
    """n: register of an EMPTY."""
    category: np.ndarray
    """n: category of a TRANSFER, -1 if it goes by direction."""
    open_words: np.ndarray
    """n: words that a TRANSFER has yet to move before it is complete."""
    stalled: np.ndarray
    """n: cycle since which a TRANSFER has not moved."""
    lane_count: np.ndarray
    """n."""
    lanes: np.ndarray
    """n × lanes × LANE_FIELDS."""
    folds: np.ndarray
    """n × folds of all lanes of the node × FOLD_FIELDS."""
    turns: np.ndarray
    """n × registers of all lanes of the node."""
    watch_count: np.ndarray
    """n: registers that are watched."""
    watch: np.ndarray
    """n × registers: 2 × register, plus 1 if it calls when it is full."""
    ready: np.ndarray
    """n, of int8: the request is complete."""
    still: np.ndarray
    """n: what the last cycle of a TRANSFER counted as in which it could make no access."""
    access: np.ndarray
    """n × 3: for a single cycle, register that is accessed or -1, whether written, word."""
    cycles: np.ndarray
    """n × categories."""
    accesses: np.ndarray
    """n × 2: written, read."""
    clock: np.ndarray
    """TIME, LAST_ACCESS, number of EVENTS, number of lanes FOLDING."""
    events: np.ndarray
    """room × 5: time, node, register, written, word. Without room nothing is recorded."""
    arrivals: np.ndarray
    """n × 5: address, bytes and word of what processors read in this cycle; node and lane of what is to be folded."""


def no_requests(nodes: int) -> Requests:
    """Tables of processors that wait for nothing."""
    return Requests(
        kind=_zeros(nodes),
        register=_zeros(nodes),
        category=_zeros(nodes),
        open_words=_zeros(nodes),
        stalled=_zeros(nodes),
        lane_count=_zeros(nodes),
        lanes=_zeros(nodes, 4, LANE_FIELDS),
        folds=_zeros(nodes, 0, FOLD_FIELDS),
        turns=_zeros(nodes, 8),
        watch_count=_zeros(nodes),
        watch=_zeros(nodes, 8),
        ready=np.zeros(nodes, dtype=np.int8),
        still=_zeros(nodes),
        access=_zeros(nodes, 3),
        cycles=_zeros(nodes, len(Category)),
        accesses=_zeros(nodes, 2),
        clock=_zeros(4),
        events=_zeros(0, 5),
        arrivals=_zeros(nodes, 5),
    )


def _zeros(*shape: int) -> np.ndarray:
    return np.zeros(shape, dtype=np.int64)
