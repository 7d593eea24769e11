"""Placing from Python."""

from __future__ import annotations

import json

from pointsman.api.placing import place
from pointsman.network import mesh
from pointsman.network.faults import with_faults


def test_streams_are_the_input_of_the_router(tmp_path):
    path = tmp_path / "flows.json"
    path.write_text(json.dumps({"flow": [{"from": "a", "to": ["b", "c"], "bandwidth": 0.25, "latency": 30}]}))
    placed = place(path, with_faults(mesh(3, 2), [1], []), router="ideal")
    assert 1 not in placed.places.values()
    (flow,) = placed.flows
    assert flow.holds
    assert flow.given >= 0.25
    assert placed.streams["topology"]["kind"] == "graph"
    assert placed.streams["faults"] == {"nodes": [1]}
