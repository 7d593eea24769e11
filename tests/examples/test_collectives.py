"""Collectives on the node equal NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, torus
from pointsman.runtime import WrongAnswer

KINDS = ("all-reduce", "reduce-scatter", "all-gather")
NETWORKS = (
    *(mesh(*size) for size in ((1, 2), (2, 2), (3, 3), (5, 3), (4, 4), (8, 2), (4, 3, 2), (5, 5))),
    *(torus(*size) for size in ((3, 5), (5,))),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda one: f"{one} {one.kind}")
def test_they_are_right_by_their_meaning(example, network: Topology, kind: str) -> None:
    application, results = example.meant(network, "--kind", kind, "--words", "3")
    assert application.check(results) == f"{kind} of 3 words: all {network.nodes} nodes are right"


def test_an_all_gather_runs_on_the_model(example) -> None:
    assert example.run(mesh(2, 2), "model", "--words", "9").correct


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_run_on_the_rtl(example, kind: str) -> None:
    assert example.run(mesh(4, 4), "verilated", "--kind", kind, "--words", "64").correct


def test_a_wrong_answer_is_told(example) -> None:
    application, results = example.meant(mesh(2, 2), "--words", "2")
    with pytest.raises(WrongAnswer, match="node 3 ends with"):
        application.check([*results[:3], np.array(results[3]) + 1])


def test_wrong_words(example) -> None:
    with pytest.raises(PointsmanError, match="--words must be 1 to 65536, not 0"):
        example.made(mesh(2, 2), "--words", "0")
