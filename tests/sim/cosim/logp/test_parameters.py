"""Figures of LogP machines, from text and by name."""

from __future__ import annotations

import pytest

from cosim.logp.parameters import CALIBRATIONS, LogpParameters, logp_named
from pointsman.errors import PointsmanError


def test_text_names_a_machine_and_changes_it() -> None:
    assert logp_named("cm5") == CALIBRATIONS["cm5"]
    assert logp_named("latency=9,send=1") == LogpParameters(latency=9, send=1)
    made = logp_named("cm5,gap=20,in_order=true,seed=4")
    assert (made.gap, made.in_order, made.seed, made.latency) == (20, True, 4, 25)


@pytest.mark.parametrize("text", ["", "cm6", "latency=1,cm5", "latency=-1", "latency=x", "unit=3", "in_order=1"])
def test_other_text_is_an_error(text: str) -> None:
    with pytest.raises(PointsmanError, match="a LogP machine cannot be"):
        logp_named(text)


def test_figures_are_whole_and_polling_takes_time() -> None:
    with pytest.raises(PointsmanError, match="latency of a LogP machine must be a whole number"):
        LogpParameters(latency=1.5)  # type: ignore[arg-type]
    with pytest.raises(PointsmanError, match="poll of a LogP machine must be 1 or more"):
        LogpParameters(poll=0)


@pytest.mark.parametrize(
    ("latency", "gap", "capacity", "room"), [(25, 16, 0, 2), (0, 0, 0, 1), (8, 4, 0, 2), (8, 4, 5, 5)]
)
def test_the_capacity_is_the_latency_in_gaps(latency: int, gap: int, capacity: int, room: int) -> None:
    assert LogpParameters(latency=latency, gap=gap, capacity=capacity).room == room
