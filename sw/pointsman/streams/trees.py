"""Links that a stream takes along the path that it prescribes."""

from __future__ import annotations

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
