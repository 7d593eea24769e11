"""Trees that lead from a node to all others, and from all others to a node."""

from __future__ import annotations

from heapq import heappop, heappush

from pointsman.artifacts.routes.routes import RouteProblem


def shortest_tree(net: RouteProblem, root: int, *, inward: bool = False) -> dict[int, int]:
    """For each node but the root the node before it on a shortest way from the root (``inward``: after it on one to the root).

    In the order in which a search finds them, nearest first; nodes that cannot be reached are missing.
    """
    links: list[list[int]] = [[] for _ in range(net.nodes)]
    for u, v in net.links:
        if inward:
            links[v].append(u)
        else:
            links[u].append(v)
    parent: dict[int, int] = {}
    queue = [root]
    for node in queue:
        for after in links[node]:
            if after != root and after not in parent:
                parent[after] = node
                queue.append(after)
    return parent


def avoiding_tree(net: RouteProblem, root: int, links: frozenset[tuple[int, int]]) -> dict[int, int]:
    """For each node but the root the node before it on a way from the root with as few of ``links`` as there can be, and a
    shortest of these; nodes near the root first."""
    cost = {root: 0}
    parent: dict[int, int] = {}
    done: list[int] = []
    rest = [(0, root)]
    while rest:
        price, node = heappop(rest)
        if price > cost[node]:
            continue
        done.append(node)
        for after in net.following[node]:
            new = price + 1 + net.nodes * ((node, after) in links)
            if new < cost.get(after, new + 1):
                cost[after], parent[after] = new, node
                heappush(rest, (new, after))
    return {node: parent[node] for node in done[1:]}


def dimension_tree(net: RouteProblem, root: int) -> dict[int, int]:
    """For each node of a mesh or torus the next on the way to ``root``: along x first, then y and z, never round a ring's end.

    What lies behind a node on such ways are the nodes of a whole interval of numbers, or of a row's end, so partial results are
    those of successive numbers, and can be combined in their order.
    """
    topology = net.topology
    goal = topology.coordinates(root)
    parent: dict[int, int] = {}
    order = sorted(
        range(net.nodes),
        key=lambda node: sum(abs(a - b) for a, b in zip(topology.coordinates(node), goal, strict=True)),
    )
    for node in order:
        place = list(topology.coordinates(node))
        for axis, wanted in enumerate(goal):
            if place[axis] != wanted:
                place[axis] += 1 if wanted > place[axis] else -1
                parent[node] = topology.node_at(*place)
                break
    return parent


def depths(parent: dict[int, int], root: int) -> dict[int, int]:
    """Links between each node and the root; ``parent`` names nodes near the root first."""
    depth = {root: 0}
    for node, before in parent.items():
        depth[node] = depth[before] + 1
    return depth


def middle(net: RouteProblem, nodes: tuple[int, ...]) -> int:
    """A node from and to which no other is far, the lowest such."""
    topology = net.topology
    if topology.regular and not net.dead_nodes and not net.dead_links:
        return topology.node_at(*((extent - 1) // 2 for extent in topology.size))
    tried = nodes[:: max(1, len(nodes) // 256)]
    return min(tried, key=lambda node: (max(net.distances(node)), node))
