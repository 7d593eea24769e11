"""Problems that are none."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from pointsman.connections import ConnectionProblem, DemandProblem, Network
from pointsman.errors import PointsmanError


@pytest.mark.parametrize(
    ("network", "connections", "message"),
    [
        (("mesh", (2, 2)), [(0, 1), (0, 4)], "connections[1]: a node must be one of 0..3, not 4"),
        (("torus", (2, 2)), [(-1, 1)], "connections[0]: a node must be one of 0..3, not -1"),
        (("crossbar", (2,)), [(0, 2)], "connections[0]: a node must be one of 0..1, not 2"),
        (("mesh", (2,)), [(1, 1)], "connections[0]: on a mesh a connection must join two nodes, not 1 and itself"),
        (
            ("crossbar", (2,)),
            [(0, 0), (1, 1), (0, 0)],
            "connections[2]: a connection must be named once; 0 -> 0 is connections[0] already",
        ),
    ],
)
def test_connections_that_cannot_be_are_refused(network, connections, message):
    with pytest.raises(PointsmanError, match=f"^{re.escape(message)}$"):
        ConnectionProblem(Network(*network), tuple(connections))


@pytest.mark.parametrize("size", [(), (0,), (4097,), (2, 2), (-1,)])
def test_sizes_that_no_crossbar_has_are_refused(size):
    with pytest.raises(PointsmanError, match="a crossbar must have one size, 1 to 4096 ports"):
        Network("crossbar", size)


def test_networks_that_are_none_are_refused():
    with pytest.raises(PointsmanError, match="one to three positive dimensions"):
        Network("torus", (2, 0))
    with pytest.raises(PointsmanError, match="1 to 4096 nodes"):
        Network("mesh", (100, 100))


@pytest.mark.parametrize(
    ("demand", "delta", "message"),
    [
        ([], 0, "demand: there must be 1 to 4096 rows, not 0"),
        ([[1, 2], [3]], 0, "demand[1]: a demand must be square, and this row has 1 of 2"),
        ([[1, 2], [3, -4]], 0, "demand[1][1]: a demand must not be negative, but is -4"),
        ([[1]], -2, "delta: the cost of a configuration must not be negative, but is -2"),
    ],
)
def test_demands_that_cannot_be_are_refused(demand, delta, message):
    with pytest.raises(PointsmanError, match=f"^{re.escape(message)}$"):
        DemandProblem(tuple(tuple(map(Fraction, row)) for row in demand), Fraction(delta))
