"""Whose words pass which link."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.conflicts.writers import in_its_turn, left_behind, word_spans, written_by
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline


@pytest.fixture(scope="module")
def plan() -> Plan:
    text = "(parallel (stream 'a 0 2 :m 9) (stream 'b 2 0 :m 9)) (subset '((0 1)) (stream 'c 0 1 :m 9))"
    program = compile_text(text, topology=mesh(3, 1))
    return make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])


def test_words_have_the_operator_and_the_node_that_sends_them(plan: Plan) -> None:
    phase = plan.phases[0]
    links = link_writes(phase.routed)
    found = written_by(phase, links)
    assert found.keys() == links
    senders = {writer for writers in found.values() for writer in writers}
    streams = {(label, frozenset([source])) for label, source in (("a", 0), ("b", 2))}
    assert streams <= senders <= {*streams, (None, frozenset())}
    assert written_by(phase, []) == {}


def test_streams_send_words_when_they_are_used(plan: Plan) -> None:
    assert all(in_its_turn(one) for phase in plan.phases for one in phase.operators)


def test_spans_are_routes_and_instances_with_words_on_the_same_links(plan: Plan) -> None:
    first, second = plan.phases
    spans = word_spans(second, first)
    shared = link_writes(first.routed) & link_writes(second.routed)
    assert bool(spans) == bool(shared)
    assert all(span <= second.nodes for span in spans)
    assert {0, 1, 2} in word_spans(first, first)


def test_without_operators_that_continue_all_is_left_behind(plan: Plan) -> None:
    assert left_behind(plan.phases, plan.structure, 0) is plan.phases[0].routed
