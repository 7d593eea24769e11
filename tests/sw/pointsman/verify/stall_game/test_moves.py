"""The compiled game against one that moves a word at a time in any order."""

from __future__ import annotations

import random
from typing import Any

import pytest

from pointsman.artifacts.images.images import LaneImage
from pointsman.verify.stall_game.board import GameBoard, GameEnd, Place, play
from pointsman.verify.stall_game.moves import play_out


def random_board(seed: int) -> GameBoard:
    """Trees of VFSMs from registers that a node writes to registers that nodes read."""
    rng = random.Random(seed)
    board = GameBoard()
    lanes: dict[int, list[LaneImage]] = {}
    number = 0
    for _ in range(rng.randint(1, 3)):
        root = rng.randrange(4)
        register = number = number + 1
        own = lanes.setdefault(root, [])
        after = rng.randrange(len(own)) if own and rng.random() < 0.4 else None
        own.append(LaneImage(True, (register,), after=after, after_all=rng.random() < 0.3))
        edge: list[Place] = []
        for depth in range(rng.randint(1, 4)):
            number += 1
            place = (rng.randrange(4), 0, number)
            board.onward[place] = ()
            if depth == 0:
                board.source[place] = (root, register)
            else:
                above = rng.choice(edge)
                board.onward[above] = (*board.onward[above], place)
            edge.append(place)
        for place in edge:
            if not board.onward[place]:
                number += 1
                board.into[place] = (place[0], number)
                lanes.setdefault(place[0], []).append(LaneImage(False, (number,), step=rng.choice([0, 0, 1])))
    board.lanes = {node: tuple(own) for node, own in sorted(lanes.items())}
    return board


def slowly(
    board: GameBoard,
    words: int,
    seed: int,
    stopped: int | None,
    lane: int | None,
    after: int,
    held_up: tuple[Place, int] | None,
) -> GameEnd:
    """One move at a time, in an order that is drawn."""
    rng = random.Random(seed)
    moved = {(node, i): 0 for node, lanes in board.lanes.items() for i in range(len(lanes))}
    passed = dict.fromkeys(board.onward, 0)
    held: set[Place] = set()
    full: set[tuple[int, int]] = set()
    moves: list[tuple[str, object]] = [("lane", at) for at in moved]
    moves += [(kind, place) for place in passed for kind in ("take", "pass")]

    def made(kind: str, what: object) -> bool:
        if kind == "lane":
            assert isinstance(what, tuple)
            node, i = int(what[0]), int(what[1])
            one, own = board.lanes[node][i], board.lanes[node]
            most = min(words, after) if node == stopped and lane in (None, i) else words
            at = node, one.registers[0]
            ready = moved[node, i] < most and (at in full) != one.write
            ready = ready and all(moved[node, j] == words for j, other in enumerate(own) if other.step < one.step)
            if one.after is not None:
                ready = ready and moved[node, one.after] > (words - 1 if one.after_all else moved[node, i])
            if ready:
                full.symmetric_difference_update({at})
                moved[node, i] += 1
            return ready
        place: Place = what  # type: ignore[assignment]
        if kind == "take":
            ready = place not in held and board.source.get(place) in full
            if ready:
                full.remove(board.source[place])
                held.add(place)
            return ready
        blocked = held_up is not None and place == held_up[0] and passed[place] >= held_up[1]
        to = board.into.get(place)
        ready = place in held and not blocked and to not in full and held.isdisjoint(board.onward[place])
        if ready:
            held.remove(place)
            passed[place] += 1
            held.update(board.onward[place])
            if to is not None:
                full.add(to)
        return ready

    going = True
    while going:
        rng.shuffle(moves)
        going = max(made(*move) for move in moves)
    done = (node for node, lanes in board.lanes.items() if all(moved[node, i] == words for i in range(len(lanes))))
    return GameEnd(frozenset(done), passed)


@pytest.mark.parametrize("seed", range(150))
def test_it_ends_as_any_order_of_moves_does(seed: int) -> None:
    rng = random.Random(-seed)
    board = random_board(seed)
    words = rng.randint(1, 7)
    stopped = rng.choice([None, *board.lanes])
    lane = None if stopped is None or rng.random() < 0.5 else rng.randrange(len(board.lanes[stopped]))
    after = rng.randint(0, words)
    held_up = rng.choice([None, (rng.choice(list(board.onward)), rng.randint(0, words))])
    found = play(board, words, stopped, lane, after, held_up)
    assert found == slowly(board, words, seed, stopped, lane, after, held_up)


def test_some_games_go_through_and_some_do_not() -> None:
    ends = [(len(play(board, 4).done), len(board.lanes)) for board in map(random_board, range(150))]
    assert any(done == all_of_them for done, all_of_them in ends)
    assert any(done < all_of_them for done, all_of_them in ends)


