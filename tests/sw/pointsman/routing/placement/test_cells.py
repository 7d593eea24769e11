"""Words on free cells, judged as schedules of the ideal model."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.artifacts.routes.file import make_problem
from pointsman.artifacts.routes.routes import RoutedWords, RouteResult, RouteStream
from pointsman.network import mesh
from pointsman.routing.placement.cells import FreeCells, best_effort, repeated
from pointsman.routing.placement.report import worst_latency
from pointsman.verify.routes import check_ideal


def judged(streams, words, period, topology):
    problem = make_problem(
        topology, [RouteStream(*ends, 1.0, len(one)) for ends, one in zip(streams, words, strict=True)]
    )
    routed = tuple(RoutedWords(len(one) / period, tuple(one)) for one in words)
    return check_ideal(problem, RouteResult("ideal", period, routed))


def test_close_slots_keep_the_limit_beside_what_is_there():
    chance = np.random.default_rng(4)
    ends = [tuple(chance.choice(9, 2, replace=False).tolist()) for _ in range(12)]
    streams = [(a, (b,)) for a, b in ends]
    cells = FreeCells(make_problem(mesh(3, 3), []), 24, [])
    words = best_effort(cells, [(source, to, 6) for source, to in streams[:3]])
    for one in words:
        for word in one[1::2]:
            cells.take(word)
        del one[1::2]
    closer = [((0, (8, 2)), 4, 12), ((3, (5,)), 2, 7)]
    for (source, to), hops, limit in closer:
        found = cells.close(source, to, hops, 2, limit)
        assert found
        assert worst_latency(RoutedWords(len(found) / 24, tuple(found)), 24) <= limit
        words.append(found)
    report = judged([*streams[:3], *(ends for ends, _, _ in closer)], words, 24, mesh(3, 3))
    assert report.ok, report.render()


def test_what_cannot_be_kept_adds_nothing():
    cells = FreeCells(make_problem(mesh(3), []), 6, [])
    assert cells.close(0, (2,), 2, 1, 2) is None
    assert not cells.used
    assert cells.close(0, (2,), 2, 7, 30) is None  # more words than slots
    assert not cells.used


@pytest.mark.parametrize("period", [2, 5])
def test_best_effort_takes_turns_until_nothing_is_left(period):
    cells = FreeCells(make_problem(mesh(3), []), period, [])
    words = best_effort(cells, [(0, (2,), 4), (1, (2,), 3), (2, (0, 1), 4)])
    assert len(words[0]) + len(words[1]) == period  # the link into node 2
    assert abs(len(words[0]) - len(words[1])) <= 1
    assert len(words[2]) == period
    report = judged([(0, (2,)), (1, (2,)), (2, (0, 1))], words, period, mesh(3))
    assert report.ok, report.render()


def test_a_schedule_repeated_is_a_schedule_of_a_longer_period():
    cells = FreeCells(make_problem(mesh(3, 2), []), 3, [])
    streams = [(0, (2, 5)), (1, (3,))]
    words = [repeated(one, 3, 4) for one in best_effort(cells, [(*ends, 5) for ends in streams])]
    assert all(len(one) % 4 == 0 and one for one in words)
    report = judged(streams, words, 12, mesh(3, 2))
    assert report.ok, report.render()
