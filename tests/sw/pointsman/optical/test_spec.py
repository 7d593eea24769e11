"""The file that ``pointsman optical`` reads."""

from __future__ import annotations

import json

import pytest

from pointsman.errors import PointsmanError
from pointsman.optical.spec import read_spec

UNIFORM = {"kind": "uniform", "rate": 0.1, "slots": 2}
SPEC = {"network": {"kind": "torus", "size": [4, 4]}, "degree": 4, "traffic": UNIFORM, "slots": 100}
GRAPH = {"kind": "graph", "size": 3, "links": [[0, 1], [1, 2]]}


@pytest.fixture
def read(tmp_path):
    path = tmp_path / "spec.json"

    def run(content):
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return read_spec(path)

    return run


def test_what_is_not_said_has_defaults(read):
    spec = read(SPEC)
    assert (spec.degree, spec.switch, spec.slots, spec.seed, spec.logical) == (4, 1, 100, 0, "torus")
    assert spec.scheme.direction == "backward"
    assert spec.rate == 0.2
    assert len(spec.phases) == 1


def test_everything_can_be_said(read):
    wanted = {
        **SPEC,
        "routing": "adaptive",
        "reservation": {
            "direction": "forward",
            "hold": 10,
            "cset": "all",
            "conservative": False,
            "control_slots": [2, 2],
            "retry": 60,
            "set_at": "ack",
        },
        "logical": {"links": [[0, 1]]},
        "switch_slots": 3,
        "compiled": {"registers": 2, "load_slots": 9, "overlap": True},
        "seed": 5,
    }
    spec = read(wanted)
    assert spec.scheme.cset is None
    assert spec.scheme.control_slots == (2, 2)
    assert spec.logical == ((0, 1),)
    assert spec.registers.overlap
    assert len(spec.fabric.next_link) == 2


def test_traffic_may_be_listed_or_a_demand_or_phases(read):
    demand = [[0, 3, 0], [0, 0, 1], [2, 0, 0]]
    spec = read({"network": GRAPH, "traffic": {"demand": demand}})
    assert spec.phases[0].slots.tolist() == [3, 1, 2]
    assert spec.logical == ((0, 1), (1, 0), (1, 2), (2, 1))
    assert len(read({"network": GRAPH, "traffic": {"messages": [[4, 0, 1, 2]]}}).phases[0]) == 1
    assert len(read({"network": GRAPH, "traffic": {"phases": [[[0, 1, 2]], [[1, 2, 1], [2, 0, 1]]]}}).phases) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**SPEC, "degree": 0}, "degree: there must be at least 1 channel, not 0"),
        ({**SPEC, "traffic": {**UNIFORM, "rate": 1.5}}, "at most 1, not 1.5"),
        ({**SPEC, "traffic": {**UNIFORM, "rate": 0}}, "must be above 0"),
        ({**SPEC, "traffic": {"messages": [[0, 3, 3, 1]]}}, "a message must join two nodes, not 3 and itself"),
        (
            {**SPEC, "network": {**GRAPH, "links": [[0, 1]]}},
            "it must be connected, and there is no way from node 0 to node 2",
        ),
        (
            {**SPEC, "network": {"kind": "graph", "size": 3}},
            'a graph must have a number of nodes as "size", and "links"',
        ),
        ({**SPEC, "network": {"kind": "mesh", "size": 3, "links": []}}, "they are for a graph, not for a mesh"),
        ({**SPEC, "network": {"kind": "ring", "size": 3}}, "Invalid enum value 'ring'"),
        ({**SPEC, "network": {"kind": "torus", "size": [0, 4]}}, "positive dimensions"),
        ({**SPEC, "traffic": {}}, "there must be one of"),
        ({**SPEC, "traffic": {**UNIFORM, "messages": []}}, "there must be one of"),
        ({**SPEC, "traffic": {"messages": [], "rate": 1}}, '"rate" and "slots" are for traffic of a kind'),
        ({**SPEC, "traffic": {"kind": "uniform", "rate": 0.1}}, 'must have a "rate" and "slots"'),
        ({**SPEC, "slots": None}, "there must be a length of the run"),
        ({**SPEC, "slots": 0}, "a run must have at least 1 slot, and at most 67108863, not 0"),
        ({**SPEC, "seed": -1}, "seed: it must be 0 to 2\\^32 - 1, not -1"),
        ({**SPEC, "traffic": {"phases": []}}, "a run is as long as they take"),
        ({**SPEC, "traffic": {"demand": [[0]]}}, "there must be 16 rows of 16 numbers"),
        (
            {"network": GRAPH, "traffic": {"demand": [[0, -1, 0], [0, 0, 0], [0, 0, 0]]}},
            r"demand\[0\]\[1\]: a demand must not be",
        ),
        (
            {"network": GRAPH, "traffic": {"demand": [[1, 0, 0], [0, 0, 0], [0, 0, 0]]}},
            r"demand\[0\]\[0\]: a demand to the node",
        ),
        (
            {"network": GRAPH, "traffic": {"demand": [[0, 10**30, 0], [0, 0, 0], [0, 0, 0]]}},
            r"demand\[0\]\[1\]: a run has at most 67108864 slots, too few for 10",
        ),
        ({"network": GRAPH, "traffic": {"phases": [[[0, 0, 1]]]}}, "traffic.phases"),
        ({**SPEC, "speed": 3}, "unknown field `speed`"),
        (json.dumps(SPEC).replace("0.1", "NaN"), "spec.json: JSON is malformed"),
        ("(broadcast 0)", "spec.json: JSON is malformed"),
        ("[" * 5000, "spec.json: "),
    ],
)
def test_wrong_files_are_refused_with_their_place(read, content, message):
    with pytest.raises(PointsmanError, match=message):
        read(content)
