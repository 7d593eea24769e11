"""Collectives as values."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.artifacts.routes.collectives import NO_MOVES, CollectiveProblem, CollectiveWord, Words
from pointsman.artifacts.routes.file import make_problem
from pointsman.errors import PointsmanError
from pointsman.network import mesh


def test_moves_are_in_order_with_injections_and_deliveries():
    word = CollectiveWord(
        (0,), 1, 2, np.array([(0, 1, 1)]), np.array([(1, 2, 0), (1, 2, 2)]), [0, 2], own=True, kept=True
    )
    assert word.span == (1, 3)
    assert word.moves() == [
        (None, 1, 0, None, None),
        (0, 1, 1, None, None),
        (1, 2, None, None, None),
        (None, 2, 1, None, None),
        (1, 2, 0, None, None),
        (1, 2, 2, None, None),
        (0, 3, None, None, None),
        (2, 3, None, None, None),
    ]
    assert word.later(4, (1,)).span == (5, 7)


def test_words_are_made_when_they_are_looked_at():
    words = Words(3, lambda index: CollectiveWord((index,), index, 0, NO_MOVES))
    assert [word.centre for word in words] == [0, 1, 2]
    assert [word.centre for word in words[1:]] == [1, 2]
    with pytest.raises(IndexError):
        words[3]


def test_streams_are_of_working_nodes_and_of_kinds_that_combine_nothing():
    net = make_problem(mesh(2, 2), [], dead_nodes=[3])
    assert [(s.source, s.destinations) for s in CollectiveProblem(net, "all-gather").streams()] == [
        (0, (1, 2)),
        (1, (0, 2)),
        (2, (0, 1)),
    ]
    with pytest.raises(PointsmanError, match="reduce combines words"):
        CollectiveProblem(net, "reduce").streams()
