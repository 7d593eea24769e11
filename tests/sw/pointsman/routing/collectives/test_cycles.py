"""Cycles are of working links and pass each node once."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh, torus
from pointsman.network.lattice import diamond
from pointsman.routing.collectives.cycles import cycle_through


def check(net) -> int:
    cycle = cycle_through(net)
    links = set(net.links)
    assert len(set(cycle)) == len(cycle)
    assert all(hop in links for hop in pairwise([*cycle, *cycle[:1]]) if cycle)
    return len(cycle)


@pytest.mark.parametrize("size", [(2, 2), (3, 4), (4, 3), (5, 6, 3), (3, 3, 2), (2, 1, 5), (7, 8)])
def test_meshes_with_an_even_side_have_a_cycle_through_all_nodes(size):
    net = make_problem(mesh(*size), [])
    assert check(net) == net.nodes


@pytest.mark.parametrize("size", [(3, 3), (5, 7), (9, 3), (3, 3, 3), (3, 7, 5), (5, 1, 3), (5,), (4, 5), (1, 3, 5)])
def test_tori_have_a_cycle_through_all_nodes(size):
    net = make_problem(torus(*size), [])
    assert check(net) == net.nodes


@pytest.mark.parametrize("size", [(3, 3), (5, 7), (9, 3), (3, 3, 3)])
def test_meshes_of_odd_sides_have_one_through_all_but_one(size):
    net = make_problem(mesh(*size), [])
    assert check(net) == net.nodes - 1


def test_other_networks_have_a_long_one():
    assert check(make_problem(mesh(6, 6), [], dead_nodes=[0])) == 34
    # Of the 64 nodes two of one colour and one of the other are faulty.
    assert check(make_problem(mesh(8, 8), [], dead_nodes=[9, 20, 33])) >= 58
    assert check(make_problem(torus(5, 7), [], dead_nodes=[3, 17])) == 33
    assert check(make_problem(torus(5, 7), [], dead_nodes=[0, 9, 20], dead_links=[(1, 2), (2, 1)])) == 32
    assert check(make_problem(diamond(3), [])) >= 6
    assert check(make_problem(mesh(5), [])) == 2
    assert check(make_problem(mesh(1), [])) == 0
