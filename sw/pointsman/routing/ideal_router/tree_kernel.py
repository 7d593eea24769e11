"""Place one multicast word: a tree in links and slots, grown from the source to the cheapest destination next."""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .arrays import Net, Rows, WordArrays, WordScratch
from .kernels import FAR, HOP, random_below

WAIT = 2
"""Price of a slot in a node's buffer."""
STARTS = 6
"""Start slots that are tried."""


@kernel
def place_tree(
    net: Net,
    rows: Rows,
    words: WordArrays,
    room: WordScratch,
    word: int,
    extra: int,
    period: int,
    price: np.ndarray,
    buffers: bool,
) -> tuple[int, int, int]:
    """The cheapest tree found over some start slots. Returns (start slot, links, work); links are in ``words``.

    A node is entered once. Without ``buffers`` all branches leave a node in the slot after the word came.
    """
    n_links = net.heads.size
    source = words.source[word]
    begin, end = words.end_first[word], words.end_first[word + 1]
    far = 0
    for at in range(begin, end):
        far = max(far, net.hops[words.ends[at], source])
    deepest = far + extra + (period if buffers else 0)
    deepest = min(deepest, room.state_of.shape[0] - 2)
    first = words.first[word]
    best_cost = int(FAR)
    best_start = -1
    best_size = 0
    work = 0
    links = np.empty(net.first.size, np.int64)
    depths = np.empty(net.first.size, np.int64)
    # Start slots: those with the cheapest injection, ties by chance.
    port = n_links + source
    tries = min(STARTS, period)
    tried = np.zeros(period, np.bool_)
    for _ in range(tries):
        start = -1
        least = int(FAR)
        ties = 0
        for s in range(period):
            if tried[s]:
                continue
            cost = int(price[rows.row[port] * period + (s - rows.shift[port]) % period])
            if cost // 8 < least:
                least = cost // 8
                start = s
                ties = 1
            elif cost // 8 == least:
                ties += 1
                if random_below(room.random, ties) == 0:
                    start = s
        tried[start] = True
        cost, size, done = _grow(net, rows, words, room, word, start, deepest, period, price, buffers, links, depths)
        work += done
        if size and cost < best_cost:
            best_cost = cost
            best_start = start
            best_size = size
            words.links[first : first + size] = links[:size]
            words.depth[first : first + size] = depths[:size]
    return best_start, best_size, work


@kernel
def _grow(
    net: Net,
    rows: Rows,
    words: WordArrays,
    room: WordScratch,
    word: int,
    start: int,
    deepest: int,
    period: int,
    price: np.ndarray,
    buffers: bool,
    links: np.ndarray,
    depths: np.ndarray,
) -> tuple[int, int, int]:
    """Grow the tree of one start slot. Returns (price, links, work); no links if some destination was not reached."""
    nodes = net.first.size - 1
    n_links = net.heads.size
    source = words.source[word]
    port = n_links + source
    total = np.int64(price[rows.row[port] * period + (start - rows.shift[port]) % period])
    tree_depth, wanted = room.tree_depth, room.wanted
    for node in range(nodes):
        tree_depth[node] = -1
        wanted[node] = False
    left = 0
    for at in range(words.end_first[word], words.end_first[word + 1]):
        wanted[words.ends[at]] = True
        left += 1
    tree_depth[source] = 0
    cost = np.empty((deepest + 2, nodes), np.int64)
    came = np.empty((deepest + 2, nodes), np.int64)
    size = 0
    work = 0
    while left:
        # came: link by which the node is entered at this depth, -1 the tree itself, -2 waits here since the depth before.
        cost[:, :] = FAR
        for node in range(nodes):
            if tree_depth[node] >= 0:
                cost[tree_depth[node], node] = 0
                came[tree_depth[node], node] = -1
        found = np.int64(FAR)
        found_depth = -1
        found_node = -1
        for depth in range(deepest + 1):
            work += 4 * n_links + 4 * nodes
            for node in range(nodes):
                here = cost[depth, node]
                if here >= FAR:
                    continue
                if buffers and (node != source or size > 0) and here + WAIT < cost[depth + 1, node]:
                    cost[depth + 1, node] = here + WAIT
                    came[depth + 1, node] = -2
                for link in range(net.first[node], net.first[node + 1]):
                    after = net.heads[link]
                    if tree_depth[after] >= 0:
                        continue
                    at = rows.row[link] * period + (start + depth - rows.shift[link]) % period
                    value = here + price[at] + HOP
                    if wanted[after]:
                        door = n_links + nodes + after
                        value += price[rows.row[door] * period + (start + depth + 1 - rows.shift[door]) % period]
                    if value < cost[depth + 1, after]:
                        cost[depth + 1, after] = value
                        came[depth + 1, after] = link
        # The cheapest destination whose branch enters no node twice.
        floor = np.int64(-1)
        attached = False
        for _ in range(8):
            work += 2 * deepest * nodes
            found = np.int64(FAR)
            for depth in range(1, deepest + 2):
                for node in range(nodes):
                    if wanted[node] and came[depth, node] >= 0 and floor < cost[depth, node] < found:
                        found = cost[depth, node]
                        found_depth = depth
                        found_node = node
            if found >= FAR:
                break
            node = found_node
            depth = found_depth
            entered = 0
            simple = True
            while came[depth, node] != -1:
                link = came[depth, node]
                if link == -2:
                    depth -= 1
                    continue
                depth -= 1
                links[size + entered] = link
                depths[size + entered] = depth
                for other in range(entered):
                    if net.heads[links[size + other]] == net.heads[link]:
                        simple = False
                entered += 1
                if size + entered >= nodes:
                    simple = False
                    break
                node = net.tails[link]
            if not simple:
                floor = found
                continue
            # Parents first.
            for index in range(entered // 2):
                other = entered - 1 - index
                links[size + index], links[size + other] = links[size + other], links[size + index]
                depths[size + index], depths[size + other] = depths[size + other], depths[size + index]
            for index in range(size, size + entered):
                head = net.heads[links[index]]
                tree_depth[head] = depths[index] + 1
                if wanted[head]:
                    wanted[head] = False
                    left -= 1
            size += entered
            total += found
            attached = True
            break
        if not attached:
            return int(FAR), 0, work
    return int(total), size, work
