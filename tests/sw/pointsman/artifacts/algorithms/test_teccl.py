"""Schedules of TE-CCL."""

from __future__ import annotations

import json
import re
from io import StringIO
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

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
        (["Chunk 0 of 1 goes 1->2"], r"7-Flows\[0\]: a flow of other words"),
        (["Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches"], r"7-Flows\[0\]: a flow of other words"),
        (["Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches 1"], r"7-Flows\[0\]: a flow must go to another"),
        (
            ["Chunk 0 from 0 traveled over 0->1 with volume 0.5 in epoch 0"],
            "chunk 0 of node 0 flows in parts, and 8-Chunk paths do not have the paths on which they go to node 1",
        ),
        (["Chunk 0 from 0 traveled over 0->1 with volume 1.5 in epoch 0"], "above 0 and up to 1, not 1.5"),
        (["Chunk 0 from 0 traveled over 0->1 with volume nan in epoch 0"], "above 0 and up to 1, not nan"),
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


ALL_GATHER_BY_SWITCH = [
    f"Chunk 0 from {a} traveled over {a}->{b} in epoch 0 via switches 3" for a in range(3) for b in range(3) if a != b
]


def test_a_switch_takes_a_chunk_once_and_gives_it_to_many() -> None:
    schedule = read({"7-Flows": ALL_GATHER_BY_SWITCH})
    assert (schedule.nodes, schedule.switches, schedule.collective) == (4, (3,), "allgather")
    assert schedule.links == ((0, 3), (1, 3), (2, 3), (3, 0), (3, 1), (3, 2))
    assert len(schedule.demands) == 6  # a switch demands nothing


def test_the_links_between_two_switches_are_there() -> None:
    flows = [
        f"Chunk 0 from {a} traveled over {a}->{1 - a} in epoch 0 via switches {sw}"
        for a, sw in ((0, "2->3"), (1, "3 -> 2"))
    ]
    assert read({"7-Flows": flows}).links == ((0, 2), (1, 3), (2, 0), (2, 3), (3, 1), (3, 2))


def test_chunks_on_the_link_to_a_switch_are_counted_and_it_can_carry_more_than_one() -> None:
    flows = [f"Chunk {c} from 0 traveled over 0->{c + 1} in epoch 0 via switches 3" for c in (0, 1)]
    paths = [f"Demand at {c + 1} for chunk {c} from 0 met by epoch 0" for c in (0, 1)]
    text = json.dumps({"7-Flows": flows, "8-Chunk paths": paths})
    with pytest.raises(
        PointsmanError, match=r"^7-Flows\[1\]: the link 0->3 carries 7-Flows\[0\] in epoch 0 already"
    ) as told:
        from_teccl(StringIO(text))
    assert told.value.hint == "--link-chunks 2, if the links of its topology carry as many chunks an epoch"
    assert len(from_teccl(StringIO(text), link_chunks=2).moves) == 2
    third = json.dumps({"7-Flows": [*flows, "Chunk 2 from 0 traveled over 0->1 in epoch 0 via switches 3"]})
    with pytest.raises(PointsmanError, match=r"^7-Flows\[2\]: the link 0->3 carries 2 chunks in epoch 0 already"):
        from_teccl(StringIO(third), link_chunks=2)


def test_a_switch_in_which_a_flow_ends_or_that_demands_is_refused() -> None:
    flows = [
        "Chunk 0 from 0 traveled over 0->1 in epoch 0 via switches 2",
        "Chunk 0 from 0 traveled over 0->2 in epoch 1",
    ]
    demand = "Demand at 1 for chunk 0 from 0 met by epoch 9"
    with pytest.raises(PointsmanError, match=r"7-Flows\[1\]: node 2 is a switch of other flows"):
        read({"7-Flows": flows, "8-Chunk paths": [demand]})


# Half of chunk 0 of node 0 goes to 3 over 1, half over 2, and both from 4 on: two paths with a hop alike, which is one flow.
HALVES = [
    [
        [
            [0, f"0->{k} with volume 0.5 in epoch 0"],
            [k, f"{k}->4 with volume 0.5 in epoch {k}"],
            [5, "4->3 with volume 0.5 in epoch 5"],
        ]
    ]
    for k in (1, 2)
]
PATHS = {"Demand at 3 for chunk 0 from 0 met by epoch 5": [path for paths in HALVES for path in paths]}


def flows_of(paths: dict[str, Any]) -> list[str]:
    """7-Flows as TE-CCL writes them: each different hop once."""
    found = set()
    for demand, parts in paths.items():
        chunk, source = re.findall(r"chunk (\d+) from (\d+)", demand)[0]
        found |= {(hop[0], f"Chunk {chunk} from {source} traveled over {hop[1]}") for part in parts for hop in part}
    return [text for _, text in sorted(found)]


