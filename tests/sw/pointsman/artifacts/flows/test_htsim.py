"""Connection matrices of htsim."""

from __future__ import annotations

import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.flows.htsim import htsim_text
from pointsman.errors import PointsmanError


def test_each_destination_is_a_connection_and_free_tasks_take_free_nodes() -> None:
    flows = FlowSet((Task("a"), Task("b", 0), Task("c")), (Flow("x", 0, (1, 2), 0.25), Flow("y", 1, (2,), 1.0, 60.0)))
    assert htsim_text(flows, cycles=100, word_bytes=4).splitlines() == [
        "Nodes 3",
        "Connections 3",
        "1->0 id 1 start 0 size 100",
        "1->2 id 2 start 0 size 100",
        "0->2 id 3 start 0 size 400",
    ]


def test_best_effort_has_no_number_of_bytes() -> None:
    with pytest.raises(PointsmanError, match=r"flow 'x' is of best effort \(bandwidth 0\)"):
        htsim_text(FlowSet((Task("a"), Task("b")), (Flow("x", 0, (1,), 0.0),)), cycles=100, word_bytes=4)
