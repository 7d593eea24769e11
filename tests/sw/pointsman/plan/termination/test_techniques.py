"""Which nodes may leave a phase each for itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import outline
from pointsman.plan.termination.techniques import leaves_nothing, why_not_loose


@pytest.fixture(scope="module")
def phase() -> PlannedPhase:
    """One allreduce of two nodes, message-bound."""
    program = compile_text("(allreduce 'a 'add :m 1) (barrier 'b)", topology=mesh(2, 1))
    return make_plan(program, NodeShape(), name="test", period=16, structures=[outline(program)]).phases[0]


def reason(phase: PlannedPhase, part: set[int], **changes: object) -> str | None:
    (one,) = phase.operators
    return why_not_loose(part, [replace(one, **changes)], phase.routed, None)  # type: ignore[arg-type]


def test_message_bound_operators_of_all_nodes_let_each_go(phase: PlannedPhase) -> None:
    assert reason(phase, {0, 1}) is None


def test_words_that_may_be_buffered_keep_them(phase: PlannedPhase) -> None:
    said = reason(phase, {0, 1}, message_bound=False, clear=False)
    assert said == "messages of the operator (1 words) can be buffered on their way"
    assert reason(phase, {0, 1}, message_bound=False, clear=True) is None


def test_a_node_without_an_operator_keeps_them(phase: PlannedPhase) -> None:
    assert reason(phase, {0, 1, 2}) == "words pass through nodes that take no part"


def test_nothing_is_left_where_routers_are_clear(phase: PlannedPhase) -> None:
    (one,) = phase.operators
    for clear in (False, True):
        assert leaves_nothing([{0, 1}], [replace(one, clear=clear)], None) == clear
