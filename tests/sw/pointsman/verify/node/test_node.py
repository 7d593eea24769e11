"""Views and states of single nodes: slots, roles, and which VFSM takes a word from where."""

from __future__ import annotations

from types import ModuleType

import pytest

from numesh.codes import Codes, MoveType
from pointsman.artifacts.images import Images
from pointsman.verify.node.node import NodeView


def view(images: Images, node: int) -> NodeView:
    return NodeView(images, Codes(images.shape), node, images.nodes[node].phases[0])


def test_slots_are_those_of_the_schedule(by_hand: ModuleType) -> None:
    by = by_hand.ByHand(by_hand.mesh(2), period=8)
    by.phase("p")
    by.vfsm(0, 0, 2, "r2", "+x", (1, 5), pipeline=1)
    by.vfsm(0, 0, 3, "+x", "r3", (6,), pipeline=1)
    node = view(by.images(), 0)
    assert node.slots == {(1, 2): (1, 5), (1, 3): (6,)}
    state = node.state(node.key({}))
    assert state.writes == {(1, 1): [(1, 2)], (1, 5): [(1, 2)]}
    assert state.reads == {(1, 6): [(1, 3)]}
    assert (state.register_readers, state.register_writers) == ({2: [(1, 2)]}, {3: [(1, 3)]})


def test_a_value_chooses_a_role_and_what_it_rewrites(by_hand: ModuleType) -> None:
    images = by_hand.runtime_broadcast_1x3()
    node = view(images, 1)
    (operator,) = node.here.values()
    keys = [node.key({0: value}) for value in range(3)]
    assert keys == [(role,) for role in operator.role_of]
    assert node.key({7: 1}) == node.key({}) == keys[0]
    for key in keys:
        state = node.state(key)
        assert node.state(key) is state
        for rewrite in operator.roles[key[0]].rewrites:
            vfsm = rewrite.pipeline, rewrite.vfsm
            assert state.annotations[vfsm] == rewrite.annotation
            assert rewrite.annotation in node.possible()[vfsm]


def test_a_vfsm_without_a_source_moves_what_others_put_into_its_buffer(by_hand: ModuleType) -> None:
    by = by_hand.ByHand(by_hand.mesh(2), period=8)
    by.phase("p")
    by.vfsm(0, 0, 2, "r2", "b3", (0,))
    by.vfsm(0, 0, 3, "nop", "b4", (2,))
    by.vfsm(0, 0, 4, "nop", "+x", (4,))
    by.vfsm(0, 0, 5, "nop", "+x", (6,))
    node = view(by.images(), 0)
    state = node.state(node.key({}))
    assert [state.moves((0, vfsm)) for vfsm in (2, 3, 4, 5)] == [True, True, True, False]
    assert state.takers((0, 3)) == [(0, 3)]
    # Only what can ever hold a word counts as a writer of the link.
    assert state.writes == {(1, 4): [(0, 4)]}


@pytest.mark.parametrize("slot", range(8))
def test_the_second_leg_is_a_fork_in_the_next_slot(by_hand: ModuleType, slot: int) -> None:
    images = by_hand.broadcast_1x3()
    node = view(images, 1)
    state = node.state(node.key({}))
    legs = {vfsm for vfsm, one in state.annotations.items() if one.type == MoveType.FORK}
    for vfsm, slots in node.slots.items():
        leg = state.fork_leg(vfsm, slot)
        if slot in slots and leg is not None:
            assert leg in legs
            assert (slot + 1) % 8 in node.slots[leg]
            assert state.annotations[vfsm].forked
