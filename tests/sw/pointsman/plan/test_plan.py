"""What a plan says of itself: roles worked out when asked for, channels of messages, nodes that leave each for itself."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import RoleDraft
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import LazyRoles, Plan
from pointsman.plan.structure.structure import outline


def plan(text: str, *, split: bool = True) -> Plan:
    program = compile_text(text, topology=mesh(4))
    structures = [outline(program)] if split else None
    return make_plan(program, NodeShape(), name="p", period=16, structures=structures)


def test_roles_are_worked_out_once_each_and_only_when_asked_for() -> None:
    asked: list[tuple[int, int]] = []

    def make(node: int, state: int) -> RoleDraft:
        asked.append((node, state))
        return RoleDraft("none" if state else "write")

    roles = LazyRoles({3, 1, 2}, 2, make, like=lambda node: 1 if node == 3 else node)
    assert list(roles) == [1, 2, 3]
    assert len(roles) == 3
    assert 2 in roles
    assert 0 not in roles
    assert not asked
    assert roles.role(2, 1).kind == "none"
    assert [draft.kind for draft in roles[2]] == ["write", "none"]
    assert asked == [(2, 1), (2, 0)]
    # Those of node 3 are those of node 1, moved.
    assert len(list(roles.distinct())) == 2
    with pytest.raises(KeyError):
        roles.role(0, 0)


def test_nodes_leave_each_for_itself_unless_a_barrier_joins_them_or_nobody_leaves() -> None:
    made = plan("(sequential (broadcast 'a 0 :m 400) (broadcast 'b 0 :m 1) (cshift 'c 1 :m 4))")
    for phase in made.phases:
        met = phase.barrier.operator.nodes if phase.barrier is not None else frozenset()
        assert phase.loose == (frozenset() if phase.technique == "none" else phase.nodes - met)
    assert made.phases[-1].technique == "none"
    assert made.members() == [phase.nodes for phase in made.phases]
    assert made.beside(0) == ()


def test_channels_of_a_message_are_those_on_its_ways() -> None:
    made = plan("(permute 'p (runtime) :m 2 :impl 'dyn_permute)", split=False)
    phase = made.phases[0]
    part = phase.part
    assert part is not None
    ends = [(part.network.channels[c].source, part.network.channels[c].target) for c in part.channels("p")]
    assert {node for pair in ends for node in pair} == {0, 1, 2, 3}
    hops = {pair: len(part.network.way(*pair)) for pair in part.own["p"]}
    assert part.hops("p") == max(hops.values())
    slowest = min(phase.routed.bandwidth(i) for i, s in enumerate(phase.routed.streams) if s in part.streams)
    assert part.bandwidth("p", phase.routed) >= slowest > 0
    assert part.gap("p", phase.routed) == pytest.approx(1 / part.bandwidth("p", phase.routed))
