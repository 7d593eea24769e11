"""Branches that a chain may take: all paths to one end, or one tree."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.branches import Branching, branches_of_paths, branches_of_tree, given_tree
from pointsman.routing.phase_router.problem import RoutingPart, split
from pointsman.routing.streams import Stream


def part_of(stream: Stream) -> RoutingPart:
    ((part, _),) = split([stream], mesh(3, 3), NodeShape(), ())
    return part


def paths(branching: Branching, part: RoutingPart, branch: int) -> list[list[int]]:
    """Nodes of every path from a branch on."""
    node, first, count, delivers, choose, _ = branching.branches[branch].tolist()
    if delivers:
        return [[node]]
    assert choose
    found = []
    for link, to in branching.onward[first : first + count].tolist():
        assert part.links[link] == (node, int(branching.branches[to, 0]))
        found += [[node, *rest] for rest in paths(branching, part, to)]
    return found


@pytest.mark.parametrize(("slack", "counts"), [(0, {5: 6}), (2, {5: 6, 7: 4})])
def test_all_paths_from_corner_to_corner_are_there(slack: int, counts: dict[int, int]) -> None:
    """Six paths of four links; of six links, only those that visit no node twice are counted here."""
    part = part_of(Stream("s", 0, (8,)))
    branching = branches_of_paths(part, part.demands[0], slack)
    assert branching is not None
    roots = [row for row, branch in enumerate(branching.branches.tolist()) if branch[5]]
    assert len(roots) == 1 + slack
    found = [path for root in roots for path in paths(branching, part, root)]
    assert all(path[0] == 0 and path[-1] == 8 for path in found)
    simple = [path for path in found if len(set(path)) == len(path)]
    assert {length: sum(len(path) == length for path in simple) for length in {len(path) for path in simple}} == counts


def test_a_tree_that_is_given_is_taken_as_it_is() -> None:
    tree = ((4, 1), (4, 3), (3, 0))
    part = part_of(Stream("s", 4, (0, 1), tree=tree))
    children = given_tree(part, part.demands[0])
    source = part.demands[0].source
    branching = branches_of_tree(part, source, children, part.demands[0].destinations)
    links = [part.links[link] for link in branching.onward[:, 0].tolist()]
    assert len(branching.branches) == 4
    assert sorted(links) == sorted(part.demands[0].tree or ())
    assert branching.branches[:, 3].sum() == 2
    assert branching.branches[0, 0] == source


def test_without_a_path_there_is_none() -> None:
    part = part_of(Stream("s", 0, (8,), keep_in=frozenset({0, 8})))
    assert branches_of_paths(part, part.demands[0]) is None
