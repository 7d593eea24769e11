"""Traffic of the schedule bench, with its model in place of the hardware."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from cosim.benches.coverage import Coverage
from cosim.benches.numesh.catalogue import ODD
from cosim.benches.numesh.schedule import CoveredSchedule, ScheduleDriver


def test_traffic_hits_most_bins_and_none_that_is_out_of_reach(run_bench: Callable[..., int]) -> None:
    coverage = Coverage()
    model = CoveredSchedule(ODD, coverage)
    driver = ScheduleDriver(model, Random(1))
    run_bench(driver, model, coverage, 800)
    hits = [count for group in coverage.groups.values() for count in group.hits.values()]
    assert sum(count > 0 for count in hits) > 0.9 * len(hits)
