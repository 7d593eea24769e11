"""Placements of a board's design, from one seed after the other until its clock is met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pointsman.errors import PointsmanError


@dataclass(frozen=True)
class Placement:
    """A placement that meets its clock: ``achieved`` in MHz, by the slowest clock; ``cells`` used, by kind."""

    seed: int
    achieved: float
    slack_ns: float
    cells: dict[str, int]


def place_until_met(place: Callable[[int], Mapping[str, Any]], mhz: int, seeds: int, *, first: int = 1) -> Placement:
    """Of the placements from ``seeds`` seeds, ``first`` and those after it, the first whose clocks reach ``mhz``.

    Parameters
    ----------
    place : callable
        Runs nextpnr with a seed and gives its report.

    Raises
    ------
    PointsmanError
        If none does.
    """
    best = 0.0
    for seed in range(first, first + seeds):
        report = place(seed)
        achieved = min(clock["achieved"] for clock in report["fmax"].values())
        if achieved >= mhz:
            used = {kind: count["used"] for kind, count in report["utilization"].items() if count["used"]}
            return Placement(seed, achieved, 1e3 / mhz - 1e3 / achieved, used)
        best = max(best, achieved)
    raise PointsmanError(
        f"the clock of {mhz} MHz is not met: {best:.1f} MHz at best in {seeds} placements",
        hint="ask for a lower one with --mhz",
    )
