"""Algorithms as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.sw.pointsman.artifacts.algorithms.random_algorithms import random_algorithm

from pointsman.artifacts.algorithms.algorithm import Action, Algorithm, Buffers, Message
from pointsman.artifacts.algorithms.file import algorithm_bytes, algorithm_from
from pointsman.artifacts.algorithms.msccl import from_msccl
from pointsman.errors import PointsmanError

with (Path(__file__).parents[5] / "examples/formats/ring_allreduce.xml").open("rb") as opened:
    RING = from_msccl(opened)


def test_what_is_written_is_read_again() -> None:
    assert algorithm_from(algorithm_bytes(RING)) == RING


def test_how_far_a_sendrecv_goes_is_written_and_read() -> None:
    sizes, messages = Buffers(1, 1, 0), tuple(Message(k, (k + 2) % 3, 1) for k in range(3))
    sends = [Action(k, (("i", 0),), ("m", k), 1, "send") for k in range(3)]
    takes = [Action((k + 2) % 3, (("m", k),), ("o", 0), 1, "take") for k in range(3)]
    made = Algorithm("x", "sendrecv", 3, sizes, messages, (*sends, *takes), distance=2)
    data = algorithm_bytes(made)
    assert algorithm_from(data) == made
    with pytest.raises(PointsmanError, match="at the end"):
        algorithm_from(data.replace(b'"distance":2', b'"distance":1'))
    assert b"distance" not in algorithm_bytes(RING)


def test_random_algorithms_are_read_again() -> None:
    random = Random(1)
    for _ in range(100):
        made = random_algorithm(random)
        assert algorithm_from(algorithm_bytes(made)) == made


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"ranks": 0}, "1 to 4096 ranks"),
        ({"messages": [[0, 0, 1]]}, "messages must go from one rank to another"),
        ({"actions": [[9, [["i", 0]], ["o", 0], 1, "this step"]]}, "this step: an action must have a rank"),
        ({"actions": [[1, [["i", 0]], ["m", 0], 1, "this step"]]}, "this step: message 0 does not begin at rank 1"),
        ({"actions": [[0, [["m", 0]], ["o", 0], 1, "this step"]]}, "this step: message 0 does not end at rank 0"),
        ({"actions": []}, r"messages\[0\]: a message must be sent once, and 0 actions send it"),
        ({"messages": [], "actions": []}, "at the end"),
        (
            {"actions": [[0, [["i", 0]], ["o", 0], 0, "this step"]]},
            "this step: an action must have a chunk or more, not 0",
        ),
        ({"actions": [[0, [], ["o", 0], 1, "this step"]]}, "this step: an action must have a rank"),
        ({"actions": [[0, [["m", 99]], ["o", 0], 1, "this step"]]}, "this step: message 99 does not end at rank 0"),
        (
            {"actions": [[0, [["i", 0]], ["o", 0], 1, "a", 5]]},
            "Expected `array` of at most length 5",
        ),
        (
            {"actions": [[0, [["i", 0]], ["m", 0], 2, "this step"]]},
            "this step: message 0 has 1 chunks, and the action 2",
        ),
        ({"actions": [[0, [["i", 0]], ["m", 0], 1, "a"]] * 2}, r"messages\[0\]: a message must be sent once, and 2"),
        ({"more": 1}, "more"),
        ({"distance": 4}, "distance must be 1 to 3, not 4"),
        ({"distance": 0}, "distance must be 1 to 3, not 0"),
    ],
)
def test_a_wrong_file_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        algorithm_from(json.dumps(json.loads(algorithm_bytes(RING)) | change))