@pytest.mark.parametrize("seed", range(60))
def test_games_played_at_once_come_to_what_each_comes_to(seed: int) -> None:
    rng = random.Random(seed)
    board, words = random_board(seed), rng.randint(1, 6)
    table, found = board.table, board.outcomes(words)
    assert table.lists.single
    free = play(board, words)
    assert {n for n, done in zip(board.lanes, found.done, strict=True) if done} == free.done
    done, left = found.not_begun
    first, later = found.stopped
    for node, number in table.node.items():
        own = [place for place in board.onward if place[0] == node]
        for place, i in table.number.items():
            through = [node in play(board, words, held_up=(place, n)).done for n in range(free.passed[place])]
            assert [n >= found.held_up[i, number] for n in range(free.passed[place])] == through
        for other, lanes in board.lanes.items():
            end = play(board, words, other)
            assert done[table.node[other], number] == (node in end.done)
            assert left[table.node[other], number] == max((free.passed[p] - end.passed[p] for p in own), default=0)
            for i in range(len(lanes)):
                lane = table.first[other] + i
                ends = [play(board, words, other, i, after) for after in range(1, words)]
                assert [after >= first[lane, number] for after in range(1, words)] == [node in e.done for e in ends]
                waits = [max((free.passed[p] - e.passed[p] for p in own), default=0) for e in ends if node in e.done]
                assert later[lane, number] == max(waits, default=0)


@pytest.mark.parametrize("seed", range(60))
def test_the_order_of_moves_makes_no_difference(seed: int) -> None:
    board = random_board(seed)
    table = board.table
    total = table.total(5)
    by_turns = table.lists._replace(single=False)
    for one, other in zip(
        play_out(table.lists, total, total, -1, 0), play_out(by_turns, total, total, -1, 0), strict=True
    ):
        assert one.tolist() == other.tolist()


def crossing(**more: object) -> GameBoard:
    """Words of two registers of node 0 that meet in one VFSM of node 1."""
    a, b, c = (0, 0, 2), (0, 0, 3), (1, 0, 2)
    lanes = {0: (LaneImage(True, (2,)), LaneImage(True, (3,))), 1: (LaneImage(False, (4,)),)}
    tables: dict[str, Any] = {
        "source": {a: (0, 2), b: (0, 3)},
        "onward": {a: (c,), b: (c,), c: ()},
        "into": {c: (1, 4)},
        "lanes": lanes,
    }
    return GameBoard(**(tables | more))


def test_a_board_on_which_words_meet_is_played_by_turns() -> None:
    assert not crossing().table.lists.single
    assert play(crossing(), 12).done == {1}
    two = {0: (LaneImage(True, (2,)), LaneImage(True, (2,), step=1)), 1: (LaneImage(False, (4,)),)}
    apart = {"source": {(0, 0, 2): (0, 2)}, "onward": {(0, 0, 2): ((1, 0, 2),), (1, 0, 2): ()}}
    assert crossing(**apart, lanes=two).table.lists.single  # one lane after the other
    same = {0: (LaneImage(True, (2,)), LaneImage(True, (2,))), 1: two[1]}
    assert not crossing(**apart, lanes=same).table.lists.single


@pytest.mark.parametrize(("pipelines", "room"), [((0, 0), 1), ((0, 1), 2), ((2, 0), 2)])
def test_a_register_has_room_for_a_word_of_each_pipeline(pipelines: tuple[int, int], room: int) -> None:
    """Two nodes put words into a register of node 2, from which nobody reads."""
    a, b = ((2, pipeline, 2 + i) for i, pipeline in enumerate(pipelines))
    lanes = {i: (LaneImage(True, (2,)),) for i in range(2)} | {2: (LaneImage(False, (4,), words=16),)}
    board = GameBoard(source={a: (0, 2), b: (1, 2)}, onward={a: (), b: ()}, into={a: (2, 4), b: (2, 4)}, lanes=lanes)
    assert not board.table.lists.single
    assert sum(play(board, 8, 2).passed.values()) == room
    assert play(board, 8).passed == {a: 8, b: 8}
    # A register, a VFSM and a room hold a word each, so 3 words of a sender that finds a room are through.
    assert play(board, 3, 2).done == set(range(room))
    assert play(board, 4, 2).done == set()


def test_a_processor_has_a_room_of_its_own_and_waits_until_the_register_is_empty() -> None:
    """Words of node 1 come into the register of node 0 that its own processor writes; the VFSM that takes them is held up."""
    a, b, c, d = (1, 0, 2), (0, 0, 3), (0, 1, 4), (2, 0, 2)
    board = GameBoard(
        source={a: (1, 2), c: (0, 5)},
        onward={a: (b,), b: (), c: (d,), d: ()},
        into={b: (0, 5), d: (2, 4)},
        lanes={0: (LaneImage(True, (5,)),), 1: (LaneImage(True, (2,)),), 2: (LaneImage(False, (4,), words=18),)},
    )
    assert not board.table.lists.single
    assert play(board, 9).done == {0, 1, 2}
    # The word of node 0 stays in its room, one of node 1 in that of pipeline 0, and one in the VFSM that is held up.
    held = play(board, 9, held_up=(c, 0))
    assert held.passed[b] == 2
    assert 0 in play(board, 1, held_up=(c, 0)).done
    assert 0 not in play(board, 2, held_up=(c, 0)).done


def test_words_that_go_round_in_a_circle_come_to_an_end() -> None:
    a, c = (0, 0, 2), (1, 0, 2)
    lanes = {0: (LaneImage(True, (2,)),)}
    board = crossing(source={a: (0, 2)}, onward={a: (c,), c: (a,)}, into={}, lanes=lanes)
    assert not board.table.lists.single
    assert play(board, 1).done == {0}
