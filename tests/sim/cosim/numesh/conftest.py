"""Machines on which the tests of this folder run their programs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cosim.numesh.machine import Machine
from ring_machine import (
    ENGINES,
    RING,
    SHAPE,
    TOPOLOGY,
)


@pytest.fixture(params=ENGINES)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    with Machine(SHAPE, TOPOLOGY, engine=request.param) as machine:
        machine.preload(RING)
        yield machine


@pytest.fixture(params=[engine for engine in ENGINES if engine != "amaranth"])
def fast_machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    """For what does not depend on how a cycle goes."""
    with Machine(SHAPE, TOPOLOGY, engine=request.param) as machine:
        machine.preload(RING)
        yield machine
