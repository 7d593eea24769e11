"""Cycles of the run time's steps."""

from __future__ import annotations

import pytest

from pointsman.protocol.costs import ANNOTATION_DRAIN, POINTER_DRAIN, can_rewrite, load_cycles, rewrites_soon


@pytest.mark.parametrize(
    ("words", "cycles"),
    [((0, 0), 0), ((5, 0), 10), ((5, 5), 10), ((5, 4, 3), 12), ((7,), 14)],
)
def test_a_command_register_takes_a_word_every_other_cycle_and_the_processor_writes_one_a_cycle(
    words: tuple[int, ...], cycles: int
) -> None:
    assert load_cycles(words) == cycles


def test_commands_need_a_slot_of_their_pipeline() -> None:
    assert can_rewrite({0, 1}, [1, 3])
    assert not can_rewrite({0, 1}, [1, 0])
    assert can_rewrite({0}, [1, 0])
    assert can_rewrite((), [0, 0])


def test_few_commands_go_through_the_phase_that_runs_and_many_through_the_loader_phase() -> None:
    assert rewrites_soon({}, [0], 16)
    assert not rewrites_soon({0: 1}, [0], 16)
    assert rewrites_soon({0: 1}, [1], 16)
    # With as many slots as cycles a command is never slower than in the loader phase.
    assert all(rewrites_soon({0: words}, [16], 16) for words in range(1, 200))
    soon = [rewrites_soon({0: words}, [2], 16) for words in range(1, 200)]
    assert soon[0]
    assert soon == sorted(soon, reverse=True)
    assert not soon[-1]


def test_a_pipeline_of_the_router_drains_in_some_cycles() -> None:
    assert POINTER_DRAIN > 0
    assert ANNOTATION_DRAIN > 0
