"""Files of algorithms, and what is written of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from pointsman.artifacts.algorithms.by_name import import_msccl, import_te_ccl
from pointsman.artifacts.algorithms.file import algorithm_from
from pointsman.artifacts.routes.file import read_problem
from pointsman.errors import PointsmanError

EXAMPLES = Path(__file__).parents[5] / "examples/formats"


def test_json_and_application_have_the_same_algorithm(tmp_path: Path) -> None:
    data, told = import_msccl(EXAMPLES / "ring_allreduce.xml", application=False)
    assert told == "allreduce on 4 ranks, 24 messages"
    text, _ = import_msccl(EXAMPLES / "ring_allreduce.xml", application=True)
    held: dict[str, object] = {}
    exec(compile(text, "made", "exec"), held)
    assert algorithm_from(held["Imported"].algorithm) == algorithm_from(data)  # type: ignore[attr-defined]


def test_a_schedule_becomes_streams_on_its_links(tmp_path: Path) -> None:
    data, told = import_te_ccl(EXAMPLES / "ring_allgather_teccl.json")
    assert told == "allgather on 4 nodes in 2 epochs, 12 moves"
    path = tmp_path / "streams.json"
    path.write_bytes(data)
    problem = read_problem(path)
    assert len(problem.links) == 8
    assert next((s.source, s.destinations, s.words) for s in problem.streams) == (0, (1, 2, 3), 1)


def test_a_schedule_through_a_switch_becomes_streams_over_it(tmp_path: Path) -> None:
    data, told = import_te_ccl(EXAMPLES / "switch_alltoall_teccl.json")
    assert told == "alltoall on 3 nodes in 3 epochs, 10 moves (node 3 is a switch)"
    path = tmp_path / "streams.json"
    path.write_bytes(data)
    problem = read_problem(path)
    assert len(problem.links) == 8
    assert Counter((s.source, s.destinations, s.words) for s in problem.streams) == Counter(
        (a, (b,), 1) for a in range(3) for b in range(3) if a != b
    )


def test_streams_of_random_schedules_are_read_again(tmp_path: Path) -> None:
    random, path, out = Random(7), tmp_path / "s.json", tmp_path / "streams.json"
    for _ in range(30):
        n, chunks = random.randrange(2, 9), random.randrange(1, 6)
        # Each node sends its chunks along a ring; how far the chunk goes is what is demanded.
        reach = {(source, chunk): random.randrange(1, n) for source in range(n) for chunk in range(chunks)}
        flows, paths = [], []
        for (source, chunk), hops in reach.items():
            for hop in range(hops):
                a, b = (source + hop) % n, (source + hop + 1) % n
                flows.append(f"Chunk {chunk} from {source} traveled over {a}->{b} in epoch {chunk * n + hop}")
                paths.append(f"Demand at {b} for chunk {chunk} from {source} met by epoch 99")
        random.shuffle(flows)
        random.shuffle(paths)
        path.write_text(json.dumps({"7-Flows": flows, "8-Chunk paths": paths}))
        data, _ = import_te_ccl(path)
        out.write_bytes(data)
        found = Counter[tuple[int, int]]()
        for stream in read_problem(out).streams:
            for end in stream.destinations:
                found[stream.source, end] += stream.words
        assert found == Counter(
            (source, (source + hop) % n) for (source, _), hops in reach.items() for hop in range(1, hops + 1)
        )


def test_a_name_in_the_file_cannot_end_the_text_of_the_application(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    evil = "&quot;&quot;&quot; + __import__('os').abort() + r&quot;&quot;&quot;"
    path.write_text((EXAMPLES / "ring_allreduce.xml").read_text().replace('name="ring"', f'name="{evil}"'))
    text, _ = import_msccl(path, application=True)
    held: dict[str, object] = {}
    exec(compile(text, "made", "exec"), held)
    assert "abort" in algorithm_from(held["Imported"].algorithm).name  # type: ignore[attr-defined]


def test_the_file_is_named_in_a_refusal(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<x/>")
    with pytest.raises(PointsmanError, match=r"a\.xml: line 1: <x> is not known"):
        import_msccl(path, application=True)
    with pytest.raises(PointsmanError, match="gone"):
        import_te_ccl(tmp_path / "gone.json")


def test_a_plan_becomes_an_application_too() -> None:
    text, told = import_msccl(EXAMPLES / "pair_allreduce_plan.json", application=True, plan=True)
    assert told == "allreduce on 2 ranks, 4 messages"
    assert b"class Imported" in text
