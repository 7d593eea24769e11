"""Streams are routed around what stands."""

from __future__ import annotations

from itertools import combinations

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.errors import RoutingError
from pointsman.routing.phase_router.fixed_routes import fixed_vfsms, registers_held
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.streams import RoutedPhase, Stream

SHAPE = NodeShape()
TOPOLOGY = mesh(2, 2)


def cells(routed: RoutedPhase) -> set[tuple[int, int, int]]:
    return {(v.node, v.pipeline, slot) for chain in routed.chains for v in chain.vfsms for slot in v.slots}


def links(routed: RoutedPhase) -> set[tuple[tuple[int, int], int]]:
    """Links and slots; with aliased handshakes whichever way they are used."""
    found = set()
    for chain in routed.chains:
        for vfsm in chain.vfsms:
            if vfsm.destination.kind == "link":
                end = (vfsm.node, vfsm.destination.number)
                other = TOPOLOGY.at_port[end[0]][end[1]]
                found |= {(min(end, other) if routed.shape.aliased_handshake else end, slot) for slot in vfsm.slots}
    return found


def interface(routed: RoutedPhase, kind: str) -> set[tuple[int, int, int]]:
    """Cells that read or write it."""
    return {
        (v.node, v.pipeline, slot)
        for chain in routed.chains
        for v in chain.vfsms
        if (v.source.kind == "inject" if kind == "reads" else v.destination.kind == "deliver")
        for slot in v.slots
    }


@pytest.mark.parametrize(("period", "aliased"), [(8, False), (12, False), (12, True)])
def test_nothing_is_used_twice(period: int, aliased: bool) -> None:
    shape = NodeShape(aliased_handshake=aliased)
    first = route_phase([Stream("c", 0, (1, 2, 3), max_words=1)], TOPOLOGY, shape, period=period)
    second = route_phase(
        [Stream("d", 3, (0,), max_words=2)], TOPOLOGY, shape, period=period, conditions=PhaseConditions(beside=(first,))
    )
    own = [Stream(f"s{i}", i, ((i + 1) % 4, (i + 2) % 4)) for i in range(4)]
    third = route_phase(
        own, TOPOLOGY, shape, period=period, conditions=PhaseConditions(beside=(first, second)), effort=0.1
    )
    assert third.beside == (first, second)
    everything = (first, second, third)
    for one, other in combinations(everything, 2):
        assert not cells(one) & cells(other)
        assert not links(one) & links(other)
    writes = set().union(*(interface(one, "writes") for one in everything))
    reads = set().union(*(interface(one, "reads") for one in everything))
    assert not {(n, p, (slot + 1) % period) for n, p, slot in writes} & reads
    # A slot for commands is left at every node.
    used = set().union(*map(cells, everything))
    for node in range(4):
        assert any(
            (node, 0, slot) not in used and (node, 0, (slot - 1) % period) not in writes for slot in range(period)
        )


def test_what_stands_in_the_way_is_too_much() -> None:
    full = route_phase([Stream("c", 0, (1,))], mesh(2, 1), NodeShape(pipelines=1), period=4)
    assert full.words(0) >= 1
    narrow = [Stream(f"s{i}", 0, (1,)) for i in range(3)]
    with pytest.raises(RoutingError):
        route_phase(
            narrow, mesh(2, 1), NodeShape(pipelines=1), period=4, conditions=PhaseConditions(beside=(full,)), effort=0.1
        )


def test_rows_are_in_the_numbers_of_the_part() -> None:
    routed = route_phase([Stream("c", 0, (1,), max_words=1)], TOPOLOGY, SHAPE, period=8)
    rows = fixed_vfsms((routed,), {1: 0}, {})
    assert {one.node for one in rows} == {0}
    assert any(one.writes for one in rows)
    assert not any(one.reads for one in rows)
    assert registers_held(rows, 1) == [1]
