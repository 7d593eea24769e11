"""GOAL text, read by LogGOPSim's grammar and carried out."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest
from tests.sw.pointsman.artifacts.algorithms.random_algorithms import random_algorithm

from pointsman.artifacts.algorithms.algorithm import Algorithm, Buffers, Message
from pointsman.artifacts.algorithms.goal import MOST_BYTES, goal_text
from pointsman.artifacts.algorithms.msccl import from_msccl
from pointsman.errors import PointsmanError

EXAMPLE = Path(__file__).parents[5] / "examples/formats/ring_allreduce.xml"
Operation = tuple[str, int, int, int]
"""Send or recv, bytes, the other rank, tag."""


def parsed(text: str) -> list[tuple[dict[str, Operation], dict[str, set[str]]]]:
    """Operations by label, and what each requires, of each rank. As the scanner of LogGOPSim's txt2bin has it: a line each,
    labels of letters, digits and underscores, whole numbers of 64 bits for sizes and of 32 for ranks and tags."""
    lines = iter(text.split("\n"))
    found = re.fullmatch(r"num_ranks (\d+)", next(lines))
    assert found
    ranks: list[tuple[dict[str, Operation], dict[str, set[str]]]] = []
    inside = False
    for line in lines:
        if not line:
            continue
        if opened := re.fullmatch(r"rank (\d+) \{", line):
            assert not inside
            assert int(opened[1]) == len(ranks)
            inside = True
            ranks.append(({}, {}))
        elif line == "}":
            assert inside
            inside = False
        elif one := re.fullmatch(r"([a-zA-Z]\w*): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)", line, re.ASCII):
            assert (" to " in line) == (one[2] == "send")
            assert int(one[3]) < 1 << 64
            assert max(int(one[4]), int(one[5])) < (1 << 32) - 1
            assert inside
            assert one[1] not in ranks[-1][0]
            ranks[-1][0][one[1]] = one[2], int(one[3]), int(one[4]), int(one[5])
        else:
            needs = re.fullmatch(r"([a-zA-Z]\w*) requires ([a-zA-Z]\w*)", line, re.ASCII)
            assert needs, line
            assert {needs[1], needs[2]} <= ranks[-1][0].keys()  # labels must be there before
            ranks[-1][1].setdefault(needs[1], set()).add(needs[2])
    assert not inside
    assert len(ranks) == int(found[1])
    return ranks


def rounds(text: str) -> int:
    """Of operations that can be carried out at the same time, until all are."""
    ranks = parsed(text)
    left = {(rank, label) for rank, (operations, _) in enumerate(ranks) for label in operations}
    sent: dict[tuple[int, int, int, int], int] = {}
    count = 0
    while left:
        ready = set()
        for rank, label in left:
            kind, size, other, tag = ranks[rank][0][label]
            if all((rank, one) not in left for one in ranks[rank][1].get(label, ())):
                if kind == "send" or sent.get((other, rank, size, tag)):
                    ready.add((rank, label))
        assert ready, "nothing can go on"
        left -= ready
        for rank, label in ready:
            kind, size, other, tag = ranks[rank][0][label]
            key = (rank, other, size, tag) if kind == "send" else (other, rank, size, tag)
            sent[key] = sent.get(key, 0) + (1 if kind == "send" else -1)
        count += 1
    assert not any(sent.values()), "some messages are not received"
    return count


def test_a_ring_takes_its_steps() -> None:
    with EXAMPLE.open("rb") as file:
        text = goal_text(from_msccl(file), chunk_bytes=12)
    ranks = parsed(text)
    assert [len(operations) for operations, _ in ranks] == [12] * 4
    assert {size for operations, _ in ranks for _, size, _, _ in operations.values()} == {12}
    assert rounds(text) == 2 * 6  # six steps round the ring, each a send and then its receive


def test_schedules_of_random_algorithms_are_read_and_end() -> None:
    random = Random(3)
    for _ in range(60):
        algorithm = random_algorithm(random)
        chunk_bytes = random.choice([1, 4, 12, 1 << 42])
        ranks = parsed(goal_text(algorithm, chunk_bytes=chunk_bytes))
        found = {
            (tag, rank, other, size)
            for rank, (operations, _) in enumerate(ranks)
            for kind, size, other, tag in operations.values()
            if kind == "send"
        }
        assert found == {
            (number, one.source, one.destination, one.count * chunk_bytes)
            for number, one in enumerate(algorithm.messages)
        }
        rounds(goal_text(algorithm, chunk_bytes=chunk_bytes))


def empty(*messages: Message) -> Algorithm:
    return Algorithm("x", "allgather", 2, Buffers(1, 2, 0), messages, ())


def test_an_algorithm_without_messages_is_refused() -> None:
    with pytest.raises(PointsmanError, match=r"^the algorithm has no messages, so there is nothing to write$"):
        goal_text(empty(), chunk_bytes=4)


def test_a_message_beyond_numbers_is_refused() -> None:
    with pytest.raises(PointsmanError, match=rf"^messages\[1\] has 3000 chunks of {1 << 42} bytes, .* {MOST_BYTES}\n"):
        goal_text(empty(Message(0, 1, 1), Message(1, 0, 3000)), chunk_bytes=1 << 42)
