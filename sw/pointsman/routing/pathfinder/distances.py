"""Hops from all nodes to one: what tells a router which links lead nearer."""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel


@kernel
def hops_to(
    end: int,
    first_in: np.ndarray,
    links_in: np.ndarray,
    writer: np.ndarray,
    alive: np.ndarray,
    queue: np.ndarray,
    hops: np.ndarray,
) -> None:
    """``hops`` gets the links on the shortest path to ``end`` by node, through nodes that are ``alive``; it comes filled with -1.

    Links ``links_in[first_in[n] : first_in[n + 1]]`` enter node n, ``writer`` is the node that a link comes from; ``queue`` has
    room for all nodes. O(links).
    """
    queue[0] = end
    hops[end] = 0
    known, done = 1, 0
    while done < known:
        node = queue[done]
        done += 1
        for index in range(first_in[node], first_in[node + 1]):
            other = writer[links_in[index]]
            if alive[other] and hops[other] < 0:
                hops[other] = hops[node] + 1
                queue[known] = other
                known += 1
