"""Moves of the judge's game with tokens (see ``streams.token_game``), until nothing moves any more.

For the judge: shares nothing with planner or router.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.streams.compiled import kernel


class Lists(NamedTuple):
    """A board. Lanes of node n are ``first_lane[n] : first_lane[n + 1]``, registers and onward places likewise; -1: none."""

    first_lane: np.ndarray
    write: np.ndarray
    rank: np.ndarray
    after: np.ndarray
    after_all: np.ndarray
    pair: np.ndarray
    window: np.ndarray
    first_register: np.ndarray
    registers: np.ndarray
    source: np.ndarray
    into: np.ndarray
    first_onward: np.ndarray
    onward: np.ndarray


@kernel
def _may(
    lists: Lists, node: int, lane: int, total: np.ndarray, limit: np.ndarray, moved: np.ndarray, full: np.ndarray
) -> int:
    """The register with which a lane may move its next word, -1 if it may not."""
    k = moved[lane]
    if k >= limit[lane]:
        return -1
    for other in range(lists.first_lane[node], lists.first_lane[node + 1]):
        if moved[other] < total[other] and lists.rank[other] < lists.rank[lane]:
            return -1
    after = lists.after[lane]
    if after >= 0:
        if lists.after_all[lane]:
            if moved[after] < total[after]:
                return -1
        elif moved[after] <= k:
            return -1
    pair = lists.pair[lane]
    if pair >= 0 and k - moved[pair] >= lists.window[lane]:
        return -1
    first = lists.first_register[lane]
    register = lists.registers[first + k % (lists.first_register[lane + 1] - first)]
    return register if full[register] != lists.write[lane] else -1


@kernel
def play_out(
    lists: Lists, total: np.ndarray, limit: np.ndarray, registers: int, held_up: int, held_after: int
) -> tuple[np.ndarray, np.ndarray]:
    """Words that each lane has moved and each place has passed on when nothing moves. ``limit``: most words of each lane;
    place ``held_up`` (-1: none) passes on ``held_after``."""
    places = lists.source.shape[0]
    held = np.zeros(places, np.bool_)
    passed = np.zeros(places, np.int64)
    full = np.zeros(registers, np.bool_)
    moved = np.zeros(total.shape[0], np.int64)
    going = True
    while going:
        going = False
        for node in range(lists.first_lane.shape[0] - 1):
            for lane in range(lists.first_lane[node], lists.first_lane[node + 1]):
                register = _may(lists, node, lane, total, limit, moved, full)
                while register >= 0:
                    full[register] = lists.write[lane]
                    moved[lane] += 1
                    going = True
                    register = _may(lists, node, lane, total, limit, moved, full)
        for place in range(places):
            if not held[place]:
                origin = lists.source[place]
                if origin < 0 or not full[origin]:
                    continue
                full[origin] = False
                held[place] = True
                going = True
            if place == held_up and passed[place] >= held_after:
                continue
            to = lists.into[place]
            free = to < 0 or not full[to]
            for row in range(lists.first_onward[place], lists.first_onward[place + 1]):
                if held[lists.onward[row]]:
                    free = False
            if not free:
                continue
            held[place] = False
            passed[place] += 1
            going = True
            if to >= 0:
                full[to] = True
            for row in range(lists.first_onward[place], lists.first_onward[place + 1]):
                held[lists.onward[row]] = True
    return moved, passed
