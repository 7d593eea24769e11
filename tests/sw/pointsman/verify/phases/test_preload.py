"""Operators that are rewritten before their phase is entered: the judge proves that nothing of theirs is on its way, and finds
each fault of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import SYNC, Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.operators.api.loading import Loading
from pointsman.plan.make_plan import make_plan
from pointsman.plan.phases import drafts as phase_planner
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided, outline
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

LOOP = "(loop 'l 5 (allreduce 'a 'f :m 1) (stream 's (runtime) (runtime) :m 6))"
STREAM = 1
"""The phase of the stream, and its operator."""


def images(text: str = LOOP, *size: int) -> Images:
    program = compile_text(text, topology=mesh(*(size or (4,))))
    only = [one for one in IMPLEMENTATIONS if one.kinds[0] != "stream" or one.loading is Loading.LEFT_BETWEEN_USES]
    plan = make_plan(program, NodeShape(), name="test", period=16, structures=[outline(program)], implementations=only)
    return make_images(plan)


@pytest.fixture(scope="module")
def loop() -> Images:
    return images()


def findings(made: Images, rule: str) -> list[str]:
    return [finding.message for finding in check_images(made).findings if finding.rule == rule]


def test_operator_is_rewritten_between_uses_of_its_phase(loop: Images) -> None:
    roles = [role for n in loop.nodes for i, view in n.operators if i == STREAM for role in view.roles]
    assert any(role.rewrites for role in roles)
    assert not any(lane.turn == SYNC for role in roles for lane in role.lanes)
    assert loop.phases[STREAM].technique == "barrier"
    report = check_images(loop)
    assert report.ok, report.render()
    assert report.counts["operators rewritten before they are entered"] == 1


def test_its_phase_may_come_again_without_another_in_between(
    loop: Images, breaks: Callable[[str, str, Images], None]
) -> None:
    # As if the program were (loop 'l 5 (allreduce 'a) (loop 'm 5 (stream 's …))).
    phases = list(loop.phases)
    phases[STREAM] = replace(phases[STREAM], successors=(*phases[STREAM].successors, STREAM))
    breaks(
        "entered",
        "the node may come to it again without another phase in between",
        replace(loop, phases=tuple(phases)),
    )


def test_planner_that_thinks_so_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    # The nodes of a row have nothing to do in the phase in between.
    text = "(loop 'l 5 (subset '((0 1)) (cshift 'a 1 :m 4)) (stream 's (runtime) (runtime) :m 6))"
    monkeypatch.setattr(phase_planner, "always_left_between_uses", lambda *_: True)
    assert "the node may come to it again without another phase in between" in findings(images(text, 2, 2), "entered")


@pytest.mark.parametrize("left_out", [{3}, {0, 1, 2, 3}])
def test_a_barrier_of_some_nodes_is_not_enough(loop: Images, left_out: set[int]) -> None:
    closing = loop.phases[STREAM].barrier
    nodes = tuple(
        replace(node, operators=tuple(pair for pair in node.operators if n not in left_out or pair[0] != closing))
        for n, node in enumerate(loop.nodes)
    )
    made = replace(loop, nodes=nodes)
    assert f"words may still pass node {min(left_out)} when the node rewrites for the next use" in findings(
        made, "entered"
    )


BESIDE = """(parallel (broadcast 'c 0 :m 2) (loop 'l 3 (stream 's (runtime) (runtime) :m 6) (allreduce 'a 'f :m 1)))
(allreduce 'z 'f :m 1)"""
"""Its first phase is the stream's, so the load function of c enters it."""


def beside() -> Images:
    program = compile_text(BESIDE, topology=mesh(4))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    shape = NodeShape(registers=32, vfsms=64)
    return make_images(make_plan(program, shape, name="test", period=16, structures=[structure]))


def test_its_phase_may_not_be_entered_by_what_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not findings(beside(), "entered")
    monkeypatch.setattr(phase_planner, "always_left_between_uses", lambda *_: True)
    assert "the node may come to it by an operator that continues" in findings(beside(), "entered")


def test_nothing_else_may_be_in_its_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phase_planner, "always_left_between_uses", lambda *_: True)
    text = "(loop 'l 5 (allreduce 'a 'f :m 1) (phase (stream 's (runtime) (runtime) :m 6) (cshift 'c 1 :m 4)))"
    assert any("operator c is in its phase as well" in message for message in findings(images(text), "entered"))


def test_words_that_nobody_reads_need_a_delay() -> None:
    # Slow streams on a long line: with the last node late a word waits in each router before it, and each takes a turn.
    right = images("(loop 'l 5 (allreduce 'a 'f :m 1) (stream 's (runtime) (runtime) :m 6 :b 0.06))", 8)
    report = check_images(right)
    assert report.ok, report.render()
    closing = right.phases[STREAM].barrier
    nodes = []
    for node in right.nodes:
        views = tuple(
            (i, replace(view, roles=tuple(replace(r, delay=0) for r in view.roles)) if i == closing else view)
            for i, view in node.operators
        )
        nodes.append(replace(node, operators=views))
    report = check_images(replace(right, nodes=tuple(nodes)))
    assert report.rules == ("message-ends",)
    assert "words that nobody reads may pass when all have met" in report.findings[0].message


def test_nodes_that_meet_while_they_load_rewrite_together() -> None:
    made = make_images(
        make_plan(
            compile_text("(stream 's 3 (runtime) :m 1 :impl 'str_stream_rtdest)", topology=mesh(2, 2)),
            NodeShape(),
            name="t",
        )
    )
    assert check_images(made).ok
    alone = replace(made, operators=(replace(made.operators[0], synchronised=False),))
    assert findings(alone, "structure") == ["words move while it is loaded, and nodes do not rewrite together"] * 4


def test_routers_that_are_rewritten_one_by_one_lead_words_of_all_values_the_same_way(loop: Images) -> None:
    operators = list(loop.operators)
    operators[STREAM] = replace(operators[STREAM], synchronised=False)
    found = findings(replace(loop, operators=tuple(operators)), "entered")
    assert found
    assert all(one.startswith("it is rewritten while words of other values may come to it") for one in found)


def test_the_chains_of_a_broadcast_may_be_rewritten_one_by_one() -> None:
    text = "(broadcast 'b (runtime) :m 9 :impl 'str_bcast_linear)"
    made = make_images(make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="t"))
    assert any(len({role.rewrites for role in view.roles}) > 1 for _, view in made.nodes[1].operators)
    report = check_images(made)
    assert report.ok, report.render()
