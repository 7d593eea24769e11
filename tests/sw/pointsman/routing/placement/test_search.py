"""Placements: the least of all where few, good ones where many."""

from __future__ import annotations

import itertools

import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.routing.placement.cost import PlacementCost
from pointsman.routing.placement.search import place_tasks


def pipeline(count, **at) -> FlowSet:
    tasks = tuple(Task(str(index), at.get(f"t{index}")) for index in range(count))
    return FlowSet(tasks, tuple(Flow(str(index), index, (index + 1,), 0.25) for index in range(count - 1)))


@pytest.mark.parametrize(
    ("count", "size", "how"), [(4, (2, 3), "least of all placements"), (13, (5, 3), "annealing from 3 starts")]
)
def test_a_pipeline_is_put_on_neighbours(count, size, how):
    net = make_problem(mesh(*size), [])
    found = place_tasks(pipeline(count), net)
    at = found.choices[0]
    assert found.method == how
    assert len(set(at)) == count
    hops = [net.distances(a)[b] for a, b in itertools.pairwise(at)]
    assert sum(hops) <= (count - 1 if count < 6 else count + 2)


def test_annealing_comes_near_the_least_of_all(monkeypatch):
    net = make_problem(mesh(2, 3), [])
    flows = pipeline(5)
    cost = PlacementCost(flows, net)
    least = cost.place_all(list(place_tasks(flows, net).choices[0]))
    monkeypatch.setattr("pointsman.routing.placement.search.EXACT_TASKS", 1)
    found = place_tasks(flows, net)
    assert found.method.startswith("annealing")
    assert cost.place_all(list(found.choices[0])) == pytest.approx(least)


def test_tasks_stay_where_they_are_put_and_off_faulty_nodes():
    net = make_problem(mesh(3, 3), [], dead_nodes=[4])
    at = place_tasks(pipeline(8, t0=8, t7=0), net).choices[0]
    assert (at[0], at[7]) == (8, 0)
    assert 4 not in at
    with pytest.raises(PointsmanError, match="task '0': node 4 is no working node"):
        place_tasks(pipeline(3, t0=4), net)
    with pytest.raises(PointsmanError, match="9 tasks and 8 nodes"):
        place_tasks(pipeline(9), net)


def test_the_same_seed_gives_the_same_placement():
    net = make_problem(mesh(4, 4), [])
    assert place_tasks(pipeline(10), net, seed=3) == place_tasks(pipeline(10), net, seed=3)


def test_no_flows_are_no_trouble():
    assert place_tasks(FlowSet((Task("a"),), ()), make_problem(mesh(2), [])).choices[0] == (0,)
