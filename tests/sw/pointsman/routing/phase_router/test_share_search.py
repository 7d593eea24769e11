"""How many words: as many as can be for the poorest group, then for those that have room."""

from __future__ import annotations

import copy
from math import inf

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.errors import RoutingError
from pointsman.routing.phase_router.attempt import AttemptOutcome, Budget, Negotiation, RoutingTask
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import Stream


def test_the_poorest_group_comes_first_and_others_go_on() -> None:
    """Six streams of one group cross one link; one of another group has its row to itself."""
    streams = [Stream(f"a{i}", 0, (1,), keep_in=frozenset({0, 1}), group="a") for i in range(6)]
    streams.append(Stream("b", 2, (3,), keep_in=frozenset({2, 3}), group="b"))
    phase = route_phase(streams, mesh(2, 2), NodeShape(), period=16)
    words = [phase.words(index) for index in range(7)]
    assert len(set(words[:6])) == 1, "streams of a group have the same"
    assert words[0] == 2, "sixteen slots of a link, one of them for reprogramming, among six"
    assert words[6] > words[0]


def test_no_stream_gets_more_than_it_wants() -> None:
    phase = route_phase([Stream("s", 0, (1,), max_words=3, chains=2)], mesh(2), NodeShape(), period=16)
    assert phase.words(0) == 3


def test_too_many_streams_for_a_period_are_refused() -> None:
    with pytest.raises(RoutingError, match="a link of node 0 has too few slots"):
        route_phase([Stream(f"s{i}", 0, (1,)) for i in range(5)], mesh(2), NodeShape(), period=4)


def test_groups_that_are_raised_several_at_once_stop_where_each_must() -> None:
    """Streams between neighbours of rows, each with another most; in one row two streams share a link."""
    most = (1, 2, 3, 5, 7, 8, 4)
    streams = [
        Stream(f"s{i}", 2 * i, (2 * i + 1,), keep_in=frozenset({2 * i, 2 * i + 1}), max_words=words, group=f"s{i}")
        for i, words in enumerate(most)
    ]
    streams.append(Stream("t", 12, (13,), keep_in=frozenset({12, 13}), group="t"))
    phase = route_phase(streams, mesh(2, 7), NodeShape(), period=16)
    words = [phase.words(index) for index in range(8)]
    assert words[:6] == list(most[:6])
    assert 6 <= words[6] + words[7] <= 16
    assert words[6] <= 4


def test_an_attempt_that_failed_for_good_is_not_made_again_and_would_fail_with_more_patience(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows and columns of a mesh at once: most levels fail, some from the chains of the level below."""
    failed: list[tuple[RoutingTask, int, bytes]] = []
    made = Negotiation.run

    def run(self: Negotiation, rounds: int, patience: int, budget: Budget) -> AttemptOutcome:
        again = copy.deepcopy(self)
        outcome = made(self, rounds, patience, budget)
        if outcome.final and outcome.placed is None:
            failed.append((self.task, self.seed, again.kept.tobytes() + again.chains.ops.tobytes()))
            longer = made(again, 4 * rounds, 4 * patience, Budget(inf))
            assert longer.placed is None
            assert longer.contested == outcome.contested
        return outcome

    monkeypatch.setattr(Negotiation, "run", run)
    lines = [[4 * i + j for j in range(4)] for i in range(4)] + [[4 * j + i for j in range(4)] for i in range(4)]
    streams = [
        Stream(f"s{i}.{k}", line[k], tuple(line[:k] + line[k + 1 :]), keep_in=frozenset(line), group=f"g{i // 4}")
        for i, line in enumerate(lines)
        for k in range(4)
    ]
    route_phase(streams, mesh(4, 4), NodeShape(), period=24)
    assert len(failed) > 5
    assert len(failed) == len(set(failed))
