"""Which lane of a processor moves its word, and which word a VFSM finds in a register."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.plan.timeline import lanes as n


def lane(*, write: bool, words: int = 3, register: int = 0, **more: int) -> list[int]:
    row = [int(write), words, -1, 0, -1, 0, register, 1]
    for name, value in more.items():
        row[getattr(n, name)] = value
    return row


def chosen(lanes: list[list[int]], moved: list[int], full: list[int]) -> int:
    return int(n.choose(np.array(lanes), np.arange(8), np.array(moved), np.array(full), 0, len(lanes)))


def test_the_first_lane_that_can_go_goes() -> None:
    lanes = [lane(write=True), lane(write=False, register=1)]
    assert chosen(lanes, [0, 0], [0, 2]) == 0
    assert chosen(lanes, [0, 0], [1, 2]) == 1, "its register holds the word before"
    assert chosen(lanes, [3, 0], [0, 2]) == 1, "it has moved all"
    assert chosen(lanes, [0, 0], [1, 0]) == -1


def test_a_lane_waits_for_the_words_of_another_or_for_its_piece() -> None:
    for piece, ahead, wanted in ((0, 3, -1), (0, 4, 1), (2, 1, -1), (2, 2, 1)):
        lanes = [lane(write=False, words=4, register=1), lane(write=True, words=4, AFTER=0, PIECE=piece)]
        assert chosen(lanes, [ahead, 0], [0, 0]) == wanted


def test_a_lane_keeps_within_its_window_of_another() -> None:
    lanes = [lane(write=False, words=9, register=1), lane(write=True, words=9, PAIR=0, WINDOW=2)]
    assert chosen(lanes, [3, 4], [0, 0]) == 1
    assert chosen(lanes, [3, 5], [0, 0]) == -1


@pytest.mark.parametrize(("full", "place"), [(0, 1), (0b10, 0b10), (0b110, 0b10), (0b100, 0b100)])
def test_a_processor_writes_its_own_place_and_reads_the_lowest_pipeline(full: int, place: int) -> None:
    assert n.accessed(full) == place


def test_a_word_that_came_a_moment_ago_is_not_found_yet() -> None:
    shown = np.full((1, 2), -1, np.int64)
    assert n.found_in(0b1, shown, 0, 5, -3, -3, 7) == 1, "written two cycles ago"
    assert n.found_in(0, shown, 0, 5, -3, -3, 7) == 0
    assert n.found_in(0b1, shown, 0, 5, 6, -3, 7) == 0, "one was found a cycle ago"
    shown[0, 0] = 7
    assert n.found_in(0b10, shown, 0, -1, -3, -3, 7) == 0, "just come from a pipeline"
