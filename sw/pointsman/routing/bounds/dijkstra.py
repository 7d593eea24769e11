"""Cheapest paths from one node to all (Dijkstra), for prices of any kind of number."""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel


@kernel
def settle(
    source: int,
    best: np.ndarray,
    done: np.ndarray,
    sequence: np.ndarray,
    first: np.ndarray,
    heads: np.ndarray,
    price: np.ndarray,
) -> int:
    """``sequence`` gets the nodes in the order of their distance, ``best`` their prices; how many were reached.

    ``best`` comes with 0 at ``source`` and more than any price elsewhere, ``done`` with nothing; links of node n are ``first[n]``
    to ``first[n + 1]``. O(links × log links).
    """
    heap_price = np.empty(heads.size + 1, price.dtype)
    heap_node = np.empty(heads.size + 1, np.int64)
    heap_price[0] = 0
    heap_node[0] = source
    size = 1
    reached = 0
    while size:
        node = heap_node[0]
        size -= 1
        last_price, last_node = heap_price[size], heap_node[size]
        at = 0
        while True:
            child = 2 * at + 1
            if child >= size:
                break
            if child + 1 < size and heap_price[child + 1] < heap_price[child]:
                child += 1
            if heap_price[child] >= last_price:
                break
            heap_price[at], heap_node[at] = heap_price[child], heap_node[child]
            at = child
        heap_price[at], heap_node[at] = last_price, last_node
        if done[node]:
            continue
        done[node] = True
        sequence[reached] = node
        reached += 1
        for link in range(first[node], first[node + 1]):
            after = heads[link]
            total = best[node] + price[link]
            if not done[after] and total < best[after]:
                best[after] = total
                at = size
                size += 1
                while at and heap_price[(at - 1) // 2] > total:
                    heap_price[at] = heap_price[(at - 1) // 2]
                    heap_node[at] = heap_node[(at - 1) // 2]
                    at = (at - 1) // 2
                heap_price[at] = total
                heap_node[at] = after
    return reached
