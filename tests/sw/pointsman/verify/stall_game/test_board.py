"""How many words fit on their way, and who gets through while somebody stands still."""

from __future__ import annotations

from types import ModuleType

import pytest

from numesh.codes import Codes
from pointsman.artifacts.images import Images
from pointsman.verify.node.node import NodeView
from pointsman.verify.stall_game.board import GameBoard, board, play


def of(images: Images) -> GameBoard:
    """The board of the only operator of the only phase, at its first values."""
    codes = Codes(images.shape)
    views = {n: NodeView(images, codes, n, p) for n, node in enumerate(images.nodes) for p in node.phases}
    lanes = {n: view.roles[view.role_of[0]].lanes for n, node in enumerate(images.nodes) for _, view in node.operators}
    starts = [(promise.source, promise.register) for promise in images.promises if 0 in promise.values]
    return board(starts, {n: view.state(view.key({})) for n, view in views.items()}, codes, lanes)


@pytest.mark.parametrize(("name", "room"), [("stream_1x2", 4), ("broadcast_1x3", 5)])
def test_a_writer_fills_all_buffers_and_no_more(by_hand: ModuleType, name: str, room: int) -> None:
    # Registers at both ends and a VFSM for each hop; the leg of a fork takes the place of the next hop.
    game = of(by_hand.SMALL[name]())
    last = max(game.lanes)
    assert 0 in play(game, room, last).done
    assert 0 not in play(game, room + 1, last).done
    assert play(game, room + 1).done == set(game.lanes)


def test_a_reader_in_the_middle_holds_up_the_one_behind(by_hand: ModuleType) -> None:
    game = of(by_hand.broadcast_1x3())
    # Both legs go together, so node 2 gets what node 1 has read, and what its register and its leg hold besides.
    assert [2 in play(game, words, 1).done for words in (1, 2, 3, 4)] == [True, True, False, False]
    assert [2 in play(game, 10, 1, 0, after).done for after in (7, 8, 10)] == [False, True, True]


def test_a_slow_router_leaves_words_behind(by_hand: ModuleType) -> None:
    game = of(by_hand.stream_1x2())
    (own,) = [place for place in game.onward if place[0] == 0]
    free = play(game, 10).passed[own]
    assert free == 10
    # A word in the register and one in the VFSM, when the writer is through.
    assert [0 in play(game, 10, held_up=(own, free - left)).done for left in (1, 2, 3)] == [True, True, False]
