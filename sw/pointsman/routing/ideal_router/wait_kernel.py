"""Place one unicast word where nodes may keep words in buffers: the slots of its links are free to choose one by one."""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .arrays import Net, Rows, WordArrays, WordScratch
from .kernels import FAR, HOP
from .tree_kernel import WAIT


@kernel
def place_waiting(
    net: Net, rows: Rows, words: WordArrays, room: WordScratch, word: int, extra: int, period: int, price: np.ndarray
) -> tuple[int, int, int]:
    """The cheapest way on the shortest ways' links (``extra`` has no use here: waiting does what a detour would).

    Returns (start slot, links, work); links and their depths are in ``words``.
    """
    n_links = net.heads.size
    nodes = net.first.size - 1
    source = words.source[word]
    end = words.ends[words.end_first[word]]
    to_end = net.hops[end]
    first = words.first[word]
    best, state_of, state_node = room.best, room.state_of, room.state_node
    shortest = to_end[source]
    work = 0
    # best[k, t]: the cheapest way of being at node k's port in slot t; state by node, since each lies on one level.
    state_node[0] = source
    state_of[0, source] = 0
    port = n_links + source
    for t in range(period):
        best[0, t] = price[rows.row[port] * period + (t - rows.shift[port]) % period]
    low, high = 0, 1
    count = 1
    for _ in range(shortest):
        for at in range(low, high):
            node = state_node[at]
            for link in range(net.first[node], net.first[node + 1]):
                after = net.heads[link]
                if to_end[after] < 0 or to_end[after] != to_end[node] - 1:
                    continue
                if state_of[0, after] < 0:
                    if count == best.shape[0]:
                        continue
                    state_of[0, after] = count
                    state_node[count] = after
                    best[count, :period] = FAR
                    count += 1
                into = best[state_of[0, after]]
                for t in range(period):
                    cost = best[at, t] + price[rows.row[link] * period + (t - rows.shift[link]) % period] + HOP
                    later = t + 1 if t + 1 < period else 0
                    if cost < into[later]:
                        into[later] = cost
                work += period
        low, high = high, count
        # Waiting, twice round the period.
        for at in range(low, high):
            if state_node[at] == end:
                continue
            for t in range(1, 2 * period):
                cost = best[at, (t - 1) % period] + WAIT
                if cost < best[at, t % period]:
                    best[at, t % period] = cost
            work += 2 * period
    at = state_of[0, end]
    size = 0
    start = -1
    if at >= 0:
        door = n_links + nodes + end
        found = np.int64(FAR)
        slot = 0
        for t in range(period):
            cost = np.int64(best[at, t]) + price[rows.row[door] * period + (t - rows.shift[door]) % period]
            if cost < found:
                found = cost
                slot = t
        node = end
        back = 0
        size = shortest
        for index in range(shortest - 1, -1, -1):
            # Back to the slot in which the word came to this node, then over the link.
            taken = -1
            for _ in range(period):
                value = best[state_of[0, node], slot]
                before_slot = (slot - 1) % period
                for entering in range(net.in_first[node], net.in_first[node + 1]):
                    link = net.in_links[entering]
                    before = net.tails[link]
                    state = state_of[0, before]
                    if state < 0 or to_end[before] != to_end[node] + 1:
                        continue
                    cell = rows.row[link] * period + (before_slot - rows.shift[link]) % period
                    if best[state, before_slot] + price[cell] + HOP == value:
                        taken = link
                        break
                if taken >= 0:
                    break
                slot = before_slot
                back += 1
            words.links[first + index] = taken
            slot = (slot - 1) % period
            back += 1
            words.depth[first + index] = -back
            node = net.tails[taken]
        start = slot
        for index in range(size):
            words.depth[first + index] += back
    for at in range(count):
        state_of[0, state_node[at]] = -1
    return start, size, work
