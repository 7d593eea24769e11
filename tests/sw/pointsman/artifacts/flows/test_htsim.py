"""Connection matrices of htsim, read as its `ConnectionMatrix::load` does."""

from __future__ import annotations

import math
from pathlib import Path
from random import Random

import pytest

from pointsman.artifacts.flows.file import flows_bytes, read_flows
from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.flows.htsim import htsim_text
from pointsman.errors import PointsmanError


def whole(text: str) -> int:
    """What C++'s ``stoi`` makes of a number, which throws beyond 31 bits."""
    value = int(text)
    assert abs(value) < 1 << 31
    return value


def parsed(text: str) -> tuple[int, list[tuple[int, int, int]]]:
    """Nodes, and source, destination and bytes of each connection."""
    lines = [line.split(" ") for line in text.splitlines()]
    assert [line[0] for line in lines[:2]] == ["Nodes", "Connections"]
    nodes, connections = whole(lines[0][1]), whole(lines[1][1])
    found, numbers = [], set()
    for ends, *words in lines[2:]:
        source, destination = map(whole, ends.split("->"))
        given = dict(zip(words[::2], map(whole, words[1::2]), strict=True))
        assert given.keys() == {"id", "start", "size"}
        assert given["start"] == 0
        assert given["id"] > 0
        assert source != destination
        assert max(source, destination) < nodes
        numbers.add(given["id"])
        found.append((source, destination, given["size"]))
    assert len(found) == len(numbers) == connections
    return nodes, found


def test_each_destination_is_a_connection_and_free_tasks_take_free_nodes() -> None:
    flows = FlowSet((Task("a"), Task("b", 0), Task("c")), (Flow("x", 0, (1, 2), 0.25), Flow("y", 1, (2,), 1.0, 60.0)))
    assert htsim_text(flows, cycles=100, word_bytes=4).splitlines() == [
        "Nodes 3",
        "Connections 3",
        "1->0 id 1 start 0 size 100",
        "1->2 id 2 start 0 size 100",
        "0->2 id 3 start 0 size 400",
    ]


def test_random_flows_are_read_with_their_ends_and_bytes(tmp_path: Path) -> None:
    random = Random(2)
    for _ in range(60):
        count = random.randrange(2, 30)
        places = random.sample(range(100), count)
        # Names may be anything: none is written.
        tasks = tuple(Task(f"task {k}->{k} #", at if random.random() < 0.5 else None) for k, at in enumerate(places))
        flows = []
        for k in range(random.randrange(1, 50)):
            source, *ends = random.sample(range(count), random.randrange(2, min(count, 5) + 1))
            flows.append(Flow(f"flow\n{k}", source, tuple(ends), random.uniform(0.01, 1)))
        path = tmp_path / "flows.json"
        path.write_bytes(flows_bytes(FlowSet(tasks, tuple(flows))))
        nodes, found = parsed(htsim_text(read_flows(path), cycles=10_000, word_bytes=8))
        at: dict[int, int] = {}
        expected = [(flow.source, end, flow.bandwidth * 80_000) for flow in flows for end in flow.destinations]
        for (a, b, size), (source, end, wanted) in zip(found, expected, strict=True):
            assert at.setdefault(source, a) == a
            assert at.setdefault(end, b) == b
            assert math.isclose(size, wanted, abs_tol=0.5)
        assert len(set(at.values())) == len(at)
        assert all(tasks[task].at in (None, node) for task, node in at.items())
        assert nodes > max(at.values())


def refused(told: str, *, at: int | None = None, bandwidth: float = 0.5, cycles: float = 100) -> None:
    with pytest.raises(PointsmanError, match=f"^{told}(\n|$)") as error:
        htsim_text(FlowSet((Task("a", at), Task("b")), (Flow("x", 0, (1,), bandwidth),)), cycles=cycles, word_bytes=4)
    assert error.value.hint or at is not None


def test_best_effort_has_no_number_of_bytes() -> None:
    refused(r"flow 'x' is of best effort \(bandwidth 0\), and a connection has a number of bytes", bandwidth=0)


def test_bytes_that_htsim_does_not_read_are_refused() -> None:
    refused(r"flow 'x' sends 2e\+10 bytes in 1e\+10 cycles, and a connection of htsim has 1 to 2147483647", cycles=1e10)
    refused("flow 'x' sends 0.2 bytes in 100 cycles, and a connection of htsim has 1 to 2147483647", bandwidth=0.0005)


def test_a_node_beyond_htsims_numbers_is_refused() -> None:
    refused("task 'a' is at node 3000000000, and htsim's nodes are 0 to 2147483646", at=3_000_000_000)


def test_a_matrix_has_as_many_nodes_as_the_network_for_which_it_is() -> None:
    flows = FlowSet((Task("a"), Task("b", 4)), (Flow("x", 0, (1,), 0.5),))
    alone = parsed(htsim_text(flows, cycles=100, word_bytes=4))
    assert alone[0] == 5
    assert parsed(htsim_text(flows, cycles=100, word_bytes=4, hosts=16)) == (16, alone[1])
    assert parsed(htsim_text(flows, cycles=100, word_bytes=4, hosts=5)) == alone
    with pytest.raises(
        PointsmanError, match=r"^a connection matrix of 4 hosts has nodes 0 to 3, and task 'b' is at node 4"
    ) as told:
        htsim_text(flows, cycles=100, word_bytes=4, hosts=4)
    assert told.value.hint == "--nodes 5, or more"


def test_no_flows_are_refused() -> None:
    with pytest.raises(PointsmanError, match=r"^there are no flows, and a connection matrix must have a connection$"):
        htsim_text(FlowSet((Task("a"),), ()), cycles=100, word_bytes=4)
