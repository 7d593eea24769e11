"""JSON of phased connections."""

from __future__ import annotations

import json

import pytest

from pointsman.artifacts.channels.file import phases_text, read_channel_problem
from pointsman.connections.channels import divide
from pointsman.errors import PointsmanError

SPEC = {
    "network": {"kind": "torus", "size": [4]},
    "channels": {"user": 16, "synchronization": 3, "spare": 1},
    "connections": [[0, 1, 5], [0, 2, 7]],
    "demands": [{"connection": 1, "bandwidth": 0.5, "latency": 8}],
    "order": [[0, 1]],
    "costs": {"access": 10, "duplex": False},
}


def read(tmp_path, **change):
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({**SPEC, **change}))
    return read_channel_problem(path)


def test_a_file_is_read_and_answered(tmp_path):
    problem = read(tmp_path)
    assert problem.channels == 12
    assert problem.connections[1].latency == 8
    content = json.loads(phases_text(divide(problem)))
    assert content["predicted"] == {"clocks": 528 + 120, "switches": 528, "transfers": 120}
    assert content["phases"][0]["connections"][0]["path"] == [0, 1]
    assert content["bound"] == 1


def test_a_graph_may_name_links_once(tmp_path):
    problem = read(tmp_path, network={"kind": "graph", "nodes": 3, "links": [[0, 1], [1, 2]]})
    assert problem.distances == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phases": "many"}, "Invalid enum value 'many' - at `$.phases`"),
        (
            {"channels": {"user": 3, "synchronization": 3}},
            "channels: 3 less 3 for synchronization and 0 in reserve leaves none",
        ),
        ({"channels": {"user": 3, "spare": -3}}, "a number of channels must not be negative"),
        ({"demands": [{"connection": 2}]}, "demands[0]: there is no connection 2 among 2"),
        ({"demands": [{"connection": 1}, {"connection": 1}]}, "demands[1]: connection 1 has demands already"),
        ({"connections": [[0, 1]]}, "Expected `array` of length 3 - at `$.connections[0]`"),
        ({"colour": 1}, "Object contains unknown field `colour`"),
    ],
)
def test_wrong_files_are_refused_with_the_place(tmp_path, change, message):
    with pytest.raises(PointsmanError) as caught:
        read(tmp_path, **change)
    assert message in str(caught.value)
    assert str(tmp_path / "spec.json") in str(caught.value)
