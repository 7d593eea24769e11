"""Who can be ahead of whom: three phases of one stream each, from node 0 to node 1."""

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
from pointsman.verify.phases.all_phases import AllPhases
from pointsman.verify.phases.ends import phase_games
from pointsman.verify.phases.skew import Skew, needed
from pointsman.verify.report import Notebook
from pointsman.verify.stall_game import phase_games as games_of_phases
from pointsman.verify.stall_game.phase_games import PhaseGames
from pointsman.verify.words.streams import PhaseStreams

ROOM = 4
"""Words that fit between two neighbours while the reader stands still: two registers and two VFSMs."""


def three_phases(by_hand: ModuleType, *, words: int) -> Images:
    by = by_hand.ByHand(by_hand.mesh(2), period=8)
    for phase in range(3):
        by.phase(f"p{phase}", successors=(phase + 1,) if phase < 2 else (), technique="msg-sync")
        by.operator(phase, f"s{phase}", "stream", m=words)
        by.vfsm(phase, 0, 2 + phase, "r2", "+x", (0,))
        by.vfsm(phase, 1, 2 + phase, "-x", "r3", (1,))
        by.role(phase, 0, by_hand.writes(2))
        by.role(phase, 1, by_hand.reads(3))
        by.promise(phase, (0, 2), [(1, 3)], 1)
    return by.images()


def played(images: Images) -> tuple[Skew, list[PhaseGames | None]]:
    views = phase_views(images, Codes(images.shape))
    games: list[PhaseGames | None] = []
    owners = []
    for view in views:
        streams = PhaseStreams(view, view.nodes, Notebook())
        streams.check()
        owners.append(streams.owner)
        games.append(phase_games(view, streams, Notebook()))
    return Skew(AllPhases(images, views, owners), games), games


@pytest.mark.parametrize("words", [1, ROOM, ROOM + 1, 40])
def test_a_sender_is_two_phases_ahead_if_its_words_have_room(by_hand: ModuleType, words: int) -> None:
    skew, games = played(three_phases(by_hand, words=words))
    ahead = words <= ROOM
    assert games[1] is not None
    assert needed(games[1], 1, 0) == (set() if ahead else {1})
    # Into the next phase it may go in any case: what holds it back there is the end of the phase before, not this game.
    assert skew.may_be(0, 1, 1, 0)
    assert skew.may_be(0, 2, 1, 0) == ahead
    assert skew.may_send(0, 2, 1, 0) == ahead


def test_a_reader_is_never_ahead_of_the_sender(by_hand: ModuleType) -> None:
    skew, games = played(three_phases(by_hand, words=1))
    assert games[1] is not None
    assert needed(games[1], 1, 1) == {0}
    assert not skew.may_be(1, 2, 0, 0)


def test_nothing_is_claimed_of_threads(by_hand: ModuleType) -> None:
    images = three_phases(by_hand, words=40)
    ways = ((-1, 0), (0, 1), (1, 2), (2, -1))
    skew, _ = played(replace(images, nodes=tuple(replace(node, ways=ways) for node in images.nodes)))
    assert skew.may_be(0, 2, 1, 0)
    assert skew.may_send(0, 2, 1, 0)


def test_load_functions_that_send_early_are_always_ahead(by_hand: ModuleType) -> None:
    images = three_phases(by_hand, words=40)
    operators = (*images.operators[:2], replace(images.operators[2], synchronised=True))
    skew, _ = played(replace(images, operators=operators))
    assert not skew.may_be(0, 2, 1, 0)
    assert skew.may_send(0, 2, 1, 0)


LONG = "(loop 'l 10 (cshift 'c 1 :m 500) (allreduce 'r 'add :m 1))"


def test_phases_with_long_messages_share_registers_as_nodes_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    images = make_images(make_plan(compile_text(LONG, topology=mesh(4, 4)), NodeShape(), name="t"))
    report = check_images(images)
    assert report.ok, report.render()
    assert report.unchecked == ()
    assert report.counts["registers used again by dependency"]
    # With too few games the judge cannot tell, and says so.
    monkeypatch.setattr(games_of_phases, "MOST_STEPS", 1000)
    report = check_images(images)
    assert report.ok, report.render()
    assert "links and registers that phases share which nodes leave without a barrier" in report.unchecked
