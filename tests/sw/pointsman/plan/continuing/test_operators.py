"""Operators that continue over changes of phase: who may, where they are entered, and what is refused."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.link_slots import kept_links, link_writes
from pointsman.plan.continuing import operators
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import Structure, divided
from pointsman.plan.timeline.timeline import timeline
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

SHAPE = NodeShape(registers=32)


def structure(text: str, size: tuple[int, int] = (2, 2)):
    program = compile_text(text, topology=mesh(*size))
    root = disjoint_tree(program)
    return program, divided(program, root, fold(root, lambda part, i: True))


def planned(text: str, size: tuple[int, int] = (2, 2)) -> Plan:
    program, split = structure(text, size)
    return make_plan(program, SHAPE, name="test", period=16, structures=[split])


def labels(split: Structure) -> list[list[str]]:
    return [[operator.label for operator in phase.operators] for phase in split.phases]


def test_it_is_in_none_of_the_phases_that_it_goes_through() -> None:
    _, split = structure("(barrier 'x) (parallel (broadcast 's 0) (sequential (barrier 'a) (barrier 'b))) (barrier 'y)")
    assert labels(split) == [["x"], ["a"], ["b"], ["y"]]
    (through,) = split.through
    assert (through.operator.label, through.phases) == ("s", (1, 2))


def test_a_plan_with_what_continues() -> None:
    plan = planned("""
        (broadcast 'x 0 :m 4)
        (parallel (broadcast 's 0 :m 4) (loop 'l 3 (cshift 'a 1 :m 12) (broadcast 'b 1 :m 12)))
        (broadcast 'y 3 :m 4)
    """)
    (one,) = plan.continuing
    assert one.phases == (1, 2)
    # It may be over after b only, and then all of its nodes meet.
    assert one.ends == (2,)
    barrier = plan.phases[2].barrier
    assert barrier is not None
    assert barrier.operator.nodes == {0, 1, 2, 3}
    assert one.enters == dict.fromkeys(range(4), 1)
    played = timeline(plan)
    assert played is not None
    assert plan.cycles == played.total
    # Both phases have it beside them, with the same VFSMs, and keep off its slots.
    a, b = plan.phases[1].routed, plan.phases[2].routed
    assert link_writes(one.planned.routed) <= kept_links(a, b)
    for routed in (a, b):
        (beside,) = routed.beside
        own = link_writes(beside)
        assert beside.streams == one.planned.routed.streams
        for chain, first in zip(beside.chains, one.planned.routed.chains, strict=True):
            for vfsm, old in zip(chain.vfsms, first.vfsms, strict=True):
                assert set(vfsm.slots) >= set(old.slots)
                assert vfsm._replace(slots=old.slots) == old
        links = {
            (vfsm.node, vfsm.destination.number, slot)
            for chain in routed.chains
            for vfsm in chain.vfsms
            if vfsm.destination.kind == "link"
            for slot in vfsm.slots
        }
        assert not links & own
        cells = [
            (vfsm.node, vfsm.pipeline, slot)
            for chain in routed.all_chains
            for vfsm in chain.vfsms
            for slot in vfsm.slots
        ]
        assert len(cells) == len(set(cells))


def test_nodes_enter_where_they_have_something_to_do() -> None:
    plan = planned(
        """
        (parallel (broadcast 's 0 :m 4)
          (sequential
            (subset '(0 1) (broadcast 'a 0 :m 9)) (subset '(0 1) (cshift 'b 1 :m 9))))
        """
    )
    (one,) = plan.continuing
    assert [sorted(phase.nodes) for phase in plan.phases] == [[0, 1], [0, 1]]
    assert one.enters == dict.fromkeys(range(4), 0)


def test_a_node_that_could_not_tell_is_refused() -> None:
    with pytest.raises(PlanError, match=r"'s' cannot continue.*node \d cannot tell which of its phases comes first"):
        planned("(parallel (broadcast 's 0 :m 4) (sequential (optional (cshift 'a 1 :m 9)) (cshift 'b 1 :m 9)))")


def test_a_node_that_stays_while_others_go_on_is_refused() -> None:
    with pytest.raises(PlanError, match="'s' cannot continue"):
        planned(
            """
            (parallel (broadcast 's 0 :m 4)
              (loop 'l 2 (cshift 'a 1 :m 2) (subset '(0 1) (broadcast 'b (runtime) :m 2)) (cshift 'c 1 :m 2)))
            """
        )


ROUNDS = """
(loop 'l 2
  (subset '((0 2)) (stream 's 0 1 :m 12))
  (parallel (subset '((0 1)) (stream 'k 0 1 :m 3)) (sequential (reduce 'r 'f 1 :m 2) (broadcast 'b (runtime) :m 3))))
"""


def test_a_node_that_could_not_tell_one_round_from_the_next_is_refused() -> None:
    """Node 0 leaves for s, in which node 1 has nothing to do; node 1 would use k where it is, and wait for node 0 there."""
    with pytest.raises(PlanError, match=r"'k' cannot continue.*node 1 may come to it again past phase 's'.*node 0 has"):
        planned(ROUNDS, (3, 1))


def test_the_judge_finds_a_node_that_could_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operators, "_passed_over", lambda *_: set())
    (finding,) = check_images(make_images(planned(ROUNDS, (3, 1)))).findings
    assert (finding.rule, finding.node, finding.operator) == ("continuing", 1, "k")
    assert "cannot tell one round of the operator from the next" in finding.message


def test_an_operator_that_rewrites_the_router_is_refused() -> None:
    with pytest.raises(PlanError, match="no implementation that can continue"):
        planned("(parallel (broadcast 's (runtime) :m 4) (sequential (cshift 'a 1 :m 9) (cshift 'b 1 :m 9)))")


def test_instances_that_have_nodes_in_common_keep_to_their_own() -> None:
    text = "(parallel (subset '((0 1) (1 2)) (broadcast 's 0 :m 4)) (loop 'l 3 (cshift 'a 1 :m 12) (broadcast 'b 1 :m 12)))"
    plan = planned(text, (3, 1))
    (one,) = plan.continuing
    assert [each.operator.label for each in one.planned.operators] == ["s"]
    report = check_images(make_images(plan))
    assert report.ok, report.render()
