"""Networks with faults: nodes that do not work, and links that carry no words."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from pointsman.errors import PointsmanError

from .topology import Topology, connected


def with_faults(
    topology: Topology, nodes: Iterable[int] = (), links: Iterable[tuple[int, int]] = (), *, apart: bool = False
) -> Topology:
    """``topology`` without ``links``, and without the links of ``nodes``, which become its `Topology.dead`.

    A link with a fault in either direction is left out for both, as its handshake runs against its words. Kind, size and
    coordinates stay, so a program for a mesh means the same on a mesh with faults.

    apart : the nodes that work need not be connected by links, as those of a switch are not.

    >>> from pointsman.network import mesh
    >>> len(with_faults(mesh(2, 2), links=[(0, 1)]).links)
    3

    Raises
    ------
    PointsmanError
        If there is no such node or link, no node is left, or the nodes that work are not connected and not ``apart``.
    """
    dead = frozenset(map(topology.check_node, nodes)) | topology.dead
    known = {frozenset((link.node, link.other)) for link in topology.links}
    cut = set()
    for u, v in links:
        pair = frozenset((topology.check_node(u), topology.check_node(v)))
        if pair not in known:
            raise PointsmanError(f"a faulty link must be a link of the network, not {u} -> {v}")
        cut.add(pair)
    kept = tuple(
        link
        for link in topology.links
        if frozenset((link.node, link.other)) not in cut and dead.isdisjoint((link.node, link.other))
    )
    faulty = replace(topology, links=kept, dead=dead)
    if not faulty.working:
        raise PointsmanError(f"all {topology.nodes} nodes of the network are faulty")
    if not apart and not connected(set(faulty.working), faulty):
        raise PointsmanError(
            f"the faults cut the network in two: no way leads from node {faulty.working[0]} to some other node"
        )
    return faulty
