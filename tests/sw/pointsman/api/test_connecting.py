"""``pointsman.configure`` from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import pointsman
from pointsman.api.connecting import channels
from pointsman.connections import Configurations, ConnectionProblem, Network
from pointsman.errors import PointsmanError

CROSSBAR = ConnectionProblem(Network("crossbar", (3,)), ((0, 1), (1, 1), (1, 2)))


def test_connections_from_a_file_and_as_a_value(tmp_path: Path) -> None:
    path = tmp_path / "connections.json"
    path.write_text('{"network": {"kind": "crossbar", "size": [3]}, "connections": [[0, 1], [1, 1], [1, 2]]}')
    one, two = pointsman.configure(str(path), algorithm="greedy"), pointsman.configure(CROSSBAR, algorithm="greedy")
    assert isinstance(one, Configurations)
    assert isinstance(two, Configurations)
    assert one.configurations == two.configurations


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"seed": -1}, "a seed must be 0"),
        ({"degree": 1}, "1 slots are too few, 2 are needed"),
        ({"algorithm": "x"}, "algorithm"),
    ],
)
def test_wrong_arguments_say_so(arguments: dict, said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        pointsman.configure(CROSSBAR, **arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"degree": "x"}, "degree must be a whole number, not 'x'"),
        ({"seed": None}, "seed must be"),
        ({"effort": "1"}, "effort"),
    ],
)
def test_arguments_that_are_no_numbers_say_so(arguments: dict, said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        pointsman.configure(CROSSBAR, **arguments)


def test_what_are_no_connections_is_refused() -> None:
    with pytest.raises(PointsmanError, match="a ConnectionProblem or a DemandProblem, not int"):
        pointsman.configure(3)  # type: ignore[arg-type]


def test_the_values_of_a_file_are_taken_too_and_answers_shown_in_a_line() -> None:
    wanted = {"network": {"kind": "crossbar", "size": 3}, "connections": [[0, 1], [1, 1], [1, 2]]}
    assert repr(pointsman.configure(wanted)).startswith("Configurations(degree=2, bound=2")
    demand = {"network": {"kind": "crossbar", "size": 2}, "demand": [[0, 3], [3, 0]], "delta": 1}
    assert repr(pointsman.configure(demand)).startswith("Timetable(degree=1, total=4, bound=4")
    phased = {"topology": {"kind": "torus", "size": [4]}, "channels": 1, "connections": [[0, 1, 8], [0, 3, 8]]}
    with pytest.raises(PointsmanError, match=r"^values of a file of connections: "):
        channels(phased)
