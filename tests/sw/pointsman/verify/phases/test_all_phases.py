"""Views of all phases: which VFSMs continue, and where nodes are called."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

from numesh.codes import Codes
from pointsman.artifacts.images import Images
from pointsman.verify.node.phase_view import phase_views
from pointsman.verify.phases.all_phases import AllPhases


def going_on(by_hand: ModuleType) -> Images:
    """Operator 0 is in phases 0 and 1, where node 0 enters phase 1; operator 1 in phase 2 alone."""
    by = by_hand.ByHand(by_hand.mesh(2), period=4)
    for phase in range(3):
        by.phase(f"p{phase}", successors=((phase + 1) % 3,), technique="msg-sync")
        by.vfsm(phase, 0, 2, "nop", "nop", (0,))
        by.vfsm(phase, 0, 3, "nop", "nop", (2,))
    by.operator(0, "s", "stream")
    by.operator(2, "t", "stream")
    by.role(0, 0)
    by.role(1, 0)
    images = by.images()
    operators = (replace(images.operators[0], continues=(0, 1)), images.operators[1])
    (_, view), other = images.nodes[0].operators
    node = replace(images.nodes[0], operators=((0, replace(view, enters=1)), other))
    return replace(images, operators=operators, nodes=(node, images.nodes[1]))


def phases_of(images: Images) -> AllPhases:
    """VFSM 2 of node 0 is the first operator's in phases 0 and 1, and the second's in phase 2."""
    owners = [{(0, 0, 2): 0}, {(0, 0, 2): 0}, {(0, 0, 2): 1}]
    return AllPhases(images, phase_views(images, Codes(images.shape)), owners)


def test_a_vfsm_is_kept_only_by_an_operator_that_continues(by_hand: ModuleType) -> None:
    phases = phases_of(going_on(by_hand))
    assert phases.continuing(0, 0) == {(0, 2): 0}
    assert phases.continuing(0, 2) == {}
    assert phases.kept(0, 0, 1) == {(0, 2)}
    assert phases.kept(0, 0, 2) == phases.kept(0, 2, 0) == frozenset()
    # After phase 0 comes 1, in which it continues; after 1 comes 2, in which it does not.
    assert phases.lasting(0, 0) == {(0, 2)}
    assert phases.lasting(0, 1) == frozenset()


def test_a_node_is_called_where_load_functions_lead(by_hand: ModuleType) -> None:
    images = going_on(by_hand)
    assert phases_of(images).called(0) == {1, 2}
    # What closes a phase is not called by the application.
    closed = replace(images.phases[2], technique="barrier", barrier=1)
    assert phases_of(replace(images, phases=(*images.phases[:2], closed))).called(0) == {1}


def test_a_phase_is_left_loose_where_nobody_waits_and_it_comes_again(by_hand: ModuleType) -> None:
    images = going_on(by_hand)
    assert phases_of(images).stays_loose(0, 2)
    once = replace(images.phases[2], successors=())
    assert not phases_of(replace(images, phases=(*images.phases[:2], once))).stays_loose(0, 2)
    closed = replace(images.phases[2], technique="barrier", barrier=1)
    assert not phases_of(replace(images, phases=(*images.phases[:2], closed))).stays_loose(0, 2)
