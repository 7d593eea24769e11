"""What the tests of the benches of the node share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from cosim.benches.bench import FOUR_NODES
from cosim.benches.coverage import Coverage
from cosim.benches.harness import Driver, Model


def _run(driver: Driver, model: Model, coverage: Coverage, most: int) -> int:
    """Run a driver against its model, as if the hardware did what the model does. Gives the cycles."""
    inputs: dict[str, int] = {f"p_{name}": 0 for name in ("address", "write", "read", "write_data")}
    inputs |= {f"{name}_{i}": 0 for name in inputs for i in range(FOUR_NODES.nodes)}
    for cycle in range(most):
        if coverage.full:
            return cycle
        inputs |= driver.early(cycle)
        settled = {name: value or 0 for name, value in model.outputs(inputs).items()}
        inputs |= driver.late(settled)
        model.clock(inputs)
    return most


@pytest.fixture(scope="session")
def run_bench() -> Callable[..., int]:
    """Runs a driver against its model, as if the hardware did what the model does: driver, model, coverage, most cycles."""
    return _run
