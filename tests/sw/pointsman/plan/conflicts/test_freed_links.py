"""Links of an earlier phase that operators of a later phase may use all the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.freed_links import freed_links
from pointsman.plan.conflicts.happens_before import HappensBefore
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided


@pytest.fixture(scope="module")
def plan() -> Plan:
    """Phase 0 is a stream; in phase 1 another stream comes after an operator that makes both nodes wait for each other."""
    text = "(stream 'a 0 1 :m 40) (allreduce 'b 'add :m 1) (stream 'c 0 1 :m 40)"
    program = compile_text(text, topology=mesh(2, 1))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: i == 0))
    return make_plan(program, NodeShape(), name="x", period=16, structures=[structure])


def test_what_comes_after_an_operator_that_tells_may_write_what_others_must_not(plan: Plan) -> None:
    assert [phase.name for phase in plan.phases] == ["a", "b+c"]
    known = HappensBefore(plan.structure, plan.phases, plan.topology)
    taken = {0: link_writes(plan.phases[0].routed)}
    found = freed_links(known, plan.phases, 1, taken)
    assert found == {("c", 0): frozenset(taken[0])}


def test_an_operator_that_tells_nothing_frees_nothing(plan: Plan) -> None:
    deaf = [
        replace(phase, barrier=None, operators=tuple(replace(one, message_bound=False) for one in phase.operators))
        for phase in plan.phases
    ]
    known = HappensBefore(plan.structure, deaf, plan.topology)
    assert freed_links(known, deaf, 1, {0: link_writes(plan.phases[0].routed)}) == {}


def test_where_nothing_is_taken_nothing_is_freed(plan: Plan) -> None:
    known = HappensBefore(plan.structure, plan.phases, plan.topology)
    assert freed_links(known, plan.phases, 1, {}) == {}
