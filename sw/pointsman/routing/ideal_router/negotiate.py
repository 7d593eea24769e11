"""Kernels that move words until no two share a cell, in two ways.

*Negotiation* (PathFinder; McMurchie and Ebeling 1995): words may share cells, at a price that grows with time and with the
history of the cell; only words that share are placed again. *Ejection* (Nagata and Bräysy 2009, for vehicles): a word that finds
no free place takes the one whose owners have been placed with least trouble so far, and throws them out. The second is
faster nearly everywhere; the first sometimes reaches a bound on meshes where the second stays a few words short.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .arrays import Net, Rows, WordArrays, WordScratch
from .eject_kernel import place_over
from .kernels import NOISE, place_unicast, random_below
from .tree_kernel import place_tree
from .wait_kernel import place_waiting

PRESSURE_MOST = 1e4


@kernel
def _place(
    net: Net,
    rows: Rows,
    words: WordArrays,
    room: WordScratch,
    word: int,
    extra: int,
    period: int,
    price: np.ndarray,
    owner: np.ndarray,
    buffers: bool,
) -> int:
    """Find the cheapest place of ``word`` and note its links and cells. Returns the work done, -1 if there is no place.

    ``owner``: the word of each cell, if a price is for throwing that out; empty if words share cells.
    """
    source = words.source[word]
    first = words.first[word]
    ends = words.end_first[word + 1] - words.end_first[word]
    if ends > 1:
        start, size, work = place_tree(net, rows, words, room, word, extra, period, price, buffers)
    elif buffers:
        start, size, work = place_waiting(net, rows, words, room, word, extra, period, price)
    else:
        end = words.ends[words.end_first[word]]
        start, size, work = _place_way(net, rows, room, source, end, extra, period, price, owner)
        if size == 0 and extra > 0:
            # Every detour found passes a node twice.
            start, size, more = _place_way(net, rows, room, source, end, 0, period, price, owner)
            work += more
        for index in range(size):
            words.links[first + index] = room.path[index]
            words.depth[first + index] = index
    if size == 0:
        words.start[word] = -1
        words.size[word] = 0
        words.cell_size[word] = 0
        return -1
    words.start[word] = start
    words.size[word] = size
    n_links = net.heads.size
    nodes = net.first.size - 1
    count = words.cell_first[word]
    count = _note(rows, words.cells, count, n_links + source, start, period)
    for index in range(first, first + size):
        link = words.links[index]
        slot = start + words.depth[index]
        count = _note(rows, words.cells, count, link, slot, period)
        head = net.heads[link]
        for at in range(words.end_first[word], words.end_first[word + 1]):
            if words.ends[at] == head:
                count = _note(rows, words.cells, count, n_links + nodes + head, slot + 1, period)
    words.cell_size[word] = count - words.cell_first[word]
    return work


@kernel
def _place_way(
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
    if owner.size:
        return place_over(net, rows, room, source, end, extra, period, price, owner)
    return place_unicast(net, rows, room, source, end, extra, period, price)


@kernel
def _note(rows: Rows, cells: np.ndarray, count: int, resource: int, slot: int, period: int) -> int:
    at = (slot - rows.shift[resource]) % period
    fold = rows.fold[resource]
    for _ in range(period // fold):
        cells[count] = rows.row[resource] * period + at
        count += 1
        at = (at + fold) % period
    return count


@kernel
def _shuffle(order: np.ndarray, count: int, state: np.ndarray) -> None:
    for index in range(count - 1, 0, -1):
        other = random_below(state, index + 1)
        order[index], order[other] = order[other], order[index]


@kernel
def _lengths(net: Net, words: WordArrays, order: np.ndarray) -> np.ndarray:
    """Links from the source of each word to all of its destinations on shortest paths, by place in ``order``."""
    lengths = np.zeros(order.size, np.int64)
    for index in range(order.size):
        word = order[index]
        for at in range(words.end_first[word], words.end_first[word + 1]):
            lengths[index] += net.hops[words.ends[at], words.source[word]]
    return lengths


@kernel
def negotiate(
    net: Net,
    rows: Rows,
    words: WordArrays,
    room: WordScratch,
    period: int,
    n_rows: int,
    extra: int,
    buffers: bool,
    work_limit: int,
    pressure: float,
    growth: float,
    history_step: int,
) -> tuple[int, int]:
    """Place all words. Returns (cells that are shared at the end, or -1 if a word has no way; work done)."""
    n_words = words.source.size
    cells = n_rows * period
    used = np.zeros(cells, np.int32)
    history = np.zeros(cells, np.int32)
    price = np.zeros(cells, np.int32)
    nobody = np.empty(0, np.int32)
    order = np.empty(n_words, np.int64)
    work = 0
    first_round = True
    for word in range(n_words):
        words.start[word] = -1
        words.cell_size[word] = 0
    least = cells + 1
    for cell in range(cells):
        price[cell] = random_below(room.random, NOISE)
    step = np.int64(0)
    while True:
        raised = np.int64(pressure * 16.0) - step
        if raised:
            step += raised
            for cell in range(cells):
                price[cell] += np.int32(raised * used[cell])
        count = 0
        for word in range(n_words):
            shares = words.start[word] < 0
            for at in range(words.cell_first[word], words.cell_first[word] + words.cell_size[word]):
                if used[words.cells[at]] > 1:
                    shares = True
            if shares:
                order[count] = word
                count += 1
        if count == 0:
            return 0, work
        if work > work_limit:
            break
        _shuffle(order, count, room.random)
        if first_round:
            # Long words first: they have the least choice.
            order[:count] = order[:count][np.argsort(-_lengths(net, words, order[:count]), kind="mergesort")]
            first_round = False
        for index in range(count):
            word = order[index]
            begin = words.cell_first[word]
            if words.start[word] >= 0:
                shares = False
                for at in range(begin, begin + words.cell_size[word]):
                    if used[words.cells[at]] > 1:
                        shares = True
                if not shares:
                    continue
                for at in range(begin, begin + words.cell_size[word]):
                    cell = words.cells[at]
                    used[cell] -= 1
                    price[cell] = history[cell] + np.int32(step * used[cell]) + random_below(room.random, NOISE)
            done = _place(net, rows, words, room, word, extra, period, price, nobody, buffers)
            if done < 0:
                return -1, work
            work += done
            for at in range(begin, begin + words.cell_size[word]):
                cell = words.cells[at]
                used[cell] += 1
                price[cell] += np.int32(step)
        over = 0
        for cell in range(cells):
            if used[cell] > 1:
                over += used[cell] - 1
                rise = np.int32(history_step * (used[cell] - 1))
                history[cell] += rise
                price[cell] += rise
        least = min(least, over)
        pressure = min(pressure * growth, PRESSURE_MOST)
    return least, work


@kernel
def eject(
    net: Net,
    rows: Rows,
    words: WordArrays,
    room: WordScratch,
    period: int,
    n_rows: int,
    extra: int,
    buffers: bool,
    work_limit: int,
) -> tuple[int, int]:
    """Place all words, throwing out those in the way. Returns (least number of words left out, -1: no way; work done)."""
    n_words = words.source.size
    cells = n_rows * period
    owner = np.full(cells, -1, np.int32)
    price = np.empty(cells, np.int32)
    worth = np.full(n_words, 16, np.int32)
    for cell in range(cells):
        price[cell] = random_below(room.random, NOISE)
    queue = np.empty(n_words + 1, np.int64)
    for word in range(n_words):
        words.start[word] = -1
        words.cell_size[word] = 0
        queue[word] = word
    _shuffle(queue, n_words, room.random)
    queue[:n_words] = queue[:n_words][np.argsort(_lengths(net, words, queue[:n_words]), kind="mergesort")]
    waiting = n_words
    least = n_words
    work = 0
    while waiting:
        if work > work_limit:
            return least, work
        waiting -= 1
        word = queue[waiting]
        done = _place(net, rows, words, room, word, extra, period, price, owner, buffers)
        if done < 0:
            return -1, work
        work += done
        begin = words.cell_first[word]
        clash = False
        # A word whose own cells coincide (two links of an orbit, a period shorter than its way) has no place here.
        bad = False
        for a in range(begin, begin + words.cell_size[word]):
            for b in range(begin, a):
                if words.cells[a] == words.cells[b]:
                    bad = True
                    price[words.cells[a]] += 1
        if bad:
            worth[word] += 1
            words.start[word] = -1
            words.cell_size[word] = 0
            queue[waiting] = word
            waiting += 1
            if waiting > 1:
                other = random_below(room.random, waiting)
                queue[waiting - 1], queue[other] = queue[other], queue[waiting - 1]
            work += period
            continue
        for at in range(begin, begin + words.cell_size[word]):
            other = owner[words.cells[at]]
            if other >= 0:
                clash = True
                for cell_at in range(words.cell_first[other], words.cell_first[other] + words.cell_size[other]):
                    cell = words.cells[cell_at]
                    owner[cell] = -1
                    price[cell] = random_below(room.random, NOISE)
                words.start[other] = -1
                words.cell_size[other] = 0
                queue[waiting] = other
                waiting += 1
        if clash:
            worth[word] += 16
        for at in range(begin, begin + words.cell_size[word]):
            cell = words.cells[at]
            owner[cell] = word
            price[cell] = worth[word] + random_below(room.random, NOISE)
        least = min(least, waiting)
        # The last ones thrown out come back first, in random order.
        if waiting > 1:
            depth = min(waiting, 3)
            other = waiting - 1 - random_below(room.random, depth)
            queue[waiting - 1], queue[other] = queue[other], queue[waiting - 1]
    return 0, work
