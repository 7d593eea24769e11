"""Clocks and the price of an operation: what they come to, and that computing alone takes longer."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman import api
from pointsman.cli import main
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.api.clocks import Clocks, priced

HALVES = Path(__file__).parents[5] / "examples/halves/halves.py"


@pytest.mark.parametrize(
    ("clocks", "price", "microseconds"),
    [
        (Clocks(), 1, None),
        (Clocks(1000, 2000), 2, 0.5),
        (Clocks(1000, None, 1.5), Fraction(3, 2), 1.0),
        (Clocks(300, 100, 0.1), Fraction(1, 30), 10.0),
        (Clocks(None, 50), 1, 20.0),
    ],
)
def test_price_and_time_follow_from_the_clocks(clocks: Clocks, price: Fraction, microseconds: float | None):
    assert clocks.price == price
    assert clocks.as_dict(1000)["microseconds"] == microseconds


def test_a_part_of_a_cycle_takes_a_whole_one():
    assert [priced(cycles, Fraction(3, 2)) for cycles in range(4)] == [0, 2, 3, 5]


@pytest.mark.parametrize("target", ["numesh", "packet", "tdm"])
def test_computing_alone_takes_longer_on_every_target(target: str):
    options = {"target": target, "engine": "model"} if target != "tdm" else {"target": target}
    plain = api.run(HALVES, mesh(2, 1), **options)
    slow = api.run(HALVES, mesh(2, 1), **options, processor_mhz=500, network_mhz=2000)
    assert plain.correct
    assert slow.correct
    assert plain.values["categories"]["cpu"] > 0
    assert slow.values["categories"]["cpu"] == 4 * plain.values["categories"]["cpu"]
    assert "clocks" not in plain.values
    assert slow.values["clocks"]["microseconds"] == slow.values["total_cycles"] / 2000
    assert "µs at 2000 MHz; a cycle of computing takes 4 cycles of the network" in slow.text


def test_a_clock_of_nothing_is_refused():
    with pytest.raises(PointsmanError, match=r"processor_mhz must be a number from 0\.000001 to 1,000,000, not 0"):
        api.run(HALVES, mesh(2, 2), processor_mhz=0)
    done = CliRunner().invoke(main, ["run", str(HALVES), "--mesh", "2x2", "--dry", "--network-mhz", "100"])
    assert done.exit_code == 2
    assert "--network-mhz is about hardware" in done.output
