"""Slots of channels in arrays, and the searches of ``frame_slots`` over them, compiled.

A word that a channel sends in slot s uses cells: at each of its *places* (a pipeline, or a link, of a node) slot s + ``at``. All
numbers but weights are int64.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.kernels import kernel

FREE = -1
"""Holder of a cell without a word."""


class SlotArrays(NamedTuple):
    """Channels, the slots in which they send, and who has which cell."""

    first: np.ndarray
    """channels + 1: where the cells of each channel begin in ``place`` and ``at``."""
    place: np.ndarray
    at: np.ndarray
    """Slots from the sending of a word to its use of a cell."""
    weights: np.ndarray
    can: np.ndarray
    """bool, channels x period: do other streams leave free all cells of a word sent in this slot?"""
    has: np.ndarray
    """bool, channels x period: does the channel send in this slot?"""
    words: np.ndarray
    """channels: slots that each has."""
    holder: np.ndarray
    """places x period: the channel that has a cell, or FREE."""


@kernel
def put(s, channels, slots, least):  # type: ignore[no-untyped-def]
    """Give each of ``channels`` the slot beside it in ``slots``, if its cells are free and its slots ``least`` or more away."""
    for i in range(len(channels)):
        c, slot = channels[i], slots[i]
        if s.can[c, slot] and _free(s, c, slot) and _distance(s, c, slot) >= least:
            _take(s, c, slot)


@kernel
def fill(s, least, turns):  # type: ignore[no-untyped-def]
    """Give words to the channels with the smallest shares, ``turns`` times at most; see ``Filling.fill``."""
    channels = len(s.words)
    idle = np.zeros(channels, np.bool_)
    mark = np.full(channels, -1, np.int64)
    while turns > 0:
        poorest, least_share = -1, 0.0
        for c in range(channels):
            if not idle[c]:
                share = s.words[c] / s.weights[c]
                if poorest < 0 or share < least_share:
                    poorest, least_share = c, share
        if poorest < 0:
            return
        losers = _grow(s, poorest, least, mark)
        if losers < 0:
            idle[poorest] = True
            continue
        if losers > 0:
            idle[:] = False
        turns -= 1


@kernel
def even_out(s, least):  # type: ignore[no-untyped-def]
    """Move words to free slots as long as the gaps between words of their channel become more even."""
    for c in range(len(s.words)):
        while _move(s, c, least):
            pass


@kernel
def unevenness(s, c):  # type: ignore[no-untyped-def]
    """Sum of the squares of the gaps between the words of a channel."""
    period = s.has.shape[1]
    begin, before, total = -1, -1, 0
    for slot in range(period):
        if s.has[c, slot]:
            if begin < 0:
                begin = slot
            else:
                total += (slot - before) ** 2
            before = slot
    return total + (period + begin - before) ** 2 if begin >= 0 else 0


@kernel
def _grow(s, c, least, mark):  # type: ignore[no-untyped-def]
    """Another word for a channel; gives the number of channels that lost one, -1 if there is no slot."""
    period = s.has.shape[1]
    after = (s.words[c] + 1) / s.weights[c]
    best, best_losers, best_distance = -1, 0, 0
    mark[:] = -1
    for slot in range(period):
        if not s.can[c, slot]:
            continue
        distance = _distance(s, c, slot)
        if distance < least:
            continue
        losers = 0
        for i in range(s.first[c], s.first[c + 1]):
            other = s.holder[s.place[i], (slot + s.at[i]) % period]
            if other != FREE and mark[other] != slot:
                mark[other] = slot
                if (s.words[other] - 1) / s.weights[other] < after:
                    losers = -1
                    break
                losers += 1
        if losers >= 0 and (best < 0 or losers < best_losers or (losers == best_losers and distance > best_distance)):
            best, best_losers, best_distance = slot, losers, distance
    if best < 0:
        return -1
    for i in range(s.first[c], s.first[c + 1]):
        place, there = s.place[i], (best + s.at[i]) % period
        loser = s.holder[place, there]
        if loser == FREE:
            continue
        for k in range(s.first[loser], s.first[loser + 1]):
            slot = (there - s.at[k]) % period
            if s.place[k] == place and s.has[loser, slot]:
                _drop(s, loser, slot)
                break
    _take(s, c, best)
    return best_losers


@kernel
def _move(s, c, least):  # type: ignore[no-untyped-def]
    """Move a word to a free slot that makes the gaps more even; False if there is none."""
    period = s.has.shape[1]
    now = unevenness(s, c)
    for slot in range(period):
        if not s.has[c, slot]:
            continue
        _drop(s, c, slot)
        found = slot
        for other in range(period):
            if not s.can[c, other] or _distance(s, c, other) < least:
                continue
            s.has[c, other] = True
            then = unevenness(s, c)
            s.has[c, other] = False
            if then < now and _free(s, c, other):
                now, found = then, other
        _take(s, c, found)
        if found != slot:
            return True
    return False


@kernel
def _free(s, c, slot):  # type: ignore[no-untyped-def]
    period = s.has.shape[1]
    free = True
    for i in range(s.first[c], s.first[c + 1]):
        free = free and s.holder[s.place[i], (slot + s.at[i]) % period] == FREE
    return free


@kernel
def _distance(s, c, slot):  # type: ignore[no-untyped-def]
    """Slots from ``slot`` to the nearest slot of a channel; the period if it has none."""
    period = s.has.shape[1]
    for d in range(period // 2 + 1):
        if s.has[c, (slot - d) % period] or s.has[c, (slot + d) % period]:
            return d
    return period


@kernel
def _take(s, c, slot):  # type: ignore[no-untyped-def]
    for i in range(s.first[c], s.first[c + 1]):
        s.holder[s.place[i], (slot + s.at[i]) % s.has.shape[1]] = c
    s.has[c, slot] = True
    s.words[c] += 1


@kernel
def _drop(s, c, slot):  # type: ignore[no-untyped-def]
    for i in range(s.first[c], s.first[c + 1]):
        s.holder[s.place[i], (slot + s.at[i]) % s.has.shape[1]] = FREE
    s.has[c, slot] = False
    s.words[c] -= 1
