"""The compiled game against one that moves a word at a time in any order."""

from __future__ import annotations

import random

import pytest

from pointsman.images.image import LaneImage
from pointsman.streams.token_game import Board, Outcome, Place, play


def random_board(seed: int) -> Board:
    """Trees of VFSMs from registers that a node writes to registers that nodes read."""
    rng = random.Random(seed)
    board = Board()
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
    board: Board,
    words: int,
    seed: int,
    stopped: int | None,
    lane: int | None,
    after: int,
    held_up: tuple[Place, int] | None,
) -> Outcome:
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
    return Outcome(frozenset(done), passed)


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
