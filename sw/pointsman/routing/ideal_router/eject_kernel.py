"""Hot loop of ejection: the place of one word whose owners are cheapest to throw out, each counted once.

A word that takes over several cells from another throws it out once. Words on the same links in successive slots share cells in a
row, so it is this that tells a place with one owner from one with many; prices of cells alone would count the one many times.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .arrays import Net, Rows, WordScratch
from .kernels import FAR, HOP, is_simple, random_below


@kernel
def _copy_row(into: np.ndarray, cells: np.ndarray, row: int, turn: int, period: int) -> None:
    """into[s] = what ``cells`` has for slot s + turn, for every start slot s."""
    base = row * period
    split = period - turn
    for s in range(split):
        into[s] = cells[base + s + turn]
    for s in range(split, period):
        into[s] = cells[base + s - split]


@kernel
def _extend(
    into: np.ndarray, owners: np.ndarray, price: np.ndarray, come: np.ndarray, before: np.ndarray, fresh: bool
) -> None:
    """into[s] = min(into[s], come[s] + price[s]) for every start slot s, without the price where the owner is that of the
    cell before, too."""
    if fresh:
        for s in range(into.size):
            again = owners[s] == before[s]
            into[s] = come[s] + (0 if again else price[s]) + HOP
    else:
        for s in range(into.size):
            again = owners[s] == before[s]
            into[s] = min(into[s], come[s] + (0 if again else price[s]) + HOP)


@kernel
def place_over(
    net: Net,
    rows: Rows,
    room: WordScratch,
    source: int,
    end: int,
    extra: int,
    period: int,
    price: np.ndarray,
    owner: np.ndarray,
) -> tuple[int, int, int]:
    """The way and start slot of a word from ``source`` to ``end`` that are cheapest, without waiting.

    A cell costs its ``price``, but not if the cell before on the way has the same ``owner`` (-1, which is nobody, too: words that
    take up whole runs of free cells leave no scraps). Dynamic programming over (links passed, last link) for all start slots at
    once, ``extra`` links more than the shortest way at most, no node twice. Returns (start slot, links, work); the links are in
    ``room.path``. Links is 0 if there is no way.
    """
    heads, tails = net.heads, net.tails
    to_end = net.hops[end]
    row, shift = rows.row, rows.shift
    best, owners, cost = room.over, room.owners, room.cost
    state_of, level_first, last_link, path = room.over_of, room.level_first, room.last_link, room.path
    n_links = heads.size
    shortest = to_end[source]
    longest = min(shortest + extra, path.size)
    work = 4 * period + 256
    # State 0 is the word in the injection port; last_link has the last link of the others.
    port = n_links + source
    _copy_row(best[0], price, row[port], -shift[port] % period, period)
    _copy_row(owners[0], owner, row[port], -shift[port] % period, period)
    level_first[0] = 0
    level_first[1] = 1
    count = 1
    for level in range(longest):
        for at in range(level_first[level], level_first[level + 1]):
            node = source if level == 0 else heads[last_link[at]]
            if node == end:
                continue
            for link in range(net.first[node], net.first[node + 1]):
                after = heads[link]
                if after == source or to_end[after] < 0 or level + 1 + to_end[after] > longest:
                    continue
                if level and after == tails[last_link[at]]:
                    continue
                to = state_of[level + 1, link]
                fresh = to < 0
                if fresh:
                    to = count
                    state_of[level + 1, link] = count
                    last_link[count] = link
                    count += 1
                    turn = (level - shift[link]) % period
                    _copy_row(owners[to], owner, row[link], turn, period)
                    _copy_row(cost[to], price, row[link], turn, period)
                    work += period
                _extend(best[to], owners[to], cost[to], best[at], owners[at], fresh)
                work += period + 32
        level_first[level + 2] = count
    start, length = _cheapest(net, rows, room, source, end, shortest, longest, period, price, owner)
    for level in range(1, longest + 1):
        for at in range(level_first[level], level_first[level + 1]):
            state_of[level, last_link[at]] = -1
    return start, length, work


@kernel
def _cheapest(
    net: Net,
    rows: Rows,
    room: WordScratch,
    source: int,
    end: int,
    shortest: int,
    longest: int,
    period: int,
    price: np.ndarray,
    owner: np.ndarray,
) -> tuple[int, int]:
    """Start slot and links of the cheapest way that passes no node twice; its links are put into ``room.path``."""
    heads, tails, in_first, in_links = net.heads, net.tails, net.in_first, net.in_links
    best, owners, cost = room.over, room.owners, room.cost
    state_of, path = room.over_of, room.path
    # What comes in by each last link, with the price of the ejection port.
    port = heads.size + net.first.size - 1 + end
    for level in range(shortest, longest + 1):
        for index in range(in_first[end], in_first[end + 1]):
            at = state_of[level, in_links[index]]
            if at >= 0:
                turn = (level - rows.shift[port]) % period
                _copy_row(owners[-1], owner, rows.row[port], turn, period)
                _copy_row(cost[-1], price, rows.row[port], turn, period)
                for s in range(period):
                    again = owners[-1, s] == owners[at, s]
                    best[at, s] += 0 if again else cost[-1, s]
    floor = np.int32(-1)
    for _ in range(6):
        found = FAR
        ties = 0
        for level in range(shortest, longest + 1):
            for index in range(in_first[end], in_first[end + 1]):
                at = state_of[level, in_links[index]]
                if at < 0:
                    continue
                least = FAR
                for s in range(period):
                    if best[at, s] > floor:
                        least = min(least, best[at, s])
                if least < found:
                    found = least
                    ties = 0
                if least == found:
                    for s in range(period):
                        ties += best[at, s] == found
        if found >= FAR:
            return 0, 0
        # Of equally cheap places any, each as likely: what comes after a busy run must not be preferred.
        wanted = random_below(room.random, ties)
        start = length = 0
        for level in range(shortest, longest + 1):
            for index in range(in_first[end], in_first[end + 1]):
                at = state_of[level, in_links[index]]
                if at < 0:
                    continue
                for s in range(period):
                    if best[at, s] == found:
                        if wanted == 0:
                            start = s
                            length = level
                            path[level - 1] = in_links[index]
                        wanted -= 1
        for level in range(length - 1, 0, -1):
            link = path[level]
            to = state_of[level + 1, link]
            value = best[to, start]
            if level + 1 == length:
                cell = rows.row[port] * period + (start + length - rows.shift[port]) % period
                value -= 0 if (owner[cell] == owners[to, start]) else price[cell]
            node = tails[link]
            for index in range(in_first[node], in_first[node + 1]):
                at = state_of[level, in_links[index]]
                if at < 0 or tails[in_links[index]] == heads[link]:
                    continue
                again = owners[to, start] == owners[at, start]
                if best[at, start] + (0 if again else cost[to, start]) + HOP == value:
                    path[level - 1] = in_links[index]
                    break
        if length == shortest or is_simple(heads, path, length):
            return start, length
        floor = found
    return 0, 0
