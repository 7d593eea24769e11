"""Traffic of the bench of a node, with the model in place of the hardware."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from cosim.benches.coverage import Coverage
from cosim.benches.numesh import node
from cosim.benches.numesh.catalogue import ODD, STANDARD
from cosim.benches.numesh.moves import MOVES
from numesh.shape import NodeShape


@pytest.mark.long
@pytest.mark.parametrize(("shape", "seed"), [(STANDARD, 0), (ODD, 0)])
def test_traffic_of_the_node_bench_reaches_every_bin(
    shape: NodeShape, seed: int, run_bench: Callable[..., int]
) -> None:
    coverage = Coverage()
    model = node.CoveredNode(shape, coverage)
    run_bench(node.NodeDriver(shape, Random(seed), model.counter.moves.goals), model, coverage, 120000)
    assert {name: group.missing for name, group in coverage.groups.items() if group.missing} == {}
    assert len(coverage.groups[MOVES].hits) == 154, "the bins of moves that are within reach"


def test_only_inputs_of_the_first_half_of_a_cycle_are_those_that_no_output_may_notice() -> None:
    driver = node.NodeDriver(STANDARD, Random(3), list)
    differ = 0
    for cycle in range(200):
        early = driver.early(cycle)
        late = driver.late({"p_full": 0})
        assert set(early) - set(late) == {"rst"}, "the reset holds for the whole cycle"
        assert all(0 <= value <= STANDARD.word_mask for value in late.values())
        differ += any(early[name] != late[name] for name in early if name in late)
    assert 20 < differ < 180
