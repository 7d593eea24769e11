"""Routed chains in the types that the rest of the compiler reads, with ports, virtual VFSM numbers and parents.

Takes the chains of all parts of a phase; gives ``RoutedChain``\\ s with VFSM numbers in the order of streams and chains. Leaves
alone which physical VFSM a number stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from numesh.codes import FIRST_FREE_VFSM, MoveType
from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.routing.streams import Place, RoutedChain, RoutedVfsm, Stream

from .problem import RoutingPart, Site
from .routes import Chain

INJECT, DELIVER, BUFFER = Place("inject"), Place("deliver"), Place("buffer")
"""Places that most chains have; the number of a buffer comes with that of its VFSM."""


@cache
def _link(port: int) -> Place:
    return Place("link", port)


def assemble(
    streams: Sequence[Stream],
    topology: Topology,
    shape: NodeShape,
    period: int,
    placed: Sequence[tuple[Site, RoutingPart, Sequence[Chain]]],
) -> tuple[RoutedChain, ...]:
    """Chains of all parts, by stream and number; VFSM numbers are given out in this order."""
    listed = sorted(
        (
            (site.streams[chain.demand], index, site, chain)
            for site, _, chains in placed
            for index, chain in enumerate(chains)
        ),
        key=lambda item: item[:2],
    )
    numbers: dict[tuple[int, int], int] = {}
    count: dict[int, int] = {}
    routed = []
    for stream, _, site, chain in listed:
        number = count.get(stream, 0)
        count[stream] = number + 1
        routed.append(RoutedChain(stream, number, _vfsms(chain, site, period, numbers)))
    return tuple(routed)


def _vfsms(chain: Chain, site: Site, period: int, numbers: dict[tuple[int, int], int]) -> tuple[RoutedVfsm, ...]:
    vfsms: list[RoutedVfsm] = []
    writer_of: dict[tuple[int, int], int] = {}
    starts = sorted(chain.starts)

    def add(node: int, pipeline: int, kind: MoveType, source: Place, to: Place, slot: int, parent: int) -> int:
        key = node, pipeline
        number = numbers[key] = numbers.get(key, FIRST_FREE_VFSM - 1) + 1
        if to.kind == "buffer":
            to = Place("buffer", number)
        slots = tuple([(start + slot) % period for start in starts])
        vfsms.append(RoutedVfsm(node, pipeline, number, kind, source, to, slots, parent))
        return len(vfsms) - 1

    for index, visit in enumerate(chain.route.visits):
        node = site.nodes[visit.node]
        source = INJECT if visit.parent < 0 else _link(site.ports[visit.link][1])
        parent = -1 if visit.parent < 0 else writer_of[visit.parent, visit.link]
        slot = visit.slot
        if visit.delay:
            parent = add(node, visit.pipeline, MoveType.MOVE, source, BUFFER, slot, parent)
            source = Place("buffer", vfsms[parent].number)
            slot += visit.delay
        kind = MoveType.MOVE
        for link in (*visit.links, *((-1,) if visit.delivers else ())):
            to = DELIVER if link < 0 else _link(site.ports[link][0])
            parent = add(node, visit.pipeline, kind, source, to, slot, parent)
            writer_of[index, link] = parent
            source, kind, slot = to, MoveType.FORK, slot + 1
    return tuple(vfsms)
