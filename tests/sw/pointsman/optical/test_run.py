"""A specification in all modes."""

from __future__ import annotations

import json

import pytest

from pointsman.errors import PointsmanError
from pointsman.optical.run import logical_of, run_modes
from pointsman.optical.spec import read_spec

NETWORK = {"kind": "torus", "size": [4, 4]}


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "spec.json"

    def made(**content):
        path.write_text(json.dumps({"network": NETWORK, **content}))
        return read_spec(path)

    return made


def test_all_modes_answer_one_traffic(spec):
    demand = [[(u + 2 * v) % 3 * (u != v) for v in range(16)] for u in range(16)]
    found = run_modes(spec(degree=4, traffic={"demand": demand}))
    assert list(found) == ["reserve", "multihop", "compiled"]
    asked = [row[:4] for row in found["reserve"]["messages"]]
    for figures in found.values():
        assert [row[:4] for row in figures["messages"]] == asked
        assert figures["delivered"] == len(asked) == sum(amount > 0 for row in demand for amount in row)
        assert figures["slots"] == max(row[5] for row in figures["messages"])
    assert found["compiled"]["slots"] >= found["compiled"]["model"]["busiest"]


def test_phases_follow_each_other(spec):
    phases = [[[0, 1, 3], [2, 3, 1]], [[1, 0, 2]], []]
    apart = [run_modes(spec(degree=2, traffic={"phases": [phase]})) for phase in phases]
    together = run_modes(spec(degree=2, traffic={"phases": phases}))
    for mode, figures in together.items():
        assert figures["slots"] == sum(part[mode]["slots"] for part in apart)
        assert figures["messages"][2][0] == apart[0][mode]["slots"]


def test_predictions_stand_beside(spec):
    traffic = {"kind": "uniform", "rate": 0.002, "slots": 1}
    found = run_modes(spec(degree=3, traffic=traffic, slots=20_000))
    assert found["reserve"]["model"]["set_up"] == pytest.approx(found["reserve"]["set_up"], rel=0.02)
    assert found["reserve"]["model"]["latency"] == pytest.approx(found["reserve"]["latency"]["mean"], rel=0.05)
    assert found["multihop"]["model"]["delay"] == pytest.approx(found["multihop"]["latency"]["mean"], rel=0.1)
    saturated = run_modes(spec(traffic={**traffic, "rate": 1}, slots=50), ["multihop"])["multihop"]["model"]
    assert saturated["delay"] is None
    assert saturated["router_rate_as_printed"] == pytest.approx(2 * saturated["router_rate"])


def test_links_of_the_users_own_must_fit_into_the_channels(spec):
    star = {"links": [[0, v] for v in range(1, 16)] + [[v, 0] for v in range(1, 16)]}
    with pytest.raises(PointsmanError, match="they need 15 channels, and there are 14") as refused:
        logical_of(spec(degree=14, logical=star, traffic={"messages": []}))
    assert refused.value.hint == "no assignment needs fewer than 15"
    assert logical_of(spec(degree=15, logical=star, traffic={"messages": []})).degree == 15


def test_no_messages_are_no_error(spec):
    found = run_modes(spec(traffic={"messages": []}))
    assert [figures["slots"] for figures in found.values()] == [0, 0, 0]
    assert run_modes(spec(traffic={"phases": []}))["compiled"]["messages"] == []


def test_links_of_the_network_have_as_many_channels_as_they_need(spec):
    made = spec(network={"kind": "mesh", "size": [3, 5]}, traffic={"messages": [[0, 0, 1, 3], [2, 1, 13, 1]]})
    multihop = run_modes(made)["multihop"]
    assert multihop["delivered"] == 2
    assert multihop["degree"] == 4  # a node in the middle sends to four neighbours
