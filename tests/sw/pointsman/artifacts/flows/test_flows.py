"""Flows are values."""

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task


def test_equal_flows_are_equal_and_have_no_limit_of_their_own():
    one, other = (FlowSet((Task("a"), Task("b")), (Flow("f", 0, (1,), 0.5),)) for _ in range(2))
    assert one == other
    assert one.flows[0].latency is None
