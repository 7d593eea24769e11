"""Worst latencies of words written by hand."""

from __future__ import annotations

from pointsman.artifacts.routes.routes import RoutedWords
from pointsman.routing.placement.report import FlowReport, way_length, worst_latency


def word(*moves):
    return tuple((*move, None, None) for move in moves)


def test_the_longest_pause_and_the_way_count():
    first = word((None, 0, 0), (0, 0, 1), (1, 1, 2), (2, 2, None))
    late = word((None, 2, 0), (0, 2, 1), (1, 3, 2), (2, 4, None))
    assert worst_latency(RoutedWords(0.2, (first,)), 5) == 5 + 2
    assert worst_latency(RoutedWords(0.4, (first, late)), 5) == 3 + 2


def test_the_way_is_that_of_the_word_after_the_pause_and_words_in_one_slot_have_no_pause_between_them():
    near = word((None, 0, 0), (0, 0, 1), (1, 1, None))
    far = word((None, 2, 0), (0, 2, 2), (2, 3, 3), (3, 4, 1), (1, 5, None))
    assert worst_latency(RoutedWords(0.2, (near, far)), 10) == max(8 + 1, 2 + 3)
    beside = word((None, 2, 0), (0, 2, 1), (1, 3, None))
    assert worst_latency(RoutedWords(0.3, (near, far, beside)), 10) == max(8 + 1, 2 + 3)


def test_slots_go_round_and_forks_and_waits_are_followed():
    tree = word((None, 3, 0), (0, 3, 1), (1, 0, 2), (1, 0, 1), (1, 1, 3), (2, 1, None), (3, 2, None))
    assert worst_latency(RoutedWords(0.25, (tree,)), 4) == 4 + 3
    assert way_length(tree, 4) == 3


def test_a_flow_holds_if_bandwidth_and_limit_do():
    assert FlowReport("f", 0.25, 0.25, 9, None).holds
    assert FlowReport("f", 0.25, 0.3, 9, 9).slack == 0
    assert not FlowReport("f", 0.25, 0.2, 9, None).holds
    assert not FlowReport("f", 0.25, 0.3, 9, 8).holds
