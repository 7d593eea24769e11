"""What happens again and again is played once, and the cycles are those of a play word by word."""

from __future__ import annotations

import numpy as np
import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.options import PlanOptions
from pointsman.plan.timeline import lanes as of_lanes
from pointsman.plan.timeline import timeline as timelines
from pointsman.plan.timeline.repetition import MEMORY, _same_age, lane_rounds
from pointsman.protocol.costs import AgentCosts


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("(broadcast 'o 0 :m 900)", (3, 2)),
        ("(cshift 'o 1 :m 700) (allreduce 'p 'add :m 300)", (3, 1)),
        ("(gather 'o 0 :m 300 :impl 'str_gather_tree)", (2, 2)),
        ("(prefix 'o 'add :m 400)", (4, 1)),
        ("(spread 'o 1 :m 300 :impl 'dyn_spread)", (2, 2)),
        ("(gather 'o 0 :m 500 :impl 'dyn_gather)", (3, 2)),
        ("(permute 'o (runtime) :m 600 :impl 'dyn_permute)", (3, 2)),
        ("(parallel (stream 'o 0 3 :m 800) (stream 'p 1 2 :m 500) (stream 'q 3 0 :m 90))", (2, 2)),
        # Processors that combine for 500 cycles are interrupted meanwhile.
        (
            "(loop 'l 2 (parallel (prefix 'o 'matrices :m 500 :impl 'dyn_prefix) (stream 'q 0 1 :m 64 :impl 'dyn_stream)))",
            (3, 1),
        ),
    ],
)
def test_long_messages_take_the_cycles_of_a_play_word_by_word(
    text: str, size: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = make_plan(
        compile_text(text, topology=mesh(*size)), NodeShape(), name="long", period=16, options=PlanOptions(first=True)
    )
    quick = timelines.timeline(plan)
    monkeypatch.setattr(timelines, "CALM", 1 << 40)
    slow = timelines.timeline(plan)
    assert quick is not None
    assert slow is not None
    assert (quick.phases, quick.total) == (slow.phases, slow.total)
    assert quick.played < slow.played


def test_a_message_of_a_million_words_is_played_in_some_thousand_cycles() -> None:
    plan = make_plan(
        compile_text("(cshift 'o 1 :m 1000000)", topology=mesh(3, 2)),
        NodeShape(),
        name="long",
        options=PlanOptions(first=True),
    )
    found = timelines.timeline(plan)
    assert found is not None
    assert found.total > 1_000_000
    assert found.played < 20_000


def rows(*lanes: dict[str, int]) -> np.ndarray:
    table = np.zeros((len(lanes), 8), np.int64)
    table[:, [of_lanes.AFTER, of_lanes.PAIR]] = -1
    table[:, of_lanes.REGISTERS] = 1
    for row, lane in zip(table, lanes, strict=True):
        for name, value in lane.items():
            row[getattr(of_lanes, name)] = value
    return table


@pytest.mark.parametrize(
    ("lanes", "before", "now", "rounds"),
    [
        # Ten words a round; the last ones, and as many as a round, are played.
        ([{"WORDS": 100}], [10], [20], 6),
        ([{"WORDS": 100}], [70], [90], 0),
        # Two registers in turn, and an odd number of words.
        ([{"WORDS": 100, "REGISTERS": 2}], [10], [15], 0),
        # A lane that waits until another has moved all its words: it stands still, the other goes on.
        ([{"WORDS": 100}, {"WORDS": 50, "AFTER": 0}], [10, 0], [20, 0], 6),
        # Pieces of four words: both move on by two pieces a round, or not by whole pieces.
        ([{"WORDS": 100}, {"WORDS": 100, "AFTER": 0, "PIECE": 4}], [16, 8], [24, 16], 8),
        ([{"WORDS": 100}, {"WORDS": 100, "AFTER": 0, "PIECE": 4}], [16, 8], [22, 14], 0),
        # All pieces have come before.
        ([{"WORDS": 100}, {"WORDS": 100, "AFTER": 0, "PIECE": 4}], [100, 8], [100, 14], 13),
        # A piece that is awaited comes after 200 words.
        ([{"WORDS": 400}, {"WORDS": 400, "AFTER": 0, "PIECE": 200}], [10, 0], [20, 0], 16),
        # Pairs keep their distance.
        ([{"WORDS": 100}, {"WORDS": 100, "PAIR": 0, "WINDOW": 3}], [8, 10], [16, 18], 9),
        ([{"WORDS": 100}, {"WORDS": 100, "PAIR": 0, "WINDOW": 9}], [8, 10], [16, 17], 0),
    ],
)
def test_lanes_go_on_as_long_as_none_ends_and_none_that_waits_may_go(
    lanes: list[dict[str, int]], before: list[int], now: list[int], rounds: int
) -> None:
    table = rows(*lanes)
    assert lane_rounds(table, 0, len(lanes), np.array(now), np.array(before)) == rounds


def test_times_long_ago_are_all_the_same() -> None:
    assert _same_age(np.array([90, 5]), np.array([80, 5]), 100, 90)
    assert not _same_age(np.array([90]), np.array([81]), 100, 90)
    costs = AgentCosts()
    assert max(costs.interrupt, costs.patience, costs.poll) < MEMORY
