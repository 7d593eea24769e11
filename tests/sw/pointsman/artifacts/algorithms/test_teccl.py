"""Schedules of TE-CCL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pointsman.artifacts.algorithms.teccl import from_teccl
from pointsman.errors import PointsmanError

EXAMPLE = Path(__file__).parents[5] / "examples/formats/ring_allgather_teccl.json"


def test_the_example_is_an_allgather_in_two_epochs() -> None:
    schedule = from_teccl(EXAMPLE.read_bytes())
    assert (schedule.nodes, schedule.epochs, len(schedule.moves), schedule.collective) == (4, 2, 12, "allgather")


@pytest.mark.parametrize(
    ("flows", "told"),
    [
        (["Chunk 0 of 1 goes 1->2"], r"7-Flows\[0\]: flows through switches, and other words"),
        (["Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches 9"], r"7-Flows\[0\]: flows through switches"),
        (["Chunk 0 from 0 traveled over 0->1 with volume 0.5 in epoch 0"], "must carry a whole chunk, not 0.5"),
        (
            ["Chunk 0 from 0 traveled over 1->2 in epoch 0"],
            "chunk 0 of node 0 leaves node 1 in epoch 0, and is not there",
        ),
        (
            ["Chunk 0 from 0 traveled over 0->1 in epoch 3", "Chunk 0 from 0 traveled over 1->2 in epoch 3"],
            r"7-Flows\[1\]: chunk 0 of node 0 leaves node 1 in epoch 3, and is not there",
        ),
        (
            ["Chunk 0 from 0 traveled over 0->1 in epoch 0", "Chunk 1 from 0 traveled over 0->1 in epoch 0"],
            r"7-Flows\[1\]: the link 0->1 carries 7-Flows\[0\] in epoch 0 already",
        ),
        (["Chunk 0 from 0 traveled over 0->0 in epoch 0"], "from 0 to itself"),
        ([], "a schedule must have a flow"),
        (["Chunk 0 from 0 traveled over 0->2 in epoch 0"], "chunk 0 of node 0 never comes to node 1"),
    ],
)
def test_a_wrong_schedule_is_refused_with_its_entry(flows: list[str], told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        from_teccl(json.dumps({"7-Flows": flows}).encode())


def test_demands_of_other_words_and_other_files_are_refused() -> None:
    flow = "Chunk 0 from 0 traveled over 0->1 in epoch 0"
    with pytest.raises(PointsmanError, match="8-Chunk paths: a demand of other words"):
        from_teccl(json.dumps({"7-Flows": [flow], "8-Chunk paths": {"x": []}}).encode())
    with pytest.raises(PointsmanError, match="7-Flows"):
        from_teccl(b"{}")


def test_chunks_for_one_node_each_are_an_alltoall() -> None:
    flows = [f"Chunk 0 from {a} traveled over {a}->{1 - a} in epoch 0" for a in (0, 1)]
    paths = {f"Demand at {1 - a} for chunk 0 from {a} met by epoch 0": [] for a in (0, 1)}
    assert from_teccl(json.dumps({"7-Flows": flows, "8-Chunk paths": paths}).encode()).collective == "allgather"
    flows = [f"Chunk {b} from {a} traveled over {a}->{b} in epoch 0" for a in range(3) for b in range(3) if a != b]
    paths = {f"Demand at {b} for chunk {b} from {a} met by epoch 0": [] for a in range(3) for b in range(3) if a != b}
    assert from_teccl(json.dumps({"7-Flows": flows, "8-Chunk paths": paths}).encode()).collective == "alltoall"
