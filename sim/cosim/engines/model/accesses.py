"""Accesses of a cycle model's processors, for compiled loops: which a request makes in a cycle, and what becomes of it.

``closed`` and ``waiting`` are arrays, nodes × registers, of flags: the register takes no word; it has a word to read. Where a
register holds a word for both directions they are the same array.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .folds import fold_lane
from .requests import (
    ADDRESS,
    AFTER,
    AFTER_ALL,
    BESIDE,
    BYTES,
    EMPTY,
    EVENTS,
    FIRST,
    FOLDING,
    FOLDS,
    ITEM,
    LAST_ACCESS,
    MOVED,
    PAIR,
    REGISTERS,
    TIME,
    TURN,
    WINDOW,
    WORDS,
    WRITE,
    Requests,
)
from .words import load_word, store_word

_CATEGORY_WRITE, _CATEGORY_READ = 1, 2


@kernel(error_model="numpy", _nrt=False)
def choose(requests: Requests, closed: np.ndarray, waiting: np.ndarray, i: int) -> tuple[int, int]:
    """The register that the transfer of node ``i`` can access in this cycle, or -1, and the lane; counts the cycle."""
    lanes = requests.lanes
    still = first = lane = access = -1
    for k in range(requests.lane_count[i]):
        moved = lanes[i, k, MOVED]
        if moved == lanes[i, k, WORDS]:
            continue
        if still < 0:
            still = k
        after = lanes[i, k, AFTER]
        if after >= 0:
            item = lanes[i, k, ITEM]
            need = lanes[i, after, WORDS] if lanes[i, k, AFTER_ALL] else moved + item - moved % item
            if lanes[i, after, MOVED] < need:
                continue
        pair = lanes[i, k, PAIR]
        if pair >= 0 and moved - lanes[i, pair, MOVED] >= lanes[i, k, WINDOW]:
            continue
        if first < 0:
            first = k
        r = requests.turns[i, lanes[i, k, FIRST] + lanes[i, k, TURN]]
        if (closed[i, r] == 0) if lanes[i, k, WRITE] != 0 else (waiting[i, r] != 0):
            access = r
            lane = k
            break
    category = requests.category[i]
    if category < 0:
        counting = lane if access >= 0 else first if first >= 0 else still
        category = _CATEGORY_WRITE if lanes[i, counting, WRITE] else _CATEGORY_READ
    requests.cycles[i, category] += 1
    requests.still[i] = category
    return access, lane


@kernel(error_model="numpy", _nrt=False)
def word_of(requests: Requests, i: int, lane: int, mask: int) -> int:
    """The word that a lane of node ``i`` writes in this cycle."""
    row = requests.lanes[i, lane]
    if row[ADDRESS] == 0:
        return 0
    return mask & load_word(row[ADDRESS] + row[MOVED] * row[BYTES], row[BYTES] == 4)


@kernel(error_model="numpy", _nrt=False)
def settle(requests: Requests, i: int, access: int, lane: int, word: int, arrived: int) -> int:
    """Count the access of node ``i`` in this cycle, and see whether its words are through. Gives ``arrived``, or one more."""
    clock, arrivals = requests.clock, requests.arrivals
    time = clock[TIME]
    row = requests.lanes[i, lane]
    moved = row[MOVED]
    write = row[WRITE] != 0
    if not write and row[ADDRESS] != 0:
        # Stored when all nodes have had their turn: programs may share arrays.
        arrivals[arrived, 0] = row[ADDRESS] + moved * row[BYTES]
        arrivals[arrived, 1] = row[BYTES]
        arrivals[arrived, 2] = word
        arrived += 1
    row[MOVED] = moved + 1
    if row[FOLDS] > 0 and (moved + 1) % row[ITEM] == 0:
        arrivals[clock[FOLDING], 3] = i
        arrivals[clock[FOLDING], 4] = lane
        clock[FOLDING] += 1
    turn = row[TURN] + 1
    row[TURN] = turn if turn < row[REGISTERS] else 0
    requests.accesses[i, 0 if write else 1] += 1
    requests.stalled[i] = time + 1
    clock[LAST_ACCESS] = time + 1
    if requests.events.shape[0] > 0:
        event = requests.events[clock[EVENTS]]
        event[0], event[1], event[2], event[3] = time, i, access, write
        event[4] = word
        clock[EVENTS] += 1
    if row[BESIDE] != 0:
        if moved + 1 == row[WORDS]:
            requests.ready[i] = 1
    else:
        requests.open_words[i] -= 1
        if requests.open_words[i] == 0:
            requests.ready[i] = 1
    return arrived


@kernel(error_model="numpy", _nrt=False)
def notice(requests: Requests, closed: np.ndarray, waiting: np.ndarray, i: int) -> None:
    """See, at the end of a cycle, whether a register for which node ``i`` waits calls."""
    if requests.kind[i] == EMPTY and closed[i, requests.register[i]] == 0:
        requests.ready[i] = 1
    for k in range(requests.watch_count[i]):
        r = requests.watch[i, k] >> 1
        if (waiting[i, r] != 0) if requests.watch[i, k] & 1 else (closed[i, r] == 0):
            requests.ready[i] = 1


@kernel(error_model="numpy", _nrt=False)
def deliver(requests: Requests, arrived: int) -> None:
    """Put the words that processors have read in this cycle where they belong, and combine what is to be combined."""
    arrivals, clock = requests.arrivals, requests.clock
    for k in range(arrived):
        store_word(arrivals[k, 0], arrivals[k, 1] == 4, arrivals[k, 2])
    for k in range(clock[FOLDING]):
        fold_lane(requests, arrivals[k, 3], arrivals[k, 4])
    clock[FOLDING] = 0
