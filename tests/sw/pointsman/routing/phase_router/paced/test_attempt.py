"""Places of an attempt: no two words share a slot of a wire or of a pipeline, nor two accesses a cycle of a processor."""

from __future__ import annotations

from collections import Counter

import pytest

from numesh.shape import NodeShape
from pointsman.cop.compile import compile_text
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.scheduled.in_halves import IN_HALVES
from pointsman.routing.phase_router.paced.attempt import PacedAttempt
from pointsman.routing.phase_router.paced.order import order_of
from pointsman.routing.phase_router.paced.search import FILL
from pointsman.routing.phase_router.problem import NodeLimits, split

SHAPE = NodeShape()
PERIOD = 6


def attempt(size: tuple[int, int], slack: int = 0) -> PacedAttempt:
    topology = mesh(*size)
    (operator,) = compile_text("(allreduce 'o 'add :m 64)", topology=topology).operators()
    streams = IN_HALVES[0].streams(operator, Context(topology, SHAPE))
    ((part, site),) = split(streams, topology, SHAPE, ())
    order = order_of(part, tuple(turn for turn in (streams[k].turn for k in site.streams) if turn is not None), PERIOD)
    assert order is not None
    return PacedAttempt(order, NodeLimits(SHAPE.pipelines, SHAPE.vfsms, SHAPE.registers, True), slack)


@pytest.mark.parametrize("size", [(2, 2), (3, 2), (4, 4)])
@pytest.mark.parametrize("slack", [0, 3])
def test_nothing_is_given_out_twice(size: tuple[int, int], slack: int) -> None:
    made = attempt(size, slack)
    assert made.place(FILL * len(made.due))
    wires: Counter[tuple[int, int]] = Counter()
    cells: Counter[tuple[int, int, int]] = Counter()
    for route, start in made.routes():
        for visit in route.visits:
            for leg, link in enumerate(visit.links):
                wires[made.order.part.wires[link], (start + visit.slot + leg) % PERIOD] += 1
            for leg in range(max(1, len(visit.links) + visit.delivers)):
                cells[visit.node, visit.pipeline, (start + visit.slot + leg) % PERIOD] += 1
    assert max(wires.values()) == 1
    assert max(cells.values()) == 1


def test_accesses_of_a_processor_have_cycles_of_their_own() -> None:
    made = attempt((4, 4))
    assert made.place(FILL * len(made.due))
    taken: Counter[tuple[int, int]] = Counter()
    for k, one in made.at.items():
        demand = made.order.part.demands[k]
        taken[demand.source, one.written % PERIOD] += 1
        for node, cycle in one.reads.items():
            taken[node, cycle % PERIOD] += 1
    assert max(taken.values()) == 1


def test_words_are_not_read_before_they_are_there() -> None:
    made = attempt((4, 4))
    assert made.place(FILL * len(made.due))
    for k, one in made.at.items():
        for j in made.order.read[k]:
            (node,) = made.order.part.demands[j].destinations
            before = made.at[j]
            assert before.start + before.way.arrivals[node] <= before.reads[node] < one.written


def test_few_words_do_not_place_all() -> None:
    made = attempt((4, 4))
    assert not made.place(len(made.due) // 2)


def test_placing_words_again_makes_no_attempt_worse() -> None:
    made = attempt((4, 4))
    assert made.place(FILL * len(made.due))
    before = made.score()
    made.improve(30)
    assert made.score() <= before
