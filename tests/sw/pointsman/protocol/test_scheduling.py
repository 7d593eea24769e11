"""What schedules made at run time cost, against those that the run time makes."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.protocol.scheduling import moves_of, schedule_cost, typical_permutation
from pointsman.runtime.numesh.scheduling.made import schedule_moves
from pointsman.targets.numesh import make_images


def test_moves_of_a_shift_end_at_the_edge_or_go_round() -> None:
    assert moves_of("eoshift", (2, 4, 6), -1) == ((4, 2), (6, 4))
    assert moves_of("cshift", (2, 4, 6), -1) == ((2, 6), (4, 2), (6, 4))
    assert moves_of("eoshift", (2, 4, 6), 3) == ()
    assert moves_of("permute", (2, 4, 6), 0, (1, 0, 2)) == ((2, 4), (4, 2), (6, 6))


def test_typical_permutations_name_each_node_once_and_differ() -> None:
    some = [typical_permutation(16, number) for number in range(8)]
    assert all(sorted(one) == list(range(16)) for one in some)
    assert len(set(some)) == 8
    assert some == [typical_permutation(16, number) for number in range(8)]


@pytest.mark.parametrize("m", [1, 20])
@pytest.mark.parametrize("size", [(2, 2), (4, 4), (6, 6)])
def test_cycles_of_a_schedule_are_those_that_the_run_time_charges(size: tuple[int, ...], m: int) -> None:
    topology, shape = mesh(*size), NodeShape()
    nodes = range(topology.nodes)
    text = f"(loop 'l 8 (eoshift 's (runtime) :m {m} :impl 'sch_shift_runtime))"
    images = make_images(make_plan(compile_text(text, topology=topology), shape, name="shift"))
    # Of messages of one word nothing is guessed; of others how many words a period find slots.
    exact = 0.01 if m == 1 else 0.6
    for distance in (1, -2, 3, topology.nodes // 2, topology.nodes - 1):
        moves = moves_of("eoshift", nodes, distance)
        made = schedule_moves(images, 0, 0, moves)
        cost = schedule_cost(topology, shape, moves, images.period, m)
        assert not made.hops
        assert cost.cycles == pytest.approx(made.cycles, rel=exact), distance


def test_what_goes_nowhere_costs_nothing() -> None:
    assert schedule_cost(mesh(2, 2), NodeShape(), ((1, 1), (3, 3)), 16, 5).cycles == 0
