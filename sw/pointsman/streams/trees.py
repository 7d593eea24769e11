"""Links that a stream takes along the path or tree that it prescribes."""

from __future__ import annotations

from .problem import Demand, Part


def given_tree(part: Part, demand: Demand) -> dict[int, list[int]]:
    """Links leaving each node along the tree that the stream prescribes; empty if a link is missing."""
    assert demand.tree is not None
    children: dict[int, list[int]] = {}
    for node, after in demand.tree:
        links = [link for link in part.leaving[node] if part.links[link][1] == after]
        if not links:
            return {}
        children.setdefault(node, []).append(links[0])
    return children
