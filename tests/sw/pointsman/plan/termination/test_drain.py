"""How long a barrier is waited behind for words that routers drop."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.plan.structure.structure import outline
from pointsman.plan.termination.drain import with_drain_delays


@pytest.fixture(scope="module")
def phase() -> PlannedPhase:
    """A phase that a barrier of streams closes."""
    program = compile_text("(loop 'l 5 (stream 'a (runtime) (runtime) :m 2) (cshift 'b 1 :m 40))", topology=mesh(3, 1))
    plan = make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])
    return next(one for one in plan.phases if one.technique == "barrier")


def delayed(phase: PlannedPhase, drain: int) -> PlannedOperator:
    assert phase.barrier is not None
    own = set(range(len(phase.routed.streams))) - {s for one in phase.operators for s in one.streams}
    draining = [replace(one, drain=drain) for one in phase.operators]
    return with_drain_delays(replace(phase.barrier, delays={}), draining, phase.wiring, own)


def test_where_no_word_is_dropped_nobody_waits(phase: PlannedPhase) -> None:
    assert delayed(phase, 0).drain == 0
    assert delayed(phase, 0).delays == {}


def test_no_node_waits_longer_than_words_are_on_their_way(phase: PlannedPhase) -> None:
    found = delayed(phase, 50)
    assert found.drain == 50
    waits = [cycles for node in sorted(phase.nodes) for cycles in found.delays[node]]
    assert all(0 <= cycles <= 50 for cycles in waits)
    assert max(waits) > 0


def test_more_drain_lets_no_node_wait_less(phase: PlannedPhase) -> None:
    less, more = delayed(phase, 20).delays, delayed(phase, 21).delays
    assert all(0 <= b - a <= 1 for node in less for a, b in zip(less[node], more[node], strict=True))
