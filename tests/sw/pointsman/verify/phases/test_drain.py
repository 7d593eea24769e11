"""How long words of a barrier are on their way at least, counted by hand."""

from __future__ import annotations

from itertools import pairwise

from pointsman.artifacts.images.images import LaneImage
from pointsman.verify.phases.drain import _in_order, _round_trip, _steps
from pointsman.verify.stall_game.board import GameBoard


def there_and_back(hops: int) -> GameBoard:
    """Node 0 sends over a row of VFSMs to node 1, which answers over as many when it has read."""
    board = GameBoard()
    for begin, end, pipeline in ((0, 1, 0), (1, 0, 1)):
        row = [(begin, pipeline, number) for number in range(2, 2 + hops)]
        board.source[row[0]] = (begin, 2)
        board.into[row[-1]] = (end, 3)
        board.onward |= {place: (after,) for place, after in pairwise(row)} | {row[-1]: ()}
    board.lanes = {
        0: (LaneImage(write=True, registers=(2,)), LaneImage(write=False, registers=(3,))),
        1: (LaneImage(write=False, registers=(3,)), LaneImage(write=True, registers=(2,), after=0)),
    }
    return board


def test_a_word_takes_a_cycle_for_each_vfsm() -> None:
    for hops in (1, 2, 5):
        assert sorted(_steps(there_and_back(hops))) == [
            ((0, 0), (1, 0), hops),
            ((1, 0), (1, 1), 1),
            ((1, 1), (0, 1), hops),
        ]


def test_a_node_hears_that_all_have_come_after_a_word_there_and_one_back() -> None:
    for hops in (1, 2, 5):
        board = there_and_back(hops)
        # There, a cycle in which the lane of node 1 waits, and back.
        assert _round_trip(board, _steps(board), 0) == 2 * hops + 1
        # Node 1 has heard when it reads; from its first lane to its last it only waits for itself.
        assert _round_trip(board, _steps(board), 1) == 1


def test_nobody_hears_of_words_that_end_nowhere() -> None:
    board = there_and_back(3)
    del board.into[(1, 1, 4)]
    assert _round_trip(board, _steps(board), 0) == 0


def test_steps_come_after_those_that_lead_to_them() -> None:
    steps = [((k, 0), (k + 1, 0), 1) for k in (4, 2, 0, 3, 1)]
    assert [of for (of, _), _, _ in _in_order(steps)] == [0, 1, 2, 3, 4]


def test_steps_in_a_circle_stay_as_they_are() -> None:
    steps = [((1, 0), (0, 0), 1), ((0, 0), (1, 0), 1)]
    assert _in_order(steps) == steps
