"""Schedules of TE-CCL."""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path
from random import Random

import pytest

from pointsman.artifacts.algorithms.teccl import Epochs, from_teccl
from pointsman.errors import PointsmanError

EXAMPLE = Path(__file__).parents[5] / "examples/formats/ring_allgather_teccl.json"


def read(value: object) -> Epochs:
    return from_teccl(StringIO(json.dumps(value)))


def test_the_example_is_an_allgather_in_two_epochs() -> None:
    schedule = from_teccl(StringIO(EXAMPLE.read_text()))
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
        read({"7-Flows": flows})


def test_demands_of_other_words_and_other_files_are_refused() -> None:
    flow = "Chunk 0 from 0 traveled over 0->1 in epoch 0"
    with pytest.raises(PointsmanError, match=r"line 1: 8-Chunk paths\.x: a demand of other words"):
        read({"7-Flows": [flow], "8-Chunk paths": {"x": []}})
    with pytest.raises(PointsmanError, match="7-Flows"):
        from_teccl(StringIO("{}"))


def test_chunks_for_one_node_each_are_an_alltoall() -> None:
    flows = [f"Chunk 0 from {a} traveled over {a}->{1 - a} in epoch 0" for a in (0, 1)]
    paths = {f"Demand at {1 - a} for chunk 0 from {a} met by epoch 0": [] for a in (0, 1)}
    assert read({"7-Flows": flows, "8-Chunk paths": paths}).collective == "allgather"
    flows = [f"Chunk {b} from {a} traveled over {a}->{b} in epoch 0" for a in range(3) for b in range(3) if a != b]
    paths = {f"Demand at {b} for chunk {b} from {a} met by epoch 0": [] for a in range(3) for b in range(3) if a != b}
    assert read({"7-Flows": flows, "8-Chunk paths": paths}).collective == "alltoall"


def naive(moves: list[tuple[int, ...]], demands: list[tuple[int, ...]]) -> str | None:
    """What is wrong with moves of (epoch, source, chunk, from, to), found one after the other."""
    order = sorted(range(len(moves)), key=lambda k: moves[k][0])
    there: dict[tuple[int, ...], int] = {}
    for k in order:
        epoch, source, chunk, a, b = moves[k]
        if a != source and there.get((a, source, chunk), epoch) >= epoch:
            return f"7-Flows[{k}]: chunk {chunk} of node {source} leaves node {a} in epoch {epoch}, and is not there"
        there.setdefault((b, source, chunk), epoch)
    used: dict[tuple[int, ...], int] = {}
    for k in order:
        epoch, _, _, a, b = moves[k]
        if (other := used.setdefault((epoch, a, b), k)) != k:
            return f"7-Flows[{k}]: the link {a}->{b} carries 7-Flows[{other}] in epoch {epoch} already"
    nodes = 1 + max(max(source, a, b) for _, source, _, a, b in moves)
    chunks = sorted({(source, chunk) for _, source, chunk, _, _ in moves})
    for node, source, chunk in demands or [(n, s, c) for n in range(nodes) for s, c in chunks if n != s]:
        if (node, source, chunk) not in there:
            return f"chunk {chunk} of node {source} never comes to node {node}, which demands it"
    return None


def test_random_schedules_are_taken_or_refused_as_one_flow_after_the_other_says() -> None:
    random, taken = Random(5), 0
    for _ in range(3000):
        n = random.randrange(2, 5)
        moves = [
            (random.randrange(3), random.randrange(n), random.randrange(2), *random.sample(range(n), 2))
            for _ in range(random.randrange(1, 6))
        ]
        came = [(b, source, chunk) for _, source, chunk, _, b in moves]
        demands = random.sample(came, random.randrange(len(came) + 1)) + [(0, 0, 0)] * (random.random() < 0.1)
        text = {
            "8-Chunk paths": {f"Demand at {d} for chunk {c} from {s} met by epoch 9": [] for d, s, c in demands},
            "7-Flows": [f"Chunk {c} from {s} traveled over {a}->{b} in epoch {e}" for e, s, c, a, b in moves],
        }
        told = naive(moves, demands)
        if told is None:
            found = read(text)
            assert sorted(map(tuple, found.moves.tolist())) == sorted(moves)
            taken += 1
        else:
            with pytest.raises(PointsmanError, match=re.escape(told)):
                read(text)
    assert taken > 200


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"7-Flows":\n [5]}', r"line 2: 7-Flows\[0\]: Expected `str`, got `int`"),
        ('{"7-Flows": [],\n "7-Flows": []}', "line 2: 7-Flows: a schedule must have 7-Flows once"),
        ('{"7-Flows": ["Chunk 0 from 5000 traveled over 0->1 in epoch 0"]}', "at most 4096 nodes and 1000000 flows"),
        ('{"8-Chunk paths": ["Demand at 0 for chunk 0 from 9999 met by epoch 0"]}', "at most 4096 nodes"),
        ('{"6-More": {"a": [1, }}', "line 1: 6-More.a.1.: this is no JSON"),
        ("[]", "line 1: an object must stand here"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        from_teccl(StringIO(text))


def test_demands_in_a_list_are_read_too() -> None:
    flow, demand = "Chunk 3 from 0 traveled over 0->1 in epoch 7", "Demand at 1 for chunk 3 from 0 met by epoch 7"
    assert read({"8-Chunk paths": [demand], "7-Flows": [flow]}).demands.tolist() == [[1, 0, 3]]


def test_a_demand_that_is_met_later_than_it_says_is_refused() -> None:
    flows = ["Chunk 0 from 0 traveled over 0->1 in epoch 2", "Chunk 0 from 0 traveled over 1->2 in epoch 4"]
    demands = ["Demand at 1 for chunk 0 from 0 met by epoch 2", "Demand at 2 for chunk 0 from 0 met by epoch 5"]
    assert len(read({"7-Flows": flows, "8-Chunk paths": demands}).demands) == 2
    demands[1] = demands[1].replace("5", "3")
    told = "^chunk 0 of node 0 comes to node 2 in epoch 4, and its demand is said to be met by epoch 3$"
    with pytest.raises(PointsmanError, match=told):
        read({"7-Flows": flows, "8-Chunk paths": demands})
