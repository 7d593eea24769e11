"""Schedules made at run time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import SYNC
from pointsman.network import mesh, torus
from pointsman.operators import Context, Loading
from pointsman.operators.scheduled.permute_runtime import SchShiftRuntime


def test_each_node_keeps_a_place_for_a_stream_out_and_one_in(wired: Callable[..., Any]) -> None:
    one = wired("sch_permute_runtime", "(permute 'o (runtime) :m 5)")
    assert one.implementation.loading is Loading.RESCHEDULED
    for role in one.roles().values():
        assert [(lane.write, lane.data) for lane in role.lanes if lane.turn != SYNC] == [(True, "out"), (False, "in")]


def test_it_serves_boxes_of_a_mesh_only(operator_of: Callable[..., Any]) -> None:
    operator = operator_of("(cshift 'o (runtime) :m 5)", torus(3, 3))
    assert SchShiftRuntime().metric(operator, Context(torus(3, 3), NodeShape())) is None
    operator = operator_of("(cshift 'o (runtime) :m 5)")
    assert SchShiftRuntime().metric(operator, Context(mesh(3, 2), NodeShape())) is not None
    assert SchShiftRuntime().metric(operator, Context(mesh(3, 2), NodeShape(aliased_handshake=True))) is None
