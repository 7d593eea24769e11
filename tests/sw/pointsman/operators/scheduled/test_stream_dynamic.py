"""A source that tells the routers where its words go."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.scheduled.stream_dynamic import StrStreamDyn

TEXT = "(stream 'o 1 (runtime :dynamic t :values (list 0 2 4)) :m 5 :impl 'str_stream_dyn)"


def test_the_source_sends_each_router_to_deliver_or_to_drop(wired: Callable[..., Any]) -> None:
    one = wired("str_stream_dyn", TEXT)
    commands = one.roles((4,))[1].commands
    told = {setting.vfsm.node: setting.vfsm.destination.kind for _, setting in commands}
    assert told == {0: "null", 2: "null", 4: "deliver"}


def test_the_destination_answers_when_it_has_read(wired: Callable[..., Any]) -> None:
    roles = wired("str_stream_dyn", TEXT).roles((4,))
    read, answer = roles[4].lanes[-2:]
    assert (read.write, answer.write, answer.words, answer.step) == (False, True, 1, read.step + 1)
    assert {node: role.kind for node, role in roles.items()} == {
        0: "none",
        1: "write",
        2: "none",
        3: "none",
        4: "read",
        5: "none",
    }


def test_it_is_only_taken_where_it_is_asked_for(operator_of: Callable[..., Any]) -> None:
    operator = operator_of(TEXT.replace(" :impl 'str_stream_dyn", ""))
    assert StrStreamDyn().metric(operator, Context(mesh(3, 2), NodeShape())) is None
