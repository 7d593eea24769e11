"""Words from one node to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pointsman.operators.scheduled.stream import source_and_destinations


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("str_stream", "(stream 'o 1 4 :m 5)", ()),
        ("str_stream_rtdest", "(stream 'o 1 (runtime) :m 5)", (4,)),
        ("str_stream_rtsrc", "(stream 'o (runtime) 4 :m 5)", (1,)),
        ("par_stream", "(stream 'o 1 (runtime :values (list 2 4)) :m 5)", (4,)),
        ("str_stream_runtime", "(stream 'o (runtime) (runtime) :m 5)", (1, 4)),
    ],
)
def test_the_source_writes_and_the_destination_reads(
    name: str, text: str, values: tuple[int, ...], wired: Callable[..., Any]
) -> None:
    roles = wired(name, text).roles(values)
    assert {node: role.kind for node, role in roles.items() if role.kind != "none"} == {1: "write", 4: "read"}


@pytest.mark.parametrize("name", ["str_stream_rtdest", "str_stream_runtime"])
def test_a_message_to_oneself_stays_in_the_processor(name: str, wired: Callable[..., Any]) -> None:
    source, values = ("1", (1,)) if name == "str_stream_rtdest" else ("(runtime)", (1, 1))
    assert wired(name, f"(stream 'o {source} (runtime) :m 5)").roles(values)[1].local


def test_destinations_are_all_that_may_be_but_the_source(operator_of: Callable[..., Any]) -> None:
    operator = operator_of("(stream 'o 1 (runtime :values (list 4 1 2)) :m 5)")
    assert source_and_destinations(operator, 0) == (1, (2, 4))


def test_dropped_words_have_time_to_go(wired: Callable[..., Any]) -> None:
    one = wired("str_stream_rtdest", "(stream 'o 1 (runtime) :m 5)")
    assert one.implementation.drain(one.operator, one.wiring) >= 3
