"""Where every candidate has a phase that cannot be planned, others without it are."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan import sharing
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.candidates import find_candidates
from pointsman.plan.candidates.remedies import remedies
from pointsman.plan.cost import cost_model
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.program.program import Program
from pointsman.routing.phase_router import turn_order
from pointsman.targets.c.implementations import lacking

NODE = NodeShape(pipelines=1)
WITHOUT_MESSAGES = tuple(one for one in IMPLEMENTATIONS if lacking(one) is None)
"""Those of the driver in C: where no schedule has room processors cannot pass on messages either."""
TYPES = """
    (cshift 'o0 2 :m 16 :type 'float32*)
    (barrier 'o1)
    (loop 'l2 2 (broadcast 'o2 1 :m 2 :type 'int64*) (barrier 'o3))
    (reduce 'o4 'min 1 :m 64 :type 'int64*)
    (transpose 'o5 (make-1d 'x) (make-1d 'y) :type 'int32)
    (permute 'o6 '(5 1 2 4 3 0) :type 'int64)
    (loop 'l7 4 (reduce 'o7 'min 0 :type 'float64))
    (broadcast 'o8 2 :m 16 :type 'int32*)
"""
RUNTIME = """
    (reduce 'a 'max (runtime) :m 4 :type 'float32*)
    (prefix 'b 'min :type 'int32)
    (cshift 'c (runtime) :m 4 :type 'float64*)
"""


def program(text: str, size: tuple[int, int] = (2, 3)) -> Program:
    return compile_text(text, topology=mesh(*size))


def planned(text: str, size: tuple[int, int] = (2, 3)) -> Plan:
    return make_plan(program(text, size), NODE, name="x", implementations=WITHOUT_MESSAGES)


def test_a_phase_without_room_is_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside 'o0' the phase of 'o1', 'o2' and 'o3' needs a barrier; nine phases, one for each operator, have 8 slots each. If
    'o1' and 'o3' had their streams in common, there would be room; if doubles had their slots in turn, or estimates told that
    shifts need a barrier, other divisions would be tried."""
    monkeypatch.setattr(cost_model, "SHIFTS", ())
    monkeypatch.setattr(sharing, "_ends", lambda *_: None)
    monkeypatch.setattr(turn_order, "LONGEST", 1)
    found = planned(TYPES)
    assert found.phases[0].routed.period == 16
    assert ["o1"] in [[one.operator.label for one in phase.operators] for phase in found.phases]


def test_an_operator_whose_phase_has_no_room_is_done_in_another_way() -> None:
    """A reduction to any node and the barrier behind it need more interface registers than the node has."""
    ways = {one.operator.label: one.implementation.name for phase in planned(RUNTIME).phases for one in phase.operators}
    assert ways["a"] == "sch_reduce"


def test_operators_that_cannot_share_a_phase_are_refused_with_the_reason() -> None:
    with pytest.raises(PlanError) as caught:
        planned("(parallel (eoshift 'a (runtime) :m 20) (sequential (broadcast 'b 0 :m 64) (barrier 'c)))", (3, 3))
    assert caught.value.message == (
        "<cop>:1:11: phase 'a+b+c' cannot be routed with 16 slots: operator 'a' shares it, and what can do that operator "
        "(sch_shift) needs a phase of its own"
    )


def test_least_is_changed_first() -> None:
    analysis = ProgramAnalysis(
        program("(barrier 'a) (barrier 'b) (barrier 'c)"), Context(mesh(2, 3), NODE), WITHOUT_MESSAGES
    )
    (whole, *_) = [
        one for one in find_candidates(analysis, period=16, effort=1.0).ways if len(one.structure.phases) == 1
    ]
    (variant, first), *others = remedies(analysis, whole.variant, whole.structure, {"a", "b"}, 16)
    assert variant is whole.variant
    assert [[one.label for one in phase.operators] for phase in first.phases] == [["a"], ["b", "c"]]
    assert all(variant.analysis.chosen.keys() & {"a", "b"} for variant, _ in others)
    assert "str_barrier_tree" in {variant.analysis.chosen.get("a") for variant, _ in others}
