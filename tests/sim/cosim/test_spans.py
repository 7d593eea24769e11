"""Activities of nodes on any machine."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from cosim.spans import NodeWatch, Span


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
