"""The judge of the ideal model: it lets good schedules pass and catches every change that matters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pointsman.artifacts.routes.routes import RoutedWords, RouteProblem, RouteResult, RouteStream
from pointsman.network import mesh, torus
from pointsman.verify.routes import check_ideal


def result(period, *streams) -> RouteResult:
    routed = tuple(
        RoutedWords(len(words) / period, tuple(tuple(map(tuple, word)) for word in words)) for words in streams
    )
    return RouteResult("ideal", period, routed)


def moves(*steps):
    return [(*step, None, None) for step in steps]


LINE = RouteProblem(mesh(3), (RouteStream(0, (2,)), RouteStream(1, (2,))))
FIRST = moves((None, 0, 0), (0, 0, 1), (1, 1, 2), (2, 0, None))
SECOND = moves((None, 0, 1), (1, 0, 2), (2, 1, None))
FORK = RouteProblem(mesh(3, 2), (RouteStream(0, (2, 4)),))
TREE = moves((None, 1, 0), (0, 1, 1), (1, 2, 2), (1, 2, 4), (2, 0, None), (4, 0, None))


def test_schedules_written_by_hand_pass():
    assert check_ideal(LINE, result(2, [FIRST], [SECOND])).ok
    assert check_ideal(FORK, result(3, [TREE])).ok
    waiting = moves((None, 0, 0), (0, 0, 1), (1, 1, 1), (1, 2, 2), (2, 0, None))
    assert check_ideal(replace(LINE, buffers=True), result(3, [waiting], [SECOND])).ok


def changed(word, index, **fields):
    keys = ("before", "slot", "after", "pipeline", "vfsm")
    new = list(word)
    new[index] = tuple(fields.get(key, old) for key, old in zip(keys, new[index], strict=True))
    return new


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (FIRST[1:], "a word must be injected once, at node 0"),
        ([FIRST[0], *FIRST], "a word must be injected once, at node 0"),
        (changed(FIRST, 0, after=1), "a word must be injected once, at node 0"),
        (changed(FIRST, 0, slot=1), "the first link move must be in the slot of the injection, 1"),
        (changed(FIRST, 2, slot=0), "a word leaves node 1 in slot 0; it is there in [1]"),
        (changed(FIRST, 2, after=0), "there must be"),
        (changed(FIRST, 1, after=2), "there is no working link 0 -> 2"),
        (changed(FIRST, 1, pipeline=0), "pipeline and vfsm must be null"),
        (changed(FIRST, 1, slot=2), "a slot must be 0..1, not 2"),
        (changed(FIRST, 1, slot=-1), "a slot must be 0..1, not -1"),
        (changed(FIRST, 1, slot=True), "a slot must be 0..1, not True"),
        (changed(FIRST, 3, slot=1), "a word is delivered at node 2 in slot 1; it comes in slot 0"),
        (FIRST[:3], "a word must be delivered once at each of [2], not at []"),
        ([*FIRST, FIRST[3]], "not at [2, 2]"),
        ([*FIRST, FIRST[2]], "a word enters node 2 twice"),
        ([*FIRST, *moves((1, 1, 0))], "a word enters node 0 twice"),
        (FIRST[:1] + FIRST[2:], "a word moves at node 1, where it never comes"),
        ([*FIRST, *moves((1, 1, 1))], "a word waits at node 1, and there are no buffers"),
        ([(0, 0, 1)], "a move must be [from, slot, to, pipeline, vfsm]"),
    ],
)
def test_a_wrong_word_is_named(first, message):
    report = check_ideal(LINE, result(2, [first], [SECOND]))
    assert not report.ok
    if message != "there must be":
        assert any(message in finding for finding in report.findings), report.render()


def test_clashes_of_links_and_ports_are_named():
    # On a line of three both words use link 1 -> 2; in a period of one slot nothing can be apart.
    squeezed = [[(a, 0, b, None, None) for a, _, b, _, _ in word] for word in (FIRST, SECOND)]
    report = check_ideal(LINE, result(1, *[[word] for word in squeezed]))
    assert any("slot 0: link 1 -> 2 carries word 0 of stream 1 and word 0 of stream 0" in f for f in report.findings)
    assert any("the ejection port of node 2" in finding for finding in report.findings)
    twice = RouteProblem(mesh(2, 2), (RouteStream(0, (1,)), RouteStream(0, (2,))))
    one = moves((None, 0, 0), (0, 0, 1), (1, 1, None))
    other = moves((None, 0, 0), (0, 0, 2), (2, 1, None))
    report = check_ideal(twice, result(2, [one], [other]))
    assert report.findings == ["slot 0: the injection port of node 0 carries word 0 of stream 1 and word 0 of stream 0"]


def test_numbers_of_words_and_bandwidths_are_compared():
    assert "stream 0 must have 1 words, not 0" in check_ideal(LINE, result(2, [], [SECOND])).render()
    assert "there must be 2 streams, not 1" in check_ideal(LINE, result(2, [FIRST])).render()
    wrong = replace(result(2, [FIRST], [SECOND]), period=3)
    assert not check_ideal(LINE, wrong).ok
    assert not check_ideal(LINE, replace(wrong, period=0)).ok


def test_dead_links_and_nodes_carry_nothing():
    assert not check_ideal(replace(LINE, dead_links=frozenset({(0, 1)})), result(2, [FIRST], [SECOND])).ok
    assert not check_ideal(replace(LINE, dead_nodes=frozenset({1})), result(2, [FIRST], [SECOND])).ok


def test_leaves_must_be_destinations():
    report = check_ideal(FORK, result(3, [[*TREE, *moves((0, 1, 3))]]))
    assert "a word ends at node 3, which is no destination" in report.render()


def test_nearly_every_random_change_of_a_full_schedule_is_caught():
    from pointsman.routing.ideal_router.router import route_ideal

    nodes = 9
    problem = RouteProblem(
        torus(3, 3), tuple(RouteStream(a, (b,)) for a in range(nodes) for b in range(nodes) if a != b)
    )
    good = route_ideal(problem)
    assert check_ideal(problem, good).ok
    chance = np.random.default_rng(7)
    caught = 0
    for _ in range(300):
        streams = list(good.streams)
        index = int(chance.integers(len(streams)))
        word = list(streams[index].words[0])
        at = int(chance.integers(len(word)))
        before, slot, after, _, _ = word[at]
        change = int(chance.integers(4))
        if change == 0:
            word[at] = (before, (slot + int(chance.integers(1, good.period))) % good.period, after, None, None)
        elif change == 1:
            del word[at]
        elif change == 2:
            # The whole word later: legal by itself, but every port of this schedule is always busy.
            by = int(chance.integers(1, good.period))
            word = [(b, (s + by) % good.period, a, None, None) for b, s, a, _, _ in word]
        else:
            other = int(chance.integers(nodes))
            word[at] = (before, slot, other if after != other else (other + 1) % nodes, None, None)
        streams[index] = RoutedWords(streams[index].bandwidth, (tuple(word),))
        caught += not check_ideal(problem, replace(good, streams=tuple(streams))).ok
    assert caught == 300
