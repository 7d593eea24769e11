"""Steps of thread blocks in an order in which they can be carried out."""

from __future__ import annotations

import pytest

from pointsman.artifacts.algorithms.threads import Step, ThreadBlock, in_order
from pointsman.errors import PointsmanError


def block(rank: int, number: int, to: int, frm: int, *steps: tuple[str, int, tuple[int, int] | None]) -> ThreadBlock:
    made = tuple(Step(kind, ("i", 0), ("o", 0), count, after, 7) for kind, count, after in steps)
    return ThreadBlock(rank, number, to, frm, 0, made)


@pytest.mark.parametrize("last_first", [False, True])
def test_sends_do_not_wait_and_receives_come_after_them(last_first: bool) -> None:
    both = [block(0, 0, 1, 1, ("s", 1, None), ("r", 1, None)), block(1, 0, 0, 0, ("s", 1, None), ("rrs", 1, None))]
    both[0] = block(0, 0, 1, 1, ("s", 1, None), ("r", 1, None), ("r", 1, None))
    messages, actions = in_order(both, last_first=last_first)
    assert sorted((one.source, one.destination) for one in messages) == [(0, 1), (1, 0), (1, 0)]
    sent: set[int] = set()
    for action in actions:
        assert all(at in sent for name, at in action.operands if name == "m")
        if action.into[0] == "m":
            sent.add(action.into[1])


def test_a_step_waits_for_the_step_of_another_thread_block() -> None:
    blocks = [block(0, 0, -1, -1, ("cpy", 1, (1, 0))), block(0, 1, -1, -1, ("re", 1, None))]
    for last_first in (False, True):
        _, actions = in_order(blocks, last_first=last_first)
        assert [len(action.operands) for action in actions] == [2, 1]


@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        (
            [block(0, 0, -1, 1, ("r", 1, None)), block(1, 0, 0, -1)],
            r"line 7: rank 0, thread block 0, step 0 \(r\) waits for ever: rank 1 sends nothing more on channel 0",
        ),
        (
            [block(0, 0, -1, -1, ("cpy", 1, (1, 0))), block(0, 1, -1, -1, ("cpy", 1, (0, 0)))],
            r"step 0 \(cpy\) waits for ever: step 0 of thread block 1 is not done",
        ),
        (
            [block(0, 0, 1, -1, ("s", 1, None))],
            r"step 0 \(s\) sends to rank 1 on channel 0, where nothing receives it from rank 0",
        ),
        (
            [block(0, 0, 1, -1, ("s", 2, None)), block(1, 0, -1, 0, ("r", 1, None))],
            r"rank 1, thread block 0, step 0 \(r\) receives 1 chunks, and line 7: rank 0, .* sends 2",
        ),
    ],
)
def test_what_never_ends_is_refused_with_the_step(blocks: list[ThreadBlock], told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        in_order(blocks)
