"""The cost of placements, and annealing, compiled. What the cost is `cost` says; its constants are handed over.

A flow is put on the links of a tree of shortest ways from its source, and taken from them again by walking the same ways. Loads
that a move changes are noted, each link once, so that a move that is undone leaves no trace.
"""

from __future__ import annotations

from math import exp
from typing import NamedTuple

import numpy as np

from pointsman.kernels import kernel


class Board(NamedTuple):
    """Network, flows and what they load, in arrays.

    Parameters
    ----------
    first, after, heads
        ``after[first[n] : first[n + 1]]`` are the links that leave node n; ``heads`` the node that a link leads to.
    first_in, before, tails
        The same for the links that enter a node, and the node that a link leaves.
    ready, into, hops
        By source, once ``ready``: the last link of the way to each node, and the links on it.
    source, first_end, ends, bandwidth, limit
        Tasks, bandwidth and limit of latency (nan: none) of each flow.
    first_of, of
        The flows of each task.
    load : array of float
        Words a slot on each link.
    sums : array of float
        Price of all flows, sum of the squares of loads, sum of loads above 1.
    placed, price, rate, from_node, to_node
        Of each flow; ``to_node`` of each of ``ends``.
    seen, changed, loads, marks, counts
        Links that the move ``counts[0]`` changed, ``counts[1]`` of them in ``changed`` with their loads before it in ``loads``;
        ``marks`` of links that a walk has met, by the number ``counts[2]`` of the walk.
    touched, is_touched, old_price, old_rate, old_from, old_to, old_sums
        Flows that the move touched, ``counts[3]`` of them, and what they were before it.
    constants : array of float
        ``LATE``, ``FULL``, ``NEAR`` and ``CUT_OFF`` of `cost`.
    """

    first: np.ndarray
    after: np.ndarray
    heads: np.ndarray
    first_in: np.ndarray
    before: np.ndarray
    tails: np.ndarray
    ready: np.ndarray
    into: np.ndarray
    hops: np.ndarray
    source: np.ndarray
    first_end: np.ndarray
    ends: np.ndarray
    bandwidth: np.ndarray
    limit: np.ndarray
    first_of: np.ndarray
    of: np.ndarray
    load: np.ndarray
    sums: np.ndarray
    placed: np.ndarray
    price: np.ndarray
    rate: np.ndarray
    from_node: np.ndarray
    to_node: np.ndarray
    seen: np.ndarray
    changed: np.ndarray
    loads: np.ndarray
    marks: np.ndarray
    counts: np.ndarray
    touched: np.ndarray
    is_touched: np.ndarray
    old_price: np.ndarray
    old_rate: np.ndarray
    old_from: np.ndarray
    old_to: np.ndarray
    old_sums: np.ndarray
    constants: np.ndarray


@kernel
def prepare_ways(board: Board, source: int) -> None:
    """Shortest ways from ``source``; of several another one for each pair of ends."""
    if board.ready[source]:
        return
    board.ready[source] = True
    hops, into = board.hops[source], board.into[source]
    hops[:] = -1
    into[:] = -1
    hops[source] = 0
    queue = np.empty(hops.size, np.int64)
    queue[0] = source
    known, done = 1, 0
    while done < known:
        node = queue[done]
        done += 1
        for index in range(board.first[node], board.first[node + 1]):
            other = board.heads[board.after[index]]
            if hops[other] < 0:
                hops[other] = hops[node] + 1
                queue[known] = other
                known += 1
    for at in range(1, known):
        node = queue[at]
        ways = 0
        for index in range(board.first_in[node], board.first_in[node + 1]):
            ways += hops[board.tails[board.before[index]]] == hops[node] - 1
        left = (source + node) % ways
        for index in range(board.first_in[node], board.first_in[node + 1]):
            link = board.before[index]
            if hops[board.tails[link]] == hops[node] - 1:
                if left == 0:
                    into[node] = link
                    break
                left -= 1


@kernel
def _walk(board: Board, flow: int, rate: float) -> int:
    """Add ``rate`` to every link of a flow, once; the number of links."""
    board.counts[2] += 1
    walk, count = board.counts[2], 0
    source = board.from_node[flow]
    into = board.into[source]
    for end in range(board.first_end[flow], board.first_end[flow + 1]):
        node = board.to_node[end]
        while node != source and into[node] >= 0:
            link = into[node]
            if board.marks[link] == walk:
                break
            board.marks[link] = walk
            count += 1
            old = board.load[link]
            if board.seen[link] != board.counts[0]:
                board.seen[link] = board.counts[0]
                board.changed[board.counts[1]] = link
                board.loads[board.counts[1]] = old
                board.counts[1] += 1
            new = old + rate
            board.load[link] = new
            board.sums[1] += new * new - old * old
            board.sums[2] += max(new - 1.0, 0.0) - max(old - 1.0, 0.0)
            node = board.tails[link]
    return count


