"""Symmetries are found where they are, and not where they are not."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import graph, mesh, torus
from pointsman.routing.ideal_router.symmetry import make_group, no_symmetry, symmetries


def pairs(topology, **options):
    nodes = [node for node in range(topology.nodes) if node not in options.get("dead_nodes", ())]
    return make_problem(topology, [RouteStream(a, (b,)) for a in nodes for b in nodes if a != b], **options)


@pytest.mark.parametrize(
    ("problem", "largest"),
    [
        (pairs(torus(4, 4)), 16),
        (pairs(torus(3, 5)), 15),
        (pairs(torus(2, 3, 2)), 12),
        (pairs(mesh(4, 4)), 4),
        (pairs(mesh(4, 3)), 2),
        (pairs(mesh(5)), 2),
        (pairs(torus(4, 4), dead_nodes=[0]), 1),
        (pairs(torus(4, 4), dead_links=[(0, 1)]), 1),
        (pairs(graph(6, [(n, (n + 1) % 6) for n in range(6)])), 6),
        (pairs(graph(8, [(a, a ^ bit) for a in range(8) for bit in (1, 2, 4) if a < a ^ bit])), 8),
    ],
)
def test_the_largest_group_has_as_many_members(problem, largest):
    assert symmetries(problem)[0].size == largest


def test_streams_that_are_not_kept_leave_no_symmetry():
    streams = [RouteStream(a, ((a + 1) % 4,)) for a in range(4)]
    assert symmetries(make_problem(torus(4), streams))[0].size == 4
    streams[0] = RouteStream(0, (1,), words=2)
    assert [group.name for group in symmetries(make_problem(torus(4), streams))] == ["none"]


def test_every_group_maps_links_to_links_and_streams_to_streams():
    for problem in (pairs(torus(3, 3)), pairs(mesh(3, 3)), pairs(mesh(2, 2, 2))):
        links = set(problem.links)
        for group in symmetries(problem):
            assert len({member.tobytes() for member in group.members}) == group.size
            for member in group.members:
                assert {(member[u], member[v]) for u, v in links} == links
            for index, stream in enumerate(problem.streams):
                leader = problem.streams[group.leader[index]]
                member = group.members[group.by[index]]
                assert (member[leader.source], member[leader.destinations[0]]) == (
                    stream.source,
                    stream.destinations[0],
                )


def test_a_node_that_stays_in_place_needs_turns():
    problem = pairs(mesh(3, 3))
    half = tuple(8 - node for node in range(9))
    assert make_group(problem, "half", [(half, Fraction(0))]) is None
    group = make_group(problem, "half", [(half, Fraction(1, 2))])
    assert group is not None
    assert group.fits(8)
    assert not group.fits(9)


def test_rows_share_cells_exactly_where_members_map_resources():
    problem = pairs(mesh(3, 3))
    group = next(group for group in symmetries(problem) if group.size == 4)
    period = 8
    rows, count = group.rows(problem, period)
    number = {link: index for index, link in enumerate(problem.links)}
    assert rows.row.max() == count - 1
    for member, to in enumerate(group.members):
        for (u, v), index in number.items():
            image = number[to[u], to[v]]
            assert rows.row[image] == rows.row[index]
            turned = (rows.shift[image] - rows.shift[index] - group.shift(member, period)) % period
            assert turned % rows.fold[index] == 0


def test_no_symmetry_gives_every_resource_a_row():
    problem = pairs(mesh(2, 2))
    rows, count = no_symmetry(problem).rows(problem, 5)
    assert count == len(np.unique(rows.row)) == 8 + 2 * 4