@pytest.mark.parametrize("names", [("7-Flows", "8-Chunk paths"), ("6-Flows", "7-chunk paths")])
def test_parts_of_a_chunk_are_followed_along_their_paths(names: tuple[str, str]) -> None:
    flows = flows_of(PATHS)
    assert len(flows) == 5
    schedule = read({names[0]: flows, names[1]: PATHS})
    assert schedule.demands.tolist() == [[3, 0, 0]]
    assert schedule.links == ((0, 1), (0, 2), (1, 4), (2, 4), (4, 3))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("2->4 with volume 0.5", "2->4 with volume 0.25", "must carry as much on all its links, not 0.5 and 0.25"),
        (
            "2->4 with volume 0.5 in epoch 2",
            "2->4 with volume 0.5 in epoch 0",
            "must go on from node 2 after epoch 0, not as",
        ),
        ("2->4", "1->4", "must go on from node 2 after epoch 0, not as"),
        ("2->4", "two->4", "a hop of other words"),
        ("met by epoch 5", "met by epoch 4", "must come to node 3 by epoch 4, not to 3 in epoch 5"),
        ("volume 0.5", "volume 0.25", "the parts of a chunk must be 1 together, not 0.5"),
        ("Demand at 3", "Demand at 1", "a path must come to node 1 by epoch 5, not to 3"),
    ],
)
def test_a_wrong_path_is_refused_with_its_demand(old: str, new: str, told: str) -> None:
    text = json.dumps({"7-Flows": flows_of(PATHS), "8-Chunk paths": PATHS}, indent=1)
    at = text.index("8-Chunk paths")
    with pytest.raises(PointsmanError, match=rf"line \d+: 8-Chunk paths\.Demand at .*{told}"):
        from_teccl(StringIO(text[:at] + text[at:].replace(old, new)))


def test_flows_of_parts_and_their_paths_must_be_the_same() -> None:
    flows = flows_of(PATHS)
    with pytest.raises(
        PointsmanError, match=r"^8-Chunk paths: chunk 0 from 0 goes over 4->3 in epoch 5, which is not in 7-Flows$"
    ):
        read(
            {
                "7-Flows": [*flows[:-1], "Chunk 0 from 0 traveled over 4->3 with volume 0.5 in epoch 4"],
                "8-Chunk paths": PATHS,
            }
        )
    more = "Chunk 0 from 0 traveled over 4->3 with volume 0.5 in epoch 5 via switches 5"
    with pytest.raises(PointsmanError, match=r"^7-Flows\[5\]: a part of a chunk must be on a path of 8-Chunk paths$"):
        read({"7-Flows": [*flows, more], "8-Chunk paths": PATHS})
    with pytest.raises(PointsmanError, match="8-Chunk paths do not have the paths on which they go to node 3"):
        read({"7-Flows": flows, "8-Chunk paths": list(PATHS)})


def test_parts_on_a_link_are_added_up_with_those_that_are_one_flow() -> None:
    # The two halves over 4->3 fill the link, so another chunk has no room on it.
    paths = PATHS | {"Demand at 3 for chunk 0 from 4 met by epoch 5": [[[5, "4->3 with volume 1.0 in epoch 5"]]]}
    text = json.dumps({"7-Flows": flows_of(paths), "8-Chunk paths": paths})
    with pytest.raises(PointsmanError, match=r"^the link 4->3 carries 2 chunks in epoch 5, and 1 at most") as told:
        from_teccl(StringIO(text))
    assert "--link-chunks 2" in str(told.value.hint)
    assert len(from_teccl(StringIO(text), link_chunks=2).demands) == 2


def test_random_parts_are_taken_and_refused_when_one_hop_is_changed() -> None:
    random, taken, wrong = Random(9), 0, 0
    for _ in range(400):
        n = random.randrange(4, 7)
        paths: dict[str, Any] = {}
        for source in range(n):
            node = random.choice([k for k in range(n) if k != source])
            weights = [random.randrange(1, 5) for _ in range(random.randrange(1, 4))]
            parts: list[list[tuple[int, str]]] = []
            for weight in weights:
                between = random.sample([k for k in range(n) if k not in (source, node)], random.randrange(0, 3))
                way, epoch, part = [source, *between, node], 0, weight / sum(weights)
                parts.append([])
                for a, b in pairwise(way):
                    epoch += random.randrange(1, 3)
                    parts[-1].append((epoch, f"{a}->{b} with volume {part:.6f} in epoch {epoch}"))
            paths[f"Demand at {node} for chunk 0 from {source} met by epoch 9"] = parts
        flows = flows_of(paths)
        schedule = from_teccl(StringIO(json.dumps({"7-Flows": flows, "8-Chunk paths": paths})), link_chunks=9)
        assert len(schedule.demands) == n
        taken += 1
        # Each path alone, without one of its hops, no longer leads to its node.
        demand = random.choice(list(paths))
        if any(len(part) > 1 for part in paths[demand]):
            part = next(part for part in paths[demand] if len(part) > 1)
            del part[random.randrange(len(part))]
            with pytest.raises(PointsmanError, match="a path must"):
                from_teccl(StringIO(json.dumps({"7-Flows": flows, "8-Chunk paths": paths})), link_chunks=9)
            wrong += 1
    assert taken == 400
    assert wrong > 100
