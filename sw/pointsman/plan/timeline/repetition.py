"""Long messages in a timeline: what happens again and again is played once.

While no processor begins another step, a cycle depends on the words in registers and VFSMs, on what was accessed in the last few
cycles, and on how far lanes and messages are. Once all that is as it was some periods before, the same accesses follow, and lanes
move on by as many words; so these periods are taken many times at once, up to where a lane or a message comes near its end, or a
processor goes on. The cycles are exactly those of a play word by word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.kernels import kernel

from .lanes import AFTER, PAIR, PIECE, REGISTERS, WORDS
from .online_kernel import ARRIVING, BEGUN, BUSY, COPY, CURRENT, HAVE, MOVED, NEXT, TOTAL, Post

MEMORY = 64
"""Cycles that the time of an access matters, at most; `pointsman.protocol.costs.AgentCosts` has none as long."""
ENDLESS = 1 << 60


class MovingWords(NamedTuple):
    """What the next cycle depends on while no processor begins a step; from ``shown`` on all but ``moved`` are cycles."""

    full: np.ndarray
    held: np.ndarray
    from_buffer: np.ndarray
    flying: np.ndarray
    """VFSMs whose words are being passed on, then -1."""
    until: np.ndarray
    shown: np.ndarray
    written: np.ndarray
    found: np.ndarray
    taken: np.ndarray
    drawn: np.ndarray
    last_taken: np.ndarray
    moved: np.ndarray
    """By node and lane."""


class OnlineWords(NamedTuple):
    """The same of messages that processors pass on: what changes of a `Post`."""

    nodes: np.ndarray
    sendings: np.ndarray
    copies: np.ndarray
    channels: np.ndarray
    used: np.ndarray


@kernel(error_model="numpy")
def copied_words(words: MovingWords) -> MovingWords:
    """The words as they are now."""
    return MovingWords(
        words.full.copy(),
        words.held.copy(),
        words.from_buffer.copy(),
        words.flying.copy(),
        words.until.copy(),
        words.shown.copy(),
        words.written.copy(),
        words.found.copy(),
        words.taken.copy(),
        words.drawn.copy(),
        words.last_taken.copy(),
        words.moved.copy(),
    )


@kernel(error_model="numpy")
def copied_post(post: Post) -> OnlineWords:
    """The messages as they are now."""
    return OnlineWords(
        post.nodes.copy(),
        post.sendings[: post.used[0]].copy(),
        post.copies[: post.used[1]].copy(),
        post.channels.copy(),
        post.used.copy(),
    )


@kernel(error_model="numpy")
def _same(now: np.ndarray, before: np.ndarray) -> bool:
    k = 0
    while k < now.size and now.flat[k] == before.flat[k]:
        k += 1
    return k == now.size


@kernel(error_model="numpy")
def _same_age(now: np.ndarray, before: np.ndarray, time: int, then: int) -> bool:
    """Are the times as long ago as they were, or so long that it does not matter?"""
    k = 0
    while k < now.size and max(now.flat[k] - time, -MEMORY) == max(before.flat[k] - then, -MEMORY):
        k += 1
    return k == now.size


@kernel(error_model="numpy")
def is_repeated(now: MovingWords, before: MovingWords, time: int, then: int) -> bool:
    """Are registers, VFSMs and the last accesses in cycle ``time`` as they were ``then``?"""
    return (
        _same(now.full, before.full)
        and _same(now.flying, before.flying)
        and _same(now.held, before.held)
        and _same(now.from_buffer, before.from_buffer)
        and _same(now.until, before.until)
        and _same_age(now.found, before.found, time, then)
        and _same_age(now.written, before.written, time, then)
        and _same_age(now.last_taken, before.last_taken, time, then)
        and _same_age(now.shown, before.shown, time, then)
        and _same_age(now.taken, before.taken, time, then)
        and _same_age(now.drawn, before.drawn, time, then)
    )


@kernel(error_model="numpy")
def lane_rounds(lanes: np.ndarray, first: int, last: int, now: np.ndarray, before: np.ndarray) -> int:
    """How many times more the lanes of a node, rows ``first`` to ``last`` of ``lanes``, can move on as they did between
    ``before`` and ``now``; 0 also if lanes that wait for each other moved differently, or end at other registers in turn."""
    rounds = ENDLESS
    for k in range(first, last):
        gone, end, piece = now[k - first], lanes[k, WORDS], lanes[k, PIECE]
        words = gone - before[k - first]
        if lanes[k, PAIR] >= 0 and words != now[lanes[k, PAIR]] - before[lanes[k, PAIR]]:
            return 0
        if words % lanes[k, REGISTERS] != 0:
            return 0
        other = lanes[k, AFTER]
        if other >= 0 and piece > 0:
            ahead, came = now[other], now[other] - before[other]
            needed = gone + piece - gone % piece
            if words == 0 and gone < end and ahead < needed and came > 0:
                rounds = min(rounds, (needed - ahead - 1) // came - 1)
            elif words > 0 and (words != came or words % piece != 0):
                if before[other] < needed:
                    return 0  # it may have had to wait for its piece
                end = min(end, ahead - ahead % piece)
        if words > 0:
            rounds = min(rounds, (end - gone - 1) // words - 1)
    return max(rounds, 0)


@kernel(error_model="numpy")
def processor_rounds(
    lanes: np.ndarray,
    moving: np.ndarray,
    done: np.ndarray,
    now: MovingWords,
    before: MovingWords,
    time: int,
    cycles: int,
) -> int:
    """The same of all processors, of which none goes on meanwhile. ``moving``: by node, its rows of ``lanes``, or -1; ``done``: 1
    for nodes at their end."""
    rounds = ENDLESS
    for i in range(len(done)):
        if done[i] == 0 and time < now.until[i] < ENDLESS:
            rounds = min(rounds, (now.until[i] - time - 1) // cycles)
        if moving[i, 0] >= 0:
            own = lane_rounds(lanes, moving[i, 0], moving[i, 1], now.moved[i], before.moved[i])
            rounds = min(rounds, own)
    return rounds


@kernel(error_model="numpy")
def message_rounds(post: Post, before: OnlineWords, time: int, then: int) -> int:
    """The same of messages that processors pass on; 0 also if one has begun, or come to its end."""
    if not (_same(post.used, before.used) and _same(post.channels, before.channels)):
        return 0
    for i in range(len(post.nodes)):
        for column in range(post.nodes.shape[1]):
            x, y = post.nodes[i, column], before.nodes[i, column]
            if column in (BUSY, MOVED):
                x, y = max(x - time, -MEMORY), max(y - then, -MEMORY)
            if x != y:
                return 0
    rounds = ENDLESS
    for c in range(len(post.channels)):
        sending, coming = post.channels[c, CURRENT], post.channels[c, ARRIVING]
        if sending >= 0:
            copy = post.sendings[sending, COPY]
            words = post.sendings[sending, NEXT] - before.sendings[sending, NEXT]
            came = post.copies[copy, HAVE] - before.copies[copy, HAVE]
            gone, have = post.sendings[sending, NEXT], post.copies[copy, HAVE]
            if post.sendings[sending, BEGUN] != before.sendings[sending, BEGUN] or words % post.ends[c, 0, 1] != 0:
                return 0
            if words != came and have - came <= gone:
                return 0  # it may have had to wait for words, and will not again, or not yet
            if words > came:
                rounds = min(rounds, (have - gone - words) // (words - came) - 1)
            if words > 0:
                rounds = min(rounds, (post.copies[copy, TOTAL] - gone - 1) // words - 1)
        if coming >= 0:
            words = post.copies[coming, HAVE] - before.copies[coming, HAVE]
            if words % post.ends[c, 1, 1] != 0:
                return 0
            if words > 0:
                rounds = min(rounds, (post.copies[coming, TOTAL] - post.copies[coming, HAVE] - 1) // words - 1)
    return max(rounds, 0)


@kernel(error_model="numpy")
def _add(to: np.ndarray, amount: int) -> None:
    for k in range(to.size):
        to.flat[k] += amount


@kernel(error_model="numpy")
def go_on(now: MovingWords, before: MovingWords, rounds: int, cycles: int) -> None:
    """Take ``rounds`` times what happened since ``before``, which took ``cycles``."""
    for k in range(now.moved.size):
        now.moved.flat[k] += rounds * (now.moved.flat[k] - before.moved.flat[k])
    _add(now.shown, rounds * cycles)
    _add(now.written, rounds * cycles)
    _add(now.found, rounds * cycles)
    _add(now.taken, rounds * cycles)
    _add(now.drawn, rounds * cycles)
    _add(now.last_taken, rounds * cycles)


@kernel(error_model="numpy")
def messages_go_on(post: Post, before: OnlineWords, rounds: int, cycles: int) -> None:
    """The same of messages that processors pass on."""
    for s in range(post.used[0]):
        post.sendings[s, NEXT] += rounds * (post.sendings[s, NEXT] - before.sendings[s, NEXT])
    for c in range(post.used[1]):
        post.copies[c, HAVE] += rounds * (post.copies[c, HAVE] - before.copies[c, HAVE])
    for i in range(len(post.nodes)):
        post.nodes[i, BUSY] += rounds * cycles
        post.nodes[i, MOVED] += rounds * cycles
