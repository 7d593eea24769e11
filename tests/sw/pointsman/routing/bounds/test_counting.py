"""Bounds by counting, in both models."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh, torus
from pointsman.routing.bounds.capacity import Capacity
from pointsman.routing.bounds.counting import limits, possible_period
from pointsman.routing.bounds.ideal import counted_bounds
from pointsman.routing.bounds.numesh import numesh_bounds


def all_to_all(topology):
    nodes = range(topology.nodes)
    return make_problem(topology, [RouteStream(a, (b,)) for a in nodes for b in nodes if a != b])


TORUS = (8, 15, 24, 35, 48, 64, 90, 125)
MESH = (8, 16, 30, 54, 84, 128, 180, 250)


@pytest.mark.parametrize("side", range(3, 11))
def test_all_to_all_has_the_bounds_of_the_marks(side):
    assert counted_bounds(all_to_all(torus(side, side)))[0].value == TORUS[side - 3]
    assert counted_bounds(all_to_all(mesh(side, side)))[0].value == MESH[side - 3]


def test_each_kind_names_what_is_full():
    problem = make_problem(mesh(4), [RouteStream(0, (3,), words=2), RouteStream(1, (3,)), RouteStream(0, (1,))])
    found = {limit.kind: limit for limit in limits(problem, Capacity(None))}
    assert (found["injection"].nodes, found["injection"].streams) == ((0,), (0, 2))
    assert (found["ejection"].nodes, found["ejection"].need) == ((3,), 3)
    assert found["hop capacity"].throughput == Fraction(6, 9)
    assert len(found["cut"].links) == 1
    assert found["cut"].need == 3


def test_a_faulty_link_narrows_the_cut():
    streams = [RouteStream(0, (3,), words=4), RouteStream(1, (2,), words=4)]
    assert counted_bounds(make_problem(mesh(2, 2), streams))[0].value == 4
    bounds = counted_bounds(make_problem(mesh(2, 2), streams, dead_links=[(0, 2), (2, 3)]))
    # All eight words leave nodes 0 and 1 by the one link that is left.
    assert (bounds[0].value, bounds[0].kind, bounds[0].links) == (8, "cut", ((1, 3),))


def test_counting_slots_forbids_what_ports_alone_would_allow():
    # Two nodes that send to each other and nothing else: one slot, one link each way; every port is always busy.
    swap = make_problem(mesh(2), [RouteStream(0, (1,)), RouteStream(1, (0,))])
    assert possible_period(swap, 1)
    # Ways of 752 links in all modulo 15 do not fit the 15 slots of all-to-all on a torus of 16, unless some are longer.
    problem = all_to_all(torus(4, 4))
    assert not possible_period(problem, 15, detours=False)
    assert possible_period(problem, 15)
    assert possible_period(problem, 16, detours=False)
    assert possible_period(replace(problem, buffers=True), 15, detours=False)


def test_numesh_bounds_are_sorted_and_name_the_back_to_back_rule():
    problem = make_problem(mesh(3, 3), [RouteStream(0, (8,)), RouteStream(8, (0,)), RouteStream(2, (8,))])
    found = numesh_bounds(problem, 64)
    assert [bound.value for bound in found] == sorted(bound.value for bound in found)
    assert {"injection", "ejection", "hop capacity", "cut", "linear program"} <= {bound.kind for bound in found}
    few = replace(problem, shape=replace(problem.shape, registers=3))
    # One register for node 8, which takes from two and sends to one.
    assert (numesh_bounds(few, 64)[0].kind, numesh_bounds(few, 64)[0].value) == ("back-to-back", 1 / 6)
    large = numesh_bounds(make_problem(mesh(17, 17), [RouteStream(0, (288,))]), 64)
    assert "link and node prices" in {bound.kind for bound in large}
    assert numesh_bounds(make_problem(mesh(2), []), 64) == []
