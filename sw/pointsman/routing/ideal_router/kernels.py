"""Hot loops of the ideal router: place one word exactly, and negotiate until no two words share a cell.

A *cell* is a port or link in a slot: row · period + slot, where the row is that of the resource's orbit (see
:mod:`.symmetry`) and the slot counts from the orbit's first member. ``price`` holds what each cell costs a word that is
being placed. Times are whole numbers, so results do not depend on the machine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pointsman.kernels import kernel

from .arrays import Net, Rows, WordScratch

FAR = np.int32(1 << 29)
HOP = 8
"""Price of a link, so that a detour is taken only where it helps; noise is below it."""
NOISE = 7


@kernel(inline="always")
def random_below(state: np.ndarray, limit: int) -> Any:
    """xorshift64*: a number 0..limit-1."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return np.int64(((x * np.uint64(2685821657736338717)) >> np.uint64(33)) % np.uint64(limit))


@kernel
def _add_row(
    into: np.ndarray, come: np.ndarray, price: np.ndarray, row: int, turn: int, period: int, fresh: bool
) -> None:
    """into[s] = min(into[s], come[s] + price of slot s + turn) for every start slot s."""
    base = row * period
    split = period - turn
    if fresh:
        for s in range(split):
            into[s] = come[s] + price[base + s + turn] + HOP
        for s in range(split, period):
            into[s] = come[s] + price[base + s - split] + HOP
    else:
        for s in range(split):
            into[s] = min(into[s], come[s] + price[base + s + turn] + HOP)
        for s in range(split, period):
            into[s] = min(into[s], come[s] + price[base + s - split] + HOP)


@kernel
def is_simple(heads: np.ndarray, path: np.ndarray, length: int) -> bool:
    """Does a way, by its links, come to no node twice?"""
    for a in range(length):
        for b in range(a + 1, length):
            if heads[path[a]] == heads[path[b]]:
                return False
    return True


@kernel
def place_unicast(
    net: Net, rows: Rows, room: WordScratch, source: int, end: int, extra: int, period: int, price: np.ndarray
) -> tuple[int, int, int]:
    """The cheapest way and start slot of a word from ``source`` to ``end``, without waiting.

    Dynamic programming over (links passed, node) for all start slots at once, ``extra`` links more than the shortest way at
    most, no node twice. Returns (start slot, links, work); the links are in ``room.path``. Links is 0 if there is no way.
    """
    net_first, net_heads, tails = net.first, net.heads, net.tails
    in_first, in_links = net.in_first, net.in_links
    to_end = net.hops[end]
    row, shift = rows.row, rows.shift
    best, state_of, level_first, state_node, path = (
        room.best,
        room.state_of,
        room.level_first,
        room.state_node,
        room.path,
    )
    state = room.random
    n_links = net_heads.size
    nodes = net_first.size - 1
    shortest = to_end[source]
    longest = min(shortest + extra, path.size)
    work = 4 * period + 256
    # Level 0: the source.
    port = n_links + source
    base = row[port] * period
    split = shift[port] % period
    for s in range(split):
        best[0, s] = price[base + s - split + period]
    for s in range(split, period):
        best[0, s] = price[base + s - split]
    state_node[0] = source
    state_of[0, source] = 0
    level_first[0] = 0
    level_first[1] = 1
    count = 1
    for level in range(longest):
        for at in range(level_first[level], level_first[level + 1]):
            node = state_node[at]
            if node == end:
                continue
            for link in range(net_first[node], net_first[node + 1]):
                after = net_heads[link]
                if after == source or to_end[after] < 0 or level + 1 + to_end[after] > longest:
                    continue
                if count == best.shape[0] and state_of[level + 1, after] < 0:
                    continue
                turn = (level - shift[link]) % period
                if state_of[level + 1, after] < 0:
                    state_of[level + 1, after] = count
                    state_node[count] = after
                    _add_row(best[count], best[at], price, row[link], turn, period, True)
                    count += 1
                else:
                    _add_row(best[state_of[level + 1, after]], best[at], price, row[link], turn, period, False)
                work += period + 32
        level_first[level + 2] = count
    # The end: the cheapest arrival whose way passes no node twice.
    port = n_links + nodes + end
    base = row[port] * period
    start = 0
    length = 0
    floor = np.int32(-1)
    for _ in range(6):
        found = FAR
        for level in range(shortest, longest + 1):
            at = state_of[level, end]
            if at < 0:
                continue
            arrived = best[at]
            turn = (level - shift[port]) % period
            least = FAR
            if floor < 0:
                for s in range(period - turn):
                    least = min(least, arrived[s] + price[base + s + turn])
                for s in range(period - turn, period):
                    least = min(least, arrived[s] + price[base + s + turn - period])
            else:
                for s in range(period):
                    cost = arrived[s] + price[base + (s + turn) % period]
                    if cost > floor:
                        least = min(least, cost)
            if least < found:
                found = least
                length = level
                # Of equally cheap start slots any, each as likely: what comes after a busy run must not be preferred.
                ties = 0
                for s in range(period - turn):
                    ties += arrived[s] + price[base + s + turn] == least
                for s in range(period - turn, period):
                    ties += arrived[s] + price[base + s + turn - period] == least
                wanted = random_below(state, ties)
                s = 0
                while True:
                    to = s + turn - period if s + turn >= period else s + turn
                    if arrived[s] + price[base + to] == least:
                        if wanted == 0:
                            break
                        wanted -= 1
                    s += 1
                start = s
        if found >= FAR:
            length = 0
            break
        node = end
        for level in range(length, 0, -1):
            value = best[state_of[level, node], start]
            taken = -1
            for index in range(in_first[node], in_first[node + 1]):
                link = in_links[index]
                before = tails[link]
                at = state_of[level - 1, before]
                if at < 0 or before == end:
                    continue
                cell = row[link] * period + (start + level - 1 - shift[link]) % period
                if best[at, start] + price[cell] + HOP == value:
                    taken = link
                    break
            path[level - 1] = taken
            node = tails[taken]
        if length == shortest or is_simple(net_heads, path, length):
            break
        floor = found
        length = 0
    for level in range(longest + 1):
        for at in range(level_first[level], level_first[level + 1]):
            state_of[level, state_node[at]] = -1
    return start, length, work
