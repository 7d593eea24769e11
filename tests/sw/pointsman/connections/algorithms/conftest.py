"""What is common to the tests of algorithms: random connections, and whether configurations use nothing twice."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pointsman.artifacts.configurations.configurations import ConnectionProblem, Network
from pointsman.connections.conflicts import Conflicts, conflicts_of
from pointsman.connections.patterns import random_pattern


@pytest.fixture
def random_conflicts() -> Callable[..., Conflicts]:
    def made(seed: int, connections: int = 60, routing: str = "xy") -> Conflicts:
        pairs = tuple(random_pattern(20, connections, seed))
        return conflicts_of(ConnectionProblem(Network("torus", (4, 5)), pairs, routing))  # type: ignore[arg-type]

    return made


@pytest.fixture
def uses_nothing_twice() -> Callable[..., bool]:
    def kept(conflicts: Conflicts, colours: np.ndarray, chosen: np.ndarray | None = None) -> bool:
        chosen = conflicts.ways[:-1] if chosen is None else chosen
        taken = [
            (colour, resource)
            for colour, way in zip(colours.tolist(), chosen.tolist(), strict=True)
            for resource in conflicts.resources_of(way).tolist()
        ]
        return len(set(taken)) == len(taken)

    return kept
