"""Amounts to bandwidths."""

from __future__ import annotations

import pytest

from pointsman.artifacts.flows.demands import flows_of
from pointsman.artifacts.flows.flows import Task
from pointsman.errors import PointsmanError

TASKS = [Task("a"), Task("b"), Task("c")]


def test_the_busiest_port_is_busy_all_the_time() -> None:
    flows = flows_of(TASKS, {(0, (1, 2)): 3.0, (0, (1,)): 1.0, (2, (1,)): 2.0}).flows
    assert [flow.bandwidth for flow in flows] == [0.5, 1 / 6, 1 / 3]  # b takes 6
    assert len({flow.name for flow in flows}) == 3


def test_no_flow_at_all_is_refused() -> None:
    with pytest.raises(PointsmanError, match="there must be 1 to"):
        flows_of(TASKS, {})
