"""Games of a whole phase: which there are, and who gets through while another stands still."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images
from pointsman.verify.node.phase_view import phase_views
from pointsman.verify.report import Notebook
from pointsman.verify.stall_game.phase_games import MOST_STATES, PhaseGames
from pointsman.verify.words.streams import PhaseStreams


def games_of(images: Images, phase: int = 0) -> PhaseGames:
    view = phase_views(images, Codes(images.shape))[phase]
    streams = PhaseStreams(view, view.nodes, Notebook())
    streams.check()
    return PhaseGames(streams, Notebook())


def with_words(images: Images, m: int) -> Images:
    return replace(images, operators=tuple(replace(one, m=m) for one in images.operators))


# A stream over two VFSMs: four words have room on their way.
@pytest.mark.parametrize(
    ("m", "lengths"), [(1, (1,)), (16, (16,)), (17, (16, 17)), (20, (16, 20)), (21, (16, 20)), (500, (16, 20))]
)
def test_a_short_message_is_tried_before_a_long_one(by_hand: ModuleType, m: int, lengths: tuple[int, ...]) -> None:
    assert games_of(with_words(by_hand.stream_1x2(), m)).lengths(0) == lengths


def test_words_pass_a_vfsm_in_its_slots(by_hand: ModuleType) -> None:
    games = games_of(by_hand.stream_1x2())
    assert games.images.period == 8
    # The first word at once, each other one a slot later.
    assert [games.cycles_for(words, 1) for words in (0, 1, 2, 3)] == [0, 1, 9, 17]
    assert games.cycles_for(3, 2) == 9


def test_nodes_that_exchange_words_play_one_game(by_hand: ModuleType) -> None:
    games = games_of(by_hand.rows_and_columns(3, period=16))
    for index, operator in enumerate(games.images.operators):
        if operator.phase == 0:
            boards = games.games(index, 0).all
            together = sorted(tuple(sorted(board.lanes)) for board in boards)
            joined = {
                tuple(sorted({promise.source, *(node for node, _ in promise.destinations)}))
                for promise in games.images.promises
                if promise.operator == index and 0 in promise.values
            }
            assert together == sorted(joined)


def test_a_reader_that_stands_still_stops_whoever_has_more_words_than_there_is_room(by_hand: ModuleType) -> None:
    games = games_of(by_hand.broadcast_1x3())
    game = games.game_of(0, 0, 0)
    assert game is not None
    assert game.lanes.keys() == {0, 1, 2}
    assert [games.gets_through(game, 0, words, 2) for words in (5, 6)] == [True, False]
    assert 2 not in games.needed(game, 0, (5,))
    assert 2 in games.needed(game, 0, (5, 6))
    assert games.gets_through(game, 0, 6)
    assert games.game_of(0, 0, 7) is None


def test_games_are_counted_once_each(by_hand: ModuleType) -> None:
    games = games_of(by_hand.stream_1x2())
    game = games.game_of(0, 0, 0)
    assert game is not None
    for _ in range(3):
        games.gets_through(game, 0, 4, 1)
    assert games.notebook.counts["games"] == 1


def test_too_many_games_are_said_to_be_left_out(by_hand: ModuleType) -> None:
    games = games_of(by_hand.stream_1x2())
    game = games.game_of(0, 0, 0)
    assert game is not None
    games.steps = 0
    assert games.plays(game, 4, 1) is None
    # Neither is claimed of somebody of whom nothing is known.
    assert not games.gets_through(game, 0, 4, 1)
    assert not games.is_stuck(game, 0, 4, 1)
    assert len(games.notebook.unchecked) == 1


def test_states_beyond_the_limit_are_spread(by_hand: ModuleType) -> None:
    images = by_hand.stream_1x2()
    many = replace(images.operators[0], values=tuple((i,) for i in range(3 * MOST_STATES)))
    games = games_of(images)
    games.images = replace(images, operators=(many,))
    assert list(games.states(0)) == list(range(0, 3 * MOST_STATES, 3))
    assert len(games.notebook.unchecked) == 1


def test_words_left_on_a_board_that_is_played_as_another_are_its_own(by_hand: ModuleType) -> None:
    images = with_words(by_hand.rows_and_columns(3, period=16), 3)
    alike, apart = games_of(images), games_of(images)
    twins = left = 0
    for index, operator in enumerate(images.operators):
        if operator.phase != 0:
            continue
        for state in range(operator.states):
            for one, other in zip(alike.games(index, state).all, apart.games(index, state).all, strict=True):
                twins += one.twin is not None
                other.twin = None
                for node in one.lanes:
                    found = set(alike.left_when_stopped(one, node, 3))
                    assert found == set(apart.left_when_stopped(other, node, 3))
                    left += len(found)
    assert twins
    assert left


@pytest.mark.parametrize(
    "text", ["(cshift 'c 1 :m 300)", "(allreduce 'r 'add :m 300)", "(broadcast 'b (runtime) :m 300)"]
)
def test_words_that_do_not_fit_on_their_way_change_nothing(text: str) -> None:
    images = make_images(make_plan(compile_text(text, topology=mesh(3, 2)), NodeShape(), name="t"))
    games, full = games_of(images), games_of(images)
    short, *_, most = games.lengths(0)
    assert short < most < 300
    stuck = 0
    for state in games.states(0):
        for one, other in zip(games.games(0, state).all, full.games(0, state).all, strict=True):
            for node in one.lanes:
                waits_for = games.needed(one, node, (most,))
                assert waits_for == full.needed(other, node, (300,))
                left = {(there, of) for there, after, of in games.left_when_stopped(one, node, most) if after == 0}
                assert left == {
                    (there, of) for there, after, of in full.left_when_stopped(other, node, 300) if after == 0
                }
                stuck += len(waits_for)
    assert stuck
    assert not full.cut_short


def test_what_processors_read_before_they_write_is_room_on_the_way_too() -> None:
    # A node of a shift may be eight words behind its neighbour, and the last one fifteen times as many behind the first.
    text = "(phase (eoshift 'e -1 :m 600)) (phase (eoshift 'f -1 :m 600))"
    images = make_images(make_plan(compile_text(text, topology=mesh(4, 4)), NodeShape(), name="t", period=8))
    report = check_images(images)
    assert report.ok, report.render()


PROGRAMS = [
    "(broadcast 'b (runtime) :m 3)",
    "(loop 'l 2 (subset (make-1d 'y) (optional (stream 's (runtime) (runtime) :m 9)) (broadcast 'b (runtime) :m 2)))",
    "(subset (make-1d 'x) (broadcast 'b (runtime) :m 3))",
    "(loop 'l 2 (subset (make-1d 'y) (stream 's (runtime) 0 :m 5)) (barrier 'e))",
    "(phase (subset (make-1d 'x) (allreduce 'r 'add :m 4)) (subset (make-1d 'y) (cshift 'c -1 :m 32)))",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_traces_tell_the_same_of_ways_as_boards(text: str) -> None:
    program = compile_text(text, topology=mesh(3, 3))
    images = make_images(make_plan(program, NodeShape(), name="t"))
    looked_at = 0
    for phase in range(len(images.phases)):
        games = games_of(images, phase)
        for index in games.program:
            passed: dict[int, set[int]] = {}
            for state in games.states(index):
                boards = games.games(index, state).all
                ends = [not onward and place not in one.into for one in boards for place, onward in one.onward.items()]
                assert games.drops(index, state) == any(ends)
                for nodes in (one.nodes for one in boards):
                    for node in nodes:
                        passed.setdefault(node, set()).update(nodes)
                looked_at += len(ends)
            assert games.passed(index) == passed
    assert looked_at
