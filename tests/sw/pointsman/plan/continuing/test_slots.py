"""Slots of operators that continue: more where others leave room, the same ones where they can be, nobody else's anywhere."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from numesh.codes import SHORTEST_RETURN, SHORTEST_STAY, MoveType
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.continuing.slots import _Way
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream


def planned(text: str, *, aliased: bool = False, period: int = 16) -> Plan:
    """On a mesh of 2x2, phases ending wherever they may."""
    program = compile_text(text, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structures = [divided(program, root, fold(root, lambda part, i: True))]
    shape = NodeShape(registers=32, aliased_handshake=aliased)
    return make_plan(program, shape, name="test", period=period, structures=structures)


CROWDED = "(phase (cshift 'a 1 :m 12) (cshift 'b 3 :m 12) (cshift 'c 2 :m 12))"


def words(plan: Plan, phase: int) -> list[int]:
    (beside,) = plan.phases[phase].routed.beside
    return [chain.words for chain in beside.chains]


@pytest.mark.parametrize("aliased", [False, True])
@pytest.mark.parametrize("other", ["(cshift 'f 1 :m 9 :b 0.07)", "(cshift 'f 1 :m 9)"])
def test_more_bandwidth_where_others_have_less_to_do(other: str, aliased: bool) -> None:
    """What is left, or its share before the others are routed; in slots that are nobody else's in any of its phases."""
    plan = planned(f"(parallel (cshift 's 1 :m 400) (loop 'l 2 {CROWDED} {other}))", aliased=aliased)
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
    plan = planned(f"(parallel (cshift 's 1 :m 40) (sequential {crowded} (barrier 'f) (barrier 'g)))", period=24)
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


def test_words_that_wait_in_a_buffer_keep_the_distances_of_the_node() -> None:
    vfsms = (
        RoutedVfsm(0, 0, 2, MoveType.MOVE, Place("inject"), Place("buffer", 2), (0,), -1),
        RoutedVfsm(0, 0, 3, MoveType.MOVE, Place("buffer", 2), Place("link", 1), (SHORTEST_STAY,), 0),
        RoutedVfsm(1, 0, 2, MoveType.MOVE, Place("link", 0), Place("deliver"), (SHORTEST_STAY + 1,), 1),
    )
    topology = mesh(2)
    ends = {(node, port): (node, port) for node, ports in enumerate(topology.at_port) for port in ports}
    chain = RoutedChain(0, 0, vfsms)
    routed = RoutedPhase(NodeShape(), topology, 16, (Stream("s", 0, (1,)),), (chain,))
    assert _Way(routed, chain, ends).gap == SHORTEST_STAY + SHORTEST_RETURN
