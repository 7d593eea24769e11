"""Files for ``pointsman configure``: the form, and what is refused."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest

from pointsman.artifacts.configurations.file import answer_text, read_problem
from pointsman.connections import ConnectionProblem, DemandProblem, Network, configure, decompose
from pointsman.errors import PointsmanError


@pytest.fixture
def read(tmp_path):
    def reader(content):
        path = tmp_path / "connections.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return read_problem(path)

    return reader


def test_connections_are_read(read):
    file = {"network": {"kind": "torus", "size": [4, 2]}, "routing": "free", "connections": [[0, 5], [1, 0]]}
    assert read(file) == ConnectionProblem(Network("torus", (4, 2)), ((0, 5), (1, 0)), "free")
    file = {"network": {"kind": "crossbar", "size": 4}, "connections": [[3, 3]]}
    assert read(file) == ConnectionProblem(Network("crossbar", (4,)), ((3, 3),), "xy")


def test_demands_are_read_as_they_are_written(read):
    file = {"network": {"kind": "crossbar", "size": [2]}, "demand": [[0, 0.1], [3, 0]], "delta": 1.5}
    tenth = ((Fraction(0), Fraction(1, 10)), (Fraction(3), Fraction(0)))
    assert read(file) == DemandProblem(tenth, Fraction(3, 2))


TORUS = {"kind": "torus", "size": [2, 2]}
CROSSBAR = {"kind": "crossbar", "size": 2}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[", "Expected `object`, got `array`"),
        ("", "Input data was truncated"),
        ("[" * 100_000, "connections.json"),
        ({"network": TORUS}, 'there must be either "connections" or "demand"'),
        ({"network": CROSSBAR, "connections": [], "demand": [[1, 1], [1, 1]]}, 'there must be either "connections"'),
        ({"network": TORUS, "connections": [], "delta": 1}, '"delta" belongs to "demand"'),
        ({"network": TORUS, "demand": [[1]]}, '"demand" is for a crossbar, not for a torus'),
        (
            {"network": CROSSBAR, "demand": [[1]]},
            "demand: there must be a row for each of the 2 ports, and there are 1",
        ),
        ({"network": CROSSBAR, "demand": [[1], [1, 2]]}, "demand[0]: a demand must be square"),
        ({"network": CROSSBAR, "demand": [[1, -2], [1, 2]]}, "demand[0][1]: a demand must not be negative"),
        ({"network": CROSSBAR, "demand": [[1, 1e300], [1, 2]]}, "demand[0][1]: a time must be a number up to 1e15"),
        ({"network": CROSSBAR, "demand": [[1, 1], [1, 2]], "delta": -1}, "delta: the cost of a configuration"),
        ({"network": CROSSBAR, "demand": [[1, "1"], [1, 2]]}, "Expected `int | float`"),
        ({"network": CROSSBAR, "demand": [[1, None], [1, 2]]}, "Expected `int | float`"),
        ({"network": TORUS, "connections": [[0, 1, 2]]}, "Expected `array` of length 2"),
        ({"network": TORUS, "connections": [[0, 1.5]]}, "Expected `int`, got `float`"),
        ({"network": TORUS, "connections": [[0, True]]}, "Expected `int`, got `bool`"),
        ({"network": TORUS, "connections": [[0, 10**30]]}, "connections.json"),
        ({"network": TORUS, "connections": [[0, 0]]}, "must join two nodes, not 0 and itself"),
        ({"network": TORUS, "connections": [[0, 1], [0, 1]]}, "a connection must be named once"),
        ({"network": TORUS, "connections": [[0, 4]]}, "a node must be one of 0..3, not 4"),
        ({"network": TORUS, "connections": [], "ways": 1}, "unknown field `ways`"),
        ({"network": {**TORUS, "wrap": 1}, "connections": []}, "unknown field `wrap`"),
        ({"network": TORUS, "connections": [], "routing": "yx"}, "Invalid enum value 'yx'"),
        ({"network": {"kind": "ring", "size": 4}, "connections": []}, "Invalid enum value 'ring'"),
        ({"network": {"kind": "torus", "size": []}, "connections": []}, "one to three positive dimensions"),
        ({"network": {"kind": "torus", "size": [2, 0]}, "connections": []}, "one to three positive dimensions"),
        ({"network": {"kind": "torus", "size": [2] * 50}, "connections": []}, "one to three positive dimensions"),
        ({"network": {"kind": "torus", "size": [10**17, 3]}, "connections": []}, "1 to 4096 nodes"),
        ({"network": {"kind": "crossbar", "size": [2, 2]}, "connections": []}, "a crossbar must have one size"),
        ({"network": {"kind": "crossbar", "size": -1}, "connections": []}, "a crossbar must have one size"),
    ],
)
def test_bad_files_are_refused_with_their_name_and_the_place(read, content, message):
    with pytest.raises(PointsmanError, match=re.escape(message)) as caught:
        read(content)
    assert "connections.json" in str(caught.value)


def test_answers_have_the_promised_keys():
    pairs = ((0, 1), (0, 3))
    answer = json.loads(answer_text(configure(ConnectionProblem(Network("mesh", (2, 2)), pairs))))
    assert answer["configurations"] == [[[0, 3]], [[0, 1]]]
    assert (answer["degree"], answer["bound"]) == (2, 2)
    assert answer["seconds"] >= 0
    free = json.loads(answer_text(configure(ConnectionProblem(Network("mesh", (2, 2)), pairs, "free"))))
    assert sorted(entry for part in free["configurations"] for entry in part)[0] == [0, 1, [0, 1]]
    assert all(path[0] == s and path[-1] == d for part in free["configurations"] for s, d, path in part)
    demand = ((Fraction(0), Fraction(1, 2)), (Fraction(0), Fraction(0)))
    timed = json.loads(answer_text(decompose(DemandProblem(demand, Fraction(1)))))
    assert timed["configurations"] == [{"duration": 0.5, "connections": [[0, 1]]}]
    assert (timed["degree"], timed["total"], timed["bound"]) == (1, 1.5, 1.5)
    empty = json.loads(answer_text(configure(ConnectionProblem(Network("mesh", (2, 2)), ()))))
    assert empty["configurations"] == []
