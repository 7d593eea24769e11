"""Tables of processors that wait for nothing."""

from __future__ import annotations

from cosim.engines.model.requests import FOLD_FIELDS, IDLE, LANE_FIELDS, no_requests


def test_a_row_for_each_node_and_nothing_to_do():
    requests = no_requests(3)
    assert requests.kind.tolist() == [IDLE] * 3
    assert not requests.ready.any()
    assert requests.lanes.shape[0::2] == (3, LANE_FIELDS)
    assert requests.folds.shape[0::2] == (3, FOLD_FIELDS)
    assert requests.arrivals.shape[0] == requests.access.shape[0] == 3
