"""Activities of nodes on any machine."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from cosim.spans import Call, NodeWatch, Span
from pointsman.runtime.api.substrate import Given


def test_a_span_lasts_from_a_change_of_activity_to_the_next() -> None:
    machine = SimpleNamespace(time=0, cycles=np.zeros((1, 7), np.int64))
    node = SimpleNamespace(number=0, activity="starting", watch=None, loaded={})
    watch = NodeWatch(node, machine)  # type: ignore[arg-type]
    machine.time, machine.cycles[0, 0] = 5, 5
    node.watch("a_write")
    node.activity = "a_write"
    node.watch("a_read")  # no time has passed
    node.activity = "a_read"
    machine.time, machine.cycles[0, 2] = 9, 4
    watch.close_span()
    assert watch.spans == [
        Span(0, 0, 5, "starting", -1, (5, 0, 0, 0, 0, 0, 0)),
        Span(0, 5, 9, "a_read", -1, (0, 0, 4, 0, 0, 0, 0)),
    ]
    assert [span.operator for span in watch.spans] == [None, "a"]


def test_functions_at_the_same_time_are_calls_of_their_own() -> None:
    machine = SimpleNamespace(time=0, cycles=np.zeros((1, 7), np.int64))
    node = SimpleNamespace(number=0, activity="a_write, b_read", watch=None, loaded={"b": Given((3,), 0, (1, 0))})
    watch = NodeWatch(node, machine)  # type: ignore[arg-type]
    machine.time = 9
    watch.close_span()
    assert watch.calls == [Call(0, "a", "write", 0, 9), Call(0, "b", "read", 0, 9, values=(3,), permutation=(1, 0))]
    assert [(span.operator, span.operators) for span in watch.spans] == [(None, ("a", "b"))]
    node.activity = "a_write, waiting"
    machine.time = 12
    watch.close_span()
    assert len(watch.calls) == 2
