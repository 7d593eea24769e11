"""Boxes and rings of collectives."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pointsman.network import Topology, mesh, torus
from pointsman.operators.trees.cycles import cycle_of
from pointsman.runtime.collectives import AT_ONCE, PAIRED, SHIFTS, AllGather, ReduceScatter, boxes_of, shifts_at_once


@pytest.mark.parametrize(
    ("topology", "boxes", "wide"),
    [
        (mesh(1), 1, 1),
        (mesh(3, 3), 1, 9),
        (mesh(4, 4), 1, 16),
        (mesh(8, 8), 4, 16),
        (mesh(6, 4), 1, 24),
        (mesh(6, 3), 3, 6),
        (mesh(4, 4, 4), 4, 16),
        (torus(6, 6), 3, 12),
        (mesh(5, 5), 25, 1),
        (mesh(14), 14, 1),
    ],
    ids=lambda one: f"{one} {one.kind}" if isinstance(one, Topology) else str(one),
)
def test_boxes_hold_all_nodes_and_have_cycles(topology: Topology, boxes: int, wide: int) -> None:
    found = boxes_of(topology)
    assert (len(found), {len(box) for box in found}) == (boxes, {wide})
    assert sorted(node for box in found for node in box) == list(range(topology.nodes))
    assert wide <= AT_ONCE or wide in PAIRED
    if boxes > 1 < wide:
        assert all(len(cycle_of(box, topology)) == wide for box in found)
    assert AllGather("g", topology, 3).way == (
        "str_bcast_round" if all(len(cycle_of(box, topology)) == wide for box in found) else None
    )


@pytest.mark.parametrize(("topology", "ring"), [(mesh(4, 4), False), (mesh(8, 8), False), (mesh(5, 5), True)], ids=str)
def test_few_boxes_exchange_by_broadcasts_along_one_dimension(topology: Topology, ring: bool) -> None:
    gather = AllGather("g", topology, 3)
    assert gather.ring is ring
    if not ring:
        for alike in zip(*gather.boxes, strict=True):
            assert sum(len(set(places)) > 1 for places in zip(*map(topology.coordinates, alike), strict=True)) < 2


def test_partial_sums_pass_neighbours_where_they_can() -> None:
    def near(topology: Topology) -> list[bool]:
        ring = ReduceScatter("s", topology, 1).ring
        assert sorted(ring) == list(range(topology.nodes))
        ends = [{other for other, _ in topology.at_port[node].values()} for node in range(topology.nodes)]
        return [b in ends[a] for a, b in pairwise((*ring, ring[0]))]

    assert all(near(mesh(4, 4)))
    assert all(near(torus(3, 5)))
    assert near(mesh(3, 3)).count(False) == 1, "no cycle goes through all, so the last is far from the first"
    assert near(mesh(3, 3, 3)).count(False) == 1


@pytest.mark.parametrize(
    "topology", [mesh(1), mesh(2), mesh(3, 3), mesh(4, 4), torus(3, 5), mesh(5, 5), mesh(8, 8)], ids=str
)
def test_every_distance_is_in_one_group_that_finds_registers(topology: Topology) -> None:
    groups = shifts_at_once(topology)
    assert sorted(d for group in groups for d in group) == list(range(1, topology.nodes))
    assert all(1 <= len(group) <= SHIFTS for group in groups)
    assert max(map(len, groups), default=0) - min(map(len, groups), default=0) <= 1


def test_groups_but_for_the_last_lead_back() -> None:
    for group in shifts_at_once(mesh(4, 4))[:-1]:
        assert sum(16 - distance in group for distance in group) >= 4