@kernel
def put(board: Board, flow: int, at: np.ndarray) -> None:
    """Place a flow that is not placed; ``at`` has the nodes of its tasks."""
    source = at[board.source[flow]]
    prepare_ways(board, source)
    board.from_node[flow] = source
    far = cut_off = 0
    for end in range(board.first_end[flow], board.first_end[flow + 1]):
        node = at[board.ends[end]]
        board.to_node[end] = node
        far = max(far, board.hops[source, node])
        cut_off += board.hops[source, node] < 0
    rate = board.bandwidth[flow]
    lateness = 0.0
    if not np.isnan(board.limit[flow]):
        rate = max(rate, 1.0 / max(1.0, board.limit[flow] - far))
        lateness = max(0.0, far + 1.0 - board.limit[flow])
    count = _walk(board, flow, rate)
    board.price[flow] = (
        max(rate, board.constants[2]) * count + board.constants[0] * lateness + board.constants[3] * cut_off
    )
    board.rate[flow] = rate
    board.placed[flow] = True
    board.sums[0] += board.price[flow]


@kernel
def take(board: Board, flow: int) -> None:
    """Take a flow out that was placed."""
    _walk(board, flow, -board.rate[flow])
    board.placed[flow] = False
    board.sums[0] -= board.price[flow]


@kernel
def put_all(board: Board, flows: np.ndarray, at: np.ndarray) -> None:
    """`put` for several flows."""
    for flow in flows:
        put(board, flow, at)


@kernel
def take_all(board: Board, flows: np.ndarray) -> None:
    """`take` for several flows."""
    for flow in flows:
        take(board, flow)


@kernel
def total(board: Board) -> float:
    """The cost of what is placed."""
    return board.sums[0] + board.sums[1] + board.constants[1] * board.sums[2]


@kernel
def move(board: Board, tasks: np.ndarray, at: np.ndarray) -> float:
    """Cost once ``tasks`` are where ``at`` says; the others are where they were."""
    counts = board.counts
    counts[0] += 1
    counts[1] = counts[3] = 0
    board.old_sums[:] = board.sums
    for task in tasks:
        for index in range(board.first_of[task], board.first_of[task + 1]):
            flow = board.of[index]
            if not board.is_touched[flow]:
                board.is_touched[flow] = True
                board.touched[counts[3]] = flow
                counts[3] += 1
    for index in range(counts[3]):
        flow = board.touched[index]
        board.is_touched[flow] = False
        board.old_price[flow], board.old_rate[flow] = board.price[flow], board.rate[flow]
        board.old_from[flow] = board.from_node[flow]
        for end in range(board.first_end[flow], board.first_end[flow + 1]):
            board.old_to[end] = board.to_node[end]
        take(board, flow)
    for index in range(counts[3]):
        put(board, board.touched[index], at)
    return total(board)


@kernel
def undo(board: Board) -> None:
    """Go back to the placement before the last move."""
    counts = board.counts
    for index in range(counts[1]):
        board.load[board.changed[index]] = board.loads[index]
    for index in range(counts[3]):
        flow = board.touched[index]
        board.price[flow], board.rate[flow] = board.old_price[flow], board.old_rate[flow]
        board.from_node[flow] = board.old_from[flow]
        for end in range(board.first_end[flow], board.first_end[flow + 1]):
            board.to_node[end] = board.old_to[end]
    board.sums[:] = board.old_sums
    counts[1] = counts[3] = 0


@kernel
def anneal(
    board: Board,
    at: np.ndarray,
    movable: np.ndarray,
    free: np.ndarray,
    holds: np.ndarray,
    chance: np.random.Generator,
    steps: int,
    heat: float,
    cooling: float,
) -> float:
    """Anneal the placement that ``board`` is at. ``at`` gets the best one; its cost is what is returned.

    ``movable`` are tasks, ``free`` the nodes on which they may be, ``holds`` the task on each node (-1: none).
    """
    price = total(board)
    best, best_price = at.copy(), price
    tasks = np.empty(2, np.int64)
    for _ in range(steps):
        task = movable[chance.integers(0, movable.size)]
        node, old = free[chance.integers(0, free.size)], at[task]
        heat *= cooling
        if node == old:
            continue
        other = holds[node]
        tasks[0], tasks[1] = task, other
        at[task], holds[node], holds[old] = node, task, other
        if other >= 0:
            at[other] = old
        new = move(board, tasks[: 1 + (other >= 0)], at)
        if new <= price or chance.random() < exp((price - new) / heat):
            price = new
            if price < best_price - 1e-9:
                best_price = price
                best[:] = at
            continue
        at[task], holds[old], holds[node] = old, task, other
        if other >= 0:
            at[other] = node
        undo(board)
    at[:] = best
    return best_price
