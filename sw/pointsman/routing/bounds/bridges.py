"""Bridges: links without which a network falls apart. All words between the two sides cross them.

Complexity O(nodes + links), by a search in depth (Tarjan 1974). A link counts as one of both directions.
"""

from __future__ import annotations

from dataclasses import dataclass

from pointsman.artifacts.routes.routes import RouteProblem


@dataclass(frozen=True)
class Bridge:
    """A bridge from ``near`` to ``far``. ``beyond`` are the nodes on the side of ``far``, as a range of `Bridges.order`."""

    near: int
    far: int
    beyond: range


@dataclass(frozen=True)
class Bridges:
    """``order`` : nodes as a search finds them, part by part if the network has several; ``bridges`` : in this order."""

    order: tuple[int, ...]
    bridges: tuple[Bridge, ...]


def bridges_of(net: RouteProblem) -> Bridges:
    """All bridges between working nodes."""
    beside: list[set[int]] = [set() for _ in range(net.nodes)]
    for u, v in net.links:
        beside[u].add(v)
        beside[v].add(u)
    order: list[int] = []
    found: dict[int, int] = {}
    # For each node the earliest one that what was found after it reaches by a link that the search did not take.
    back: dict[int, int] = {}
    made: list[Bridge] = []
    for root in range(net.nodes):
        if root in net.dead_nodes or root in found:
            continue
        found[root] = back[root] = len(order)
        order.append(root)
        way = [(root, -1, iter(sorted(beside[root])))]
        while way:
            node, before, others = way[-1]
            for other in others:
                if other not in found:
                    found[other] = back[other] = len(order)
                    order.append(other)
                    way.append((other, node, iter(sorted(beside[other]))))
                    break
                if other != before:
                    back[node] = min(back[node], found[other])
            else:
                way.pop()
                if before >= 0:
                    back[before] = min(back[before], back[node])
                    if back[node] == found[node]:
                        made.append(Bridge(before, node, range(found[node], len(order))))
    return Bridges(tuple(order), tuple(sorted(made, key=lambda bridge: bridge.beyond.start)))
