"""What collectives are, and what is said of algorithms that are not."""

from __future__ import annotations

import pytest

from pointsman.artifacts.algorithms.algorithm import Action, Algorithm, Buffers, Message, check_algorithm, check_sizes
from pointsman.errors import PointsmanError


def pair(*actions: Action, collective: str = "allgather") -> Algorithm:
    """Two ranks that send each other a message of a chunk."""
    return Algorithm("x", collective, 2, Buffers(1, 2, 0), (Message(0, 1, 1), Message(1, 0, 1)), actions)  # type: ignore[arg-type]


OWN = [Action(rank, (("i", 0),), ("o", rank), 1, f"own {rank}") for rank in (0, 1)]
SENT = [Action(rank, (("i", 0),), ("m", rank), 1, f"send {rank}") for rank in (0, 1)]
KEPT = [Action(rank, (("m", 1 - rank),), ("o", 1 - rank), 1, f"keep {rank}") for rank in (0, 1)]


def test_an_allgather_of_two_is_right() -> None:
    check_algorithm(pair(*OWN, *SENT, *KEPT))


@pytest.mark.parametrize(
    ("actions", "told"),
    [
        (
            [*OWN, *SENT, KEPT[0]],
            r"rank 1: at the end o\[0\] is not there, and must be input 0 of rank 0; no step writes it",
        ),
        ([*OWN, *KEPT, *SENT], r"keep 0 reads m\[1\], in which there is nothing yet"),
        (
            [*OWN, *SENT, *KEPT, Action(0, (("o", 0), ("i", 0)), ("o", 0), 1, "more")],
            "more adds input chunk 0 of rank 0 twice",
        ),
        (
            [*OWN, *SENT, *KEPT, Action(1, (("o", 0),), ("o", 1), 1, "wrong")],
            r"rank 1: at the end o\[1\] is input 0 of rank 0, and must be input 0 of rank 1; wrong wrote it last",
        ),
    ],
)
def test_a_wrong_algorithm_is_refused_with_its_step(actions: list[Action], told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        check_algorithm(pair(*actions))


@pytest.mark.parametrize(
    ("collective", "inputs", "outputs", "right"),
    [
        ("allgather", 2, 6, True),
        ("allgather", 2, 5, False),
        ("reduce_scatter", 6, 2, True),
        ("reduce_scatter", 5, 2, False),
        ("alltoall", 4, 4, False),
        ("all-reduce", 4, 4, True),
        ("custom", 4, 4, False),
    ],
)
def test_buffers_have_the_sizes_of_their_collective(collective: str, inputs: int, outputs: int, right: bool) -> None:
    if right:
        assert check_sizes(collective, 3, Buffers(inputs, outputs, 0)) == collective.replace("_", "").replace("-", "")
    else:
        with pytest.raises(PointsmanError):
            check_sizes(collective, 3, Buffers(inputs, outputs, 0))
