"""Traffic of the bench of transfer stages, with the model in place of the hardware."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from cosim.benches.coverage import Coverage
from cosim.benches.numesh import transfer
from cosim.benches.numesh.catalogue import ODD


def test_traffic_of_the_transfer_bench_reaches_every_bin(run_bench: Callable[..., int]) -> None:
    coverage = Coverage()
    model = transfer.CoveredTransfer(ODD, coverage)
    driver = transfer.TransferDriver(ODD, Random(0), model.moves.goals, lambda: model.asked)
    run_bench(driver, model, coverage, 120000)
    assert {name: group.missing for name, group in coverage.groups.items() if group.missing} == {}
