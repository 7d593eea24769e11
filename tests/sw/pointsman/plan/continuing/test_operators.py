"""Operators that continue over changes of phase: who may, where they are entered, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.link_slots import kept_links, link_writes
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import Structure, divided
from pointsman.plan.timeline.timeline import timeline
from pointsman.routing.streams import RoutedPhase

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
                assert replace(vfsm, slots=old.slots) == old
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


CROWDED = "(phase (cshift 'a 1 :m 12) (cshift 'b 3 :m 12) (cshift 'c 2 :m 12))"


def words(plan: Plan, phase: int) -> list[int]:
    (beside,) = plan.phases[phase].routed.beside
    return [chain.words for chain in beside.chains]


@pytest.mark.parametrize("aliased", [False, True])
@pytest.mark.parametrize("other", ["(cshift 'f 1 :m 9 :b 0.07)", "(cshift 'f 1 :m 9)"])
def test_more_bandwidth_where_others_have_less_to_do(other: str, aliased: bool) -> None:
    """What is left, or its share before the others are routed; in slots that are nobody else's in any of its phases."""
    program, split = structure(f"(parallel (cshift 's 1 :m 400) (loop 'l 2 {CROWDED} {other}))")
    shape = replace(SHAPE, aliased_handshake=aliased)
    plan = make_plan(program, shape, name="test", period=16, structures=[split])
    assert min(words(plan, 1)) >= 2 * max(words(plan, 0)) or aliased
    assert all(few <= many for few, many in zip(words(plan, 0), words(plan, 1), strict=True))
    at_port = plan.topology.at_port

    def wires(routed: RoutedPhase) -> set[tuple[int, int, int]]:
        found = link_writes(routed)
        return found | {(*at_port[n][port], slot) for n, port, slot in found} if aliased else found

    for own, others in ((0, 1), (1, 0), (0, 0), (1, 1)):
        (beside,) = plan.phases[own].routed.beside
        assert not wires(beside) & wires(replace(plan.phases[others].routed, beside=()))
    # An operator that has more in some phases is quicker than with the slots of the busiest alone.
    (one,) = plan.continuing
    assert one.planned.cycles <= 400 * 16 / min(words(plan, 0)) + 100


def test_old_slots_come_first() -> None:
    """Where the bandwidth is the same, the slots are."""
    crowded = "(parallel (cshift 'a 1 :m 40) (cshift 'b -1 :m 40) (broadcast 'c 0 :m 40) (cshift 'd 1 :m 40))"
    program, split = structure(f"(parallel (cshift 's 1 :m 40) (sequential {crowded} (barrier 'f) (barrier 'g)))")
    plan = make_plan(program, SHAPE, name="test", period=16, structures=[split])
    starts = [[set(chain.vfsms[0].slots) for chain in plan.phases[p].routed.beside[0].chains] for p in range(3)]
    for before, after in pairwise(starts):
        for one, other in zip(before, after, strict=True):
            assert one <= other or other <= one, "as many of the old ones as there can be"
    assert any(one < other for one, other in zip(starts[0], starts[1], strict=True))


def test_the_same_slots_where_threads_go_their_own_ways() -> None:
    plan = planned(
        """
        (parallel (broadcast 's 0 :m 40)
          (parallel
            (subset '(0 1) (loop 'l 2 (cshift 'a 1 :m 9) (cshift 'b 1 :m 9 :b 0.07)))
            (subset '(2 3) (loop 'r 2 (cshift 'c 1 :m 9 :b 0.07) (broadcast 'd 1 :m 9)))))
        """
    )
    (one,) = plan.continuing
    assert plan.structure.threads is not None
    assert all(plan.phases[p].routed.beside == (one.planned.routed,) for p in one.phases)


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


def test_an_operator_that_rewrites_the_router_is_refused() -> None:
    with pytest.raises(PlanError, match="no implementation that can continue"):
        planned("(parallel (broadcast 's (runtime) :m 4) (sequential (cshift 'a 1 :m 9) (cshift 'b 1 :m 9)))")
