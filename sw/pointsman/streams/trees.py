"""Which nodes and links a stream of several destinations takes: trees grown by prices that ignore the slots.

The slots of a tree are then chosen exactly (``timing``), so a tree need only be short and keep off busy nodes.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

from .problem import Demand, Part


def path_tree(part: Part, demand: Demand) -> dict[int, list[int]]:
    """Links leaving each node along the path that the stream prescribes; empty if a link is missing."""
    assert demand.path is not None
    children: dict[int, list[int]] = {}
    for node, after in zip(demand.path, demand.path[1:], strict=False):
        links = [link for link in part.leaving[node] if part.links[link][1] == after]
        if not links:
            return {}
        children[node] = links[:1]
    return children


def grown_tree(
    part: Part, demand: Demand, node_price: Sequence[float], link_price: Sequence[float]
) -> dict[int, list[int]] | None:
    """Links leaving each node of a tree to all destinations, grown towards the cheapest next one each time.

    Prices are positive; None if a destination cannot be reached. O(destinations × links × log nodes).
    """
    allowed = frozenset(demand.nodes)
    children: dict[int, list[int]] = {demand.source: []}
    missing = set(demand.destinations) - {demand.source}
    while missing:
        reached: dict[int, tuple[float, int]] = {}
        queue = [(0.0, node, -1) for node in sorted(children)]
        heapq.heapify(queue)
        found = -1
        while queue:
            price, node, link = heapq.heappop(queue)
            if node in reached:
                continue
            reached[node] = price, link
            if node in missing:
                found = node
                break
            for onward in part.leaving[node]:
                other = part.links[onward][1]
                if other in allowed and other not in reached and other not in children:
                    heapq.heappush(queue, (price + node_price[node] + link_price[onward], other, onward))
        if found < 0:
            return None
        missing.discard(found)
        node = found
        children[node] = []
        while (link := reached[node][1]) >= 0:
            node = part.links[link][0]
            children.setdefault(node, []).append(link)
    return children
