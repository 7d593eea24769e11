"""Ways over copies of the network, one for each phase: the published search with hard capacities, and negotiation.

A way costs what its nodes cost, both ends included. Prices go from link count to link count (Bellman and Ford), so that the most
links that a connection may have are kept exactly; every node costs something, so that no way passes a node twice.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .tables import Assignment, State, Tables

FAR = 1e18


@kernel
def route(tables: Tables, state: State, c: int, lowest: int, highest: int) -> float:
    """Cheapest way of connection ``c`` in the phases lowest..highest: into ``state.found`` (phase, nodes) and ``state.way``,
    from the destination back. Returns its cost, FAR if there is none; ``state.cost`` says what nodes cost (FAR: closed)."""
    source, destination = tables.ends[c, 0], tables.ends[c, 1]
    nodes = len(tables.first) - 1
    price, later, via, front, grown = state.price, state.later, state.via, state.front, state.grown
    best = FAR
    for p in range(lowest, highest + 1):
        cost = state.cost[p]
        if cost[source] + cost[destination] >= best:
            continue
        for v in range(nodes):
            price[v] = FAR
            later[v] = FAR
        price[source] = cost[source]
        later[source] = cost[source]
        front[0] = source
        n_front = 1
        h = 0
        while n_front > 0 and h < tables.longest[c]:
            h += 1
            n_grown = 0
            for v in range(nodes):
                via[h, v] = -1
            for k in range(n_front):
                u = front[k]
                if u == destination:
                    continue
                for edge in range(tables.first[u], tables.first[u + 1]):
                    v = tables.head[edge]
                    total = price[u] + cost[v]
                    if total >= later[v] or total >= best:
                        continue
                    if state.link_load[p, edge] >= min(state.link_most[p, edge], tables.sharers[c]):
                        continue
                    if via[h, v] < 0:
                        grown[n_grown] = v
                        n_grown += 1
                    later[v] = total
                    via[h, v] = u
            for k in range(n_grown):
                front[k] = grown[k]
                price[grown[k]] = later[grown[k]]
            n_front = n_grown
        if price[destination] < best:
            best = price[destination]
            state.found[0] = p
            n, v = 0, destination
            while h > 0:
                if via[h, v] >= 0:
                    state.way[n] = v
                    n += 1
                    v = via[h, v]
                h -= 1
            state.way[n] = v
            state.found[1] = n + 1
    return best


@kernel
def add(tables: Tables, state: State, given: Assignment, c: int, sign: int) -> None:
    """Connection ``c`` takes channels and links of its way (``sign`` 1), or leaves them (-1)."""
    p = given.phase[c]
    for k in range(given.lengths[c]):
        v = given.paths[c, k]
        state.load[p, v] += sign
        if k > 0:
            u = given.paths[c, k - 1]
            for edge in range(tables.first[u], tables.first[u + 1]):
                if tables.head[edge] == v:
                    state.link_load[p, edge] += sign
                    break


@kernel
def take(tables: Tables, state: State, given: Assignment, c: int) -> None:
    """Connection ``c`` gets the way that `route` found."""
    given.phase[c] = state.found[0]
    n = state.found[1]
    given.lengths[c] = n
    for k in range(n):
        given.paths[c, k] = state.way[n - 1 - k]
    add(tables, state, given, c, 1)
    _limit_links(tables, state, given, c)


@kernel
def _limit_links(tables: Tables, state: State, given: Assignment, c: int) -> None:
    """A connection with a share of its links for certain lets no more onto them."""
    p = given.phase[c]
    for k in range(1, given.lengths[c]):
        u, v = given.paths[c, k - 1], given.paths[c, k]
        for edge in range(tables.first[u], tables.first[u + 1]):
            if tables.head[edge] == v and tables.sharers[c] < state.link_most[p, edge]:
                state.link_most[p, edge] = tables.sharers[c]


@kernel
def leave(tables: Tables, state: State, given: Assignment, c: int) -> None:
    """Connection ``c`` has no way any more."""
    if given.phase[c] < 0:
        return
    add(tables, state, given, c, -1)
    p = given.phase[c]
    given.phase[c] = -1
    if tables.least_sharers >= len(tables.ends):
        return
    for k in range(1, given.lengths[c]):
        u, v = given.paths[c, k - 1], given.paths[c, k]
        for edge in range(tables.first[u], tables.first[u + 1]):
            if tables.head[edge] == v:
                state.link_most[p, edge] = len(tables.ends) + 1
    for other in range(len(tables.ends)):
        if given.phase[other] == p:
            _limit_links(tables, state, given, other)


@kernel
def take_all(tables: Tables, state: State, given: Assignment) -> None:
    """Whoever has a place in ``given`` takes its channels in an empty ``state``."""
    for c in range(len(tables.ends)):
        if given.phase[c] >= 0:
            add(tables, state, given, c, 1)
            _limit_links(tables, state, given, c)


@kernel
def span(tables: Tables, given: Assignment, c: int, phases: int) -> tuple[int, int]:
    """Phases that connection ``c`` may be in, first and last, as those before and after it are placed."""
    lowest, highest = 0, phases - 1
    for k in range(tables.before_first[c], tables.before_first[c + 1]):
        lowest = max(lowest, given.phase[tables.before[k]])
    for k in range(tables.after_first[c], tables.after_first[c + 1]):
        p = given.phase[tables.after[k]]
        if p >= 0:
            highest = min(highest, p)
    return lowest, highest


@kernel
def place_strictly(
    tables: Tables, state: State, given: Assignment, order: np.ndarray, phases: int, fixed: np.ndarray
) -> int:
    """Route ``order`` one by one where there are channels; how many found no way. A node costs 1 and 1 more for each way."""
    failed = 0
    nodes = len(tables.first) - 1
    for p in range(phases):
        for v in range(nodes):
            state.cost[p, v] = 1.0 + state.load[p, v] if state.load[p, v] < tables.channels else FAR
    for c in order:
        lowest, highest = span(tables, given, c, phases)
        if fixed[c] >= 0:
            lowest = highest = fixed[c]
        if route(tables, state, c, lowest, highest) >= FAR:
            failed += 1
            continue
        take(tables, state, given, c)
        p = given.phase[c]
        for k in range(given.lengths[c]):
            v = given.paths[c, k]
            state.cost[p, v] = 1.0 + state.load[p, v] if state.load[p, v] < tables.channels else FAR
    return failed


@kernel
def negotiate(
    tables: Tables, state: State, given: Assignment, phases: int, fixed: np.ndarray, rounds: int, seed: int
) -> int:
    """Ways that share too few channels at first, and give way to each other as nodes in demand become dear.

    Connections that stand nowhere or pass a node with too many are routed again in each round, in random order; what nodes cost
    grows with the rounds in which they had too many (McMurchie and Ebeling 1995). ``fixed[c]`` is the phase of c, or -1.

    Returns what is left: connections without a way and channels too many, 0 for an answer.
    """
    np.random.seed(seed)
    nodes = len(tables.first) - 1
    history = np.zeros((phases, nodes))
    present = 0.5
    count = len(tables.ends)
    left = 0
    for _ in range(rounds):
        chosen = np.zeros(count, np.bool_)
        for c in range(count):
            p = given.phase[c]
            if p < 0:
                chosen[c] = True
                continue
            for k in range(given.lengths[c]):
                if state.load[p, given.paths[c, k]] > tables.channels:
                    chosen[c] = True
                    break
        for p in range(phases):
            for v in range(nodes):
                state.cost[p, v] = _price(state.load[p, v], tables.channels, history[p, v], present)
        for c in np.random.permutation(count):
            if not chosen[c]:
                continue
            if given.phase[c] >= 0:
                p = given.phase[c]
                leave(tables, state, given, c)
                for k in range(given.lengths[c]):
                    v = given.paths[c, k]
                    state.cost[p, v] = _price(state.load[p, v], tables.channels, history[p, v], present)
            lowest, highest = span(tables, given, c, phases)
            if fixed[c] >= 0:
                lowest = highest = fixed[c]
            if route(tables, state, c, lowest, highest) >= FAR:
                continue
            take(tables, state, given, c)
            p = given.phase[c]
            for k in range(given.lengths[c]):
                v = given.paths[c, k]
                state.cost[p, v] = _price(state.load[p, v], tables.channels, history[p, v], present)
        left = 0
        for c in range(count):
            left += given.phase[c] < 0
        for p in range(phases):
            for v in range(nodes):
                over = state.load[p, v] - tables.channels
                if over > 0:
                    left += over
                    history[p, v] += over
        if left == 0:
            return 0
        present = min(present * 1.3, 1000.0)
    return left


@kernel
def _price(load: int, channels: int, history: float, present: float) -> float:
    """What one way more through a node costs."""
    price = (1.0 + history) * (1.0 + present * max(0, load + 1 - channels))
    return price + 0.01 * load / channels


@kernel
def weighted_distances(tables: Tables, weight: np.ndarray, source: int) -> tuple[np.ndarray, np.ndarray]:
    """Least sum of node weights from ``source`` to each node, both ends included, and the node before each (-1: none)."""
    nodes = len(tables.first) - 1
    price = np.full(nodes, FAR)
    via = np.full(nodes, -1, np.int64)
    queued = np.zeros(nodes, np.bool_)
    queue = np.empty(nodes + 1, np.int64)
    price[source] = weight[source]
    queue[0] = source
    begin, end = 0, 1
    while begin != end:
        u = queue[begin]
        begin = (begin + 1) % (nodes + 1)
        queued[u] = False
        for edge in range(tables.first[u], tables.first[u + 1]):
            v = tables.head[edge]
            if price[u] + weight[v] < price[v]:
                price[v] = price[u] + weight[v]
                via[v] = u
                if not queued[v]:
                    queued[v] = True
                    queue[end] = v
                    end = (end + 1) % (nodes + 1)
    return price, via
