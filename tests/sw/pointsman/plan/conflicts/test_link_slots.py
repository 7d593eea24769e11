"""What routed phases do to links and slots."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.plan.conflicts.link_slots import (
    cached_on_phase,
    command_gap,
    forked_writes,
    keep_off,
    link_reads,
    link_writes,
    memberships,
    reprogram_slots,
)
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import RoutedPhase, Stream

PERIOD = 8


@pytest.fixture(scope="module")
def routed() -> RoutedPhase:
    streams = [Stream("s", 0, (3,)), Stream("t", 1, (2, 3)), Stream("u", 3, (0,))]
    return route_phase(streams, mesh(2, 2), NodeShape(), period=PERIOD)


def test_every_write_of_a_link_is_read_at_its_other_end(routed: RoutedPhase) -> None:
    writes, ends = link_writes(routed), routed.topology.at_port
    assert writes
    assert {(*ends[node][port], slot) for node, port, slot in writes} == link_reads(routed)
    assert all(slot in range(PERIOD) for _, _, slot in writes)


def test_the_first_leg_of_a_fork_is_a_write_and_the_second_no_read(routed: RoutedPhase) -> None:
    forked = forked_writes(routed)
    assert forked  # stream t goes on from node 3 to 2, or the other way round
    assert {link for link, _ in forked} <= link_writes(routed)
    for (node, port, slot), pipeline in forked:
        own = [v for chain in routed.chains for v in chain.vfsms if (v.node, v.pipeline) == (node, pipeline)]
        (first,) = (v for v in own if v.destination.kind == "link" and v.destination.number == port and slot in v.slots)
        assert any((slot + 1) % PERIOD in v.slots and v.source == first.destination for v in own)


def test_keeping_off_is_for_both_ends_where_handshakes_share_a_wire(routed: RoutedPhase) -> None:
    assert keep_off(routed, aliased_handshake=False) == link_writes(routed)
    assert keep_off(routed, aliased_handshake=True) == link_writes(routed) | link_reads(routed)


def test_commands_run_in_slots_of_no_vfsm_and_not_right_after_a_word_for_the_processor(routed: RoutedPhase) -> None:
    for node in range(4):
        free = reprogram_slots(routed, node, 0)
        own = [vfsm for chain in routed.chains for vfsm in chain.vfsms if (vfsm.node, vfsm.pipeline) == (node, 0)]
        assert free
        assert set(free).isdisjoint(slot for vfsm in own for slot in vfsm.slots)
        delivers = {(slot + 1) % PERIOD for v in own if v.destination.kind == "deliver" for slot in v.slots}
        assert delivers.isdisjoint(free)
        gaps = [(later - slot - 1) % PERIOD + 1 for slot, later in zip(free, [*free[1:], free[0]], strict=True)]
        assert max(gaps) <= command_gap(routed)


def test_nodes_are_grouped_by_the_phases_in_which_they_have_a_part() -> None:
    assert memberships([{0, 1, 2}, {1}, {2, 3, 1}]) == {(0,): [0], (0, 1, 2): [1], (0, 2): [2], (2,): [3]}


def test_an_answer_is_worked_out_once_for_a_phase(routed: RoutedPhase) -> None:
    asked = []

    @cached_on_phase
    def answer(phase: RoutedPhase) -> list[int]:
        """An answer."""
        asked.append(phase)
        return [len(phase.streams)]

    assert answer(routed) is answer(routed)
    assert len(asked) == 1
    assert answer.__doc__ == "An answer."
