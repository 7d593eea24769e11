"""Who meets in the barrier that closes a phase, and how long leaving it takes."""

from __future__ import annotations

import pytest

from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.link_slots import command_gap
from pointsman.plan.structure.structure import PhaseOutline, outline
from pointsman.plan.termination import closing_barrier as closing_barrier_module
from pointsman.plan.termination.closing_barrier import (
    change_cycles,
    closing_barrier,
    parts_of,
    phase_name,
    phase_nodes,
    settle_cycles,
)
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import RoutedPhase, Stream

TEXT = "(parallel (subset '((0 1) (4 5)) (broadcast 'a 0)) (subset '((1 2)) (broadcast 'b 0)))"


@pytest.fixture(scope="module")
def phase() -> PhaseOutline:
    (found,) = outline(compile_text(TEXT, topology=mesh(6, 1))).phases
    return found


@pytest.fixture(scope="module")
def routed() -> RoutedPhase:
    streams = [Stream("a[0].s", 0, (1,)), Stream("a[1].s", 4, (5,)), Stream("b[0].s", 1, (2,))]
    return route_phase(streams, mesh(6, 1), NodeShape(), period=16)


def test_instances_that_share_nodes_belong_together(phase: PhaseOutline, routed: RoutedPhase) -> None:
    assert sorted(map(sorted, parts_of(phase, routed))) == [[0, 1, 2], [4, 5]]
    barrier = closing_barrier(phase, routed, [])
    assert [instance.nodes for instance in barrier.instances] == [(0, 1, 2), (4, 5)]
    assert (barrier.label, barrier.kind) == ("a+b end", "barrier")


def test_parts_are_looked_for_once_and_may_be_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    (own,) = outline(compile_text(TEXT, topology=mesh(6, 1))).phases
    streams = [Stream("a[0].s", 0, (1,)), Stream("a[1].s", 4, (5,)), Stream("b[0].s", 1, (2,))]
    routes = route_phase(streams, mesh(6, 1), NodeShape(), period=16)
    first = parts_of(own, routes)
    first[0].clear()
    with monkeypatch.context() as patch:
        patch.setattr(closing_barrier_module, "_groups", None)
        assert sorted(map(sorted, parts_of(own, routes))) == [[0, 1, 2], [4, 5]]
    (other,) = outline(compile_text("(broadcast 'b 0)", topology=mesh(6, 1))).phases
    assert sorted(map(sorted, parts_of(other, routes))) == [[0, 1, 2, 3, 4, 5]], "of other operators"


def test_what_a_later_phase_joins_is_widened_to_a_box(phase: PhaseOutline, routed: RoutedPhase) -> None:
    barrier = closing_barrier(phase, routed, [{2, 4}])
    assert [instance.nodes for instance in barrier.instances] == [(0, 1, 2, 3, 4, 5)]


def test_parts_that_do_without_are_left_out(phase: PhaseOutline, routed: RoutedPhase) -> None:
    barrier = closing_barrier(phase, routed, [], loose=[{4, 5}])
    assert [instance.nodes for instance in barrier.instances] == [(0, 1, 2)]


def test_a_phase_has_its_operators_names_and_nodes(phase: PhaseOutline, routed: RoutedPhase) -> None:
    assert phase_name(phase) == "a+b"
    assert phase_nodes(phase, routed) == {0, 1, 2, 4, 5}


def test_all_have_left_when_the_last_word_is_down_and_the_command_is_taken(routed: RoutedPhase) -> None:
    assert change_cycles(routed) > command_gap(routed)
    assert settle_cycles(routed, range(0)) == change_cycles(routed)
    # A schedule made at run time leaves a single slot for commands.
    late = change_cycles(routed, at_run_time=True) - change_cycles(routed)
    assert late == (routed.period - command_gap(routed)) * Codes(routed.shape).command_words > 0
    assert settle_cycles(routed, range(3), at_run_time=True) == settle_cycles(routed, range(3)) + late
    # A word is a slot longer on its way for each link.
    assert settle_cycles(routed, range(3)) > change_cycles(routed)
