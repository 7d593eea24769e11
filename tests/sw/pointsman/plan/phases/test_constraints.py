"""Constraints are values: each change gives new ones and leaves the old alone."""

from __future__ import annotations

from pointsman.plan.phases.constraints import Constraints
from pointsman.routing.streams import Stream

A, B, C = (0, 1, 2), (1, 0, 3), (2, 2, 4)
"""Links and slots."""


def test_a_phase_leaves_alone_what_any_other_has_taken() -> None:
    nothing = Constraints()
    some = nothing.taking(1, {0: frozenset([A]), 2: frozenset([B])}).taking(3, {0: frozenset([C])})
    assert some.off(1) == {A, B}
    assert some.off(3) == {C}
    assert not some.off(0)
    assert not nothing.off(1)


def test_a_phase_that_is_free_keeps_nothing_and_others_keep_theirs() -> None:
    some = Constraints().taking(1, {0: frozenset([A])}).taking(2, {0: frozenset([B])})
    free = some.free(1)
    assert not free.off(1)
    assert free.off(2) == {B}
    assert some.off(1) == {A}


def test_streams_may_use_what_is_freed_for_their_operator_and_source() -> None:
    some = Constraints().taking(1, {0: frozenset([A, B])}, {("b", 0): frozenset([A])})
    streams = [Stream("b[0]", 0, (1,)), Stream("b[1]", 2, (1,)), Stream("c[0]", 0, (1,))]
    assert some.freed_streams(1, streams) == (("b[0]", frozenset([A])),)
    assert some.freed_streams(0, streams) == ()
    # What is taken later says nothing of what is freed.
    assert some.taking(1, {0: frozenset([B])}).freed_streams(1, streams) == (("b[0]", frozenset([A])),)


def test_barriers_join_nodes_for_each_later_phase_until_they_part() -> None:
    some = Constraints().joining(0, 1, [{0, 1}]).joining(0, 2, None)
    assert some.joined == {0: {1: [{0, 1}], 2: None}}
    assert some.joining(0, 1, [{3}]).joined[0][1] == [{3}]
    assert some.parting(0, 1).joined == {0: {2: None}}
    assert some.parting(5, 1).joined[0] == some.joined[0]


def test_the_first_reason_for_a_barrier_stays() -> None:
    some = Constraints().closing(2, "wires").closing(2, "registers").closing(0, "VFSMs")
    assert some.reasons == {2: "wires", 0: "VFSMs"}
