"""Trees to several destinations: grown by prices that ignore the slots, given as branches to ``cheapest_path.cheapest``.

The slots of a tree are then chosen exactly, so a tree need only be short and keep off busy nodes.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel


@kernel
def grow(
    source: int,
    ends: np.ndarray,
    allowed: np.ndarray,
    first_link: np.ndarray,
    links_from: np.ndarray,
    link_to: np.ndarray,
    node_price: np.ndarray,
    link_price: np.ndarray,
    children: np.ndarray,
    n_children: np.ndarray,
) -> bool:
    """Grow a tree from ``source`` towards the cheapest next one of ``ends`` each time; False if one cannot be reached.

    ``links_from[first_link[n] : first_link[n + 1]]`` leave node n. ``children[n, : n_children[n]]`` get the links of the
    tree that leave it; -1 children: not in the tree. O(ends × nodes × nodes) at worst.
    """
    nodes = allowed.shape[0]
    missing = np.zeros(nodes, np.bool_)
    left = 0
    for end in ends:
        if end != source and not missing[end]:
            missing[end] = True
            left += 1
    n_children[:] = -1
    n_children[source] = 0
    price = np.zeros(nodes, np.int64)
    by_link = np.zeros(nodes, np.int64)
    by_node = np.zeros(nodes, np.int64)
    # 0: not seen, 1: in the fringe, 2: reached.
    state = np.zeros(nodes, np.int64)
    fringe = np.zeros(nodes, np.int64)
    while left:
        state[:] = 0
        waiting = 0
        for node in range(nodes):
            if n_children[node] >= 0:
                state[node] = 2
        at = -1
        scan = 0
        found = -1
        while True:
            # The nodes of the tree first, then the cheapest of the fringe.
            here = -1
            while scan < nodes and here < 0:
                if n_children[scan] >= 0:
                    here = scan
                scan += 1
            so_far = 0
            if here < 0:
                if not waiting:
                    return False
                at = 0
                for other in range(1, waiting):
                    one, two = fringe[other], fringe[at]
                    if price[one] < price[two] or (price[one] == price[two] and one < two):
                        at = other
                here = fringe[at]
                waiting -= 1
                fringe[at] = fringe[waiting]
                state[here] = 2
                so_far = price[here]
                if missing[here]:
                    found = here
                    break
            for row in range(first_link[here], first_link[here + 1]):
                link = links_from[row]
                to = link_to[link]
                if not allowed[to] or state[to] == 2:
                    continue
                cost = so_far + node_price[here] + link_price[link]
                if state[to] == 0:
                    state[to] = 1
                    fringe[waiting] = to
                    waiting += 1
                elif cost >= price[to]:
                    continue
                price[to] = cost
                by_link[to], by_node[to] = link, here
        missing[found] = False
        left -= 1
        node = found
        n_children[node] = 0
        while True:
            link, before = by_link[node], by_node[node]
            old = n_children[before] >= 0
            if not old:
                n_children[before] = 0
            children[before, n_children[before]] = link
            n_children[before] += 1
            if missing[before]:
                missing[before] = False
                left -= 1
            if old:
                break
            node = before
    return True


@kernel
def tree_of(visits: np.ndarray, ops: np.ndarray, children: np.ndarray, n_children: np.ndarray) -> None:
    """The tree of a chain that has a route."""
    n_children[:] = -1
    for visit in range(visits.shape[0]):
        node, first, count = visits[visit, 0], visits[visit, 7], visits[visit, 8]
        n_children[node] = count
        for leg in range(count):
            children[node, leg] = ops[first + leg, 3]


@kernel
def branches_of_tree(
    source: int,
    ends: np.ndarray,
    link_to: np.ndarray,
    children: np.ndarray,
    n_children: np.ndarray,
    branches: np.ndarray,
    onward: np.ndarray,
) -> tuple[int, int]:
    """Write a tree's branches, parents first; how many there are of them and of onward rows."""
    branches[0, 0] = source
    known, rows, at = 1, 0, 0
    while at < known:
        node = branches[at, 0]
        count = max(n_children[node], 0)
        delivers = 0
        for end in ends:
            if end == node:
                delivers = 1
        branches[at, 1], branches[at, 2], branches[at, 3] = rows, count, delivers
        branches[at, 4], branches[at, 5] = 0, 1 if at == 0 else 0
        for leg in range(count):
            link = children[node, leg]
            onward[rows, 0], onward[rows, 1] = link, known
            rows += 1
            branches[known, 0] = link_to[link]
            known += 1
        at += 1
    return known, rows
