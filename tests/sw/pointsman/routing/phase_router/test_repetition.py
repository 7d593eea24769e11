"""Short periods repeated, and thinned where reprogramming needs room."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.problem import NodeLimits, split
from pointsman.routing.phase_router.repetition import divisors, repeated, short_task, thinned
from pointsman.routing.phase_router.routes import Chain, NodeVisit, Route
from pointsman.routing.streams import Stream

((PART, _),) = split([Stream("s", 0, (1,), chains=2)], mesh(2), NodeShape(), ())
LINK = PART.links.index((0, 1))
ROUTE = Route(
    PART.demands[0], (NodeVisit(0, -1, -1, 0, 0, 0, (LINK,), False), NodeVisit(1, 0, LINK, 0, 1, 0, (), True))
)


def test_divisors_begin_at_two() -> None:
    assert divisors(12) == [2, 3, 4, 6, 12]
    assert divisors(7) == [7]


def test_a_chain_starts_again_every_turn() -> None:
    (chain,) = repeated([Chain(0, ROUTE, (1, 3))], 4, 12)
    assert chain.starts == (1, 3, 5, 7, 9, 11)


@pytest.mark.parametrize("phase_change", [True, False])
def test_a_word_goes_where_no_slot_is_left_for_reprogramming(phase_change: bool) -> None:
    """One pipeline in which two chains take every slot."""
    limits = NodeLimits(1, 32, 16, phase_change)
    full = repeated([Chain(0, ROUTE, (0,)), Chain(0, ROUTE, (1,))], 2, 8)
    assert (thinned(PART, full, [0, 0], 8, limits) is None) == phase_change
    left = thinned(PART, full, [1, 1], 8, limits)
    assert left is not None
    assert [len(chain.starts) for chain in left] == [3, 3]


def test_words_that_do_not_divide_have_no_short_task() -> None:
    assert short_task(PART, [5], 2, 4, 8, drop=0) is None
    task = short_task(PART, [4], 2, 4, 8, drop=0)
    assert task is not None
    assert (task.words, task.chains, task.reserve) == ((2,), (2,), True)
    dropped = short_task(PART, [3], 1, 4, 8, drop=1)
    assert dropped is not None
    assert (dropped.words, dropped.chains, dropped.reserve) == ((2,), (1,), False)
