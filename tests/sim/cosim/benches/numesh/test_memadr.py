"""Traffic of the bench of command assemblers, with the model in place of the hardware."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from cosim.benches.coverage import Coverage
from cosim.benches.numesh.catalogue import NARROW
from cosim.benches.numesh.memadr import AssemblerDriver, CoveredAssembler


def test_traffic_hits_most_bins_and_none_that_is_out_of_reach(run_bench: Callable[..., int]) -> None:
    coverage = Coverage()
    model = CoveredAssembler(NARROW, coverage)
    driver = AssemblerDriver(NARROW, Random(1))
    run_bench(driver, model, coverage, 800)
    hits = [count for group in coverage.groups.values() for count in group.hits.values()]
    assert sum(count > 0 for count in hits) > 0.8 * len(hits)
