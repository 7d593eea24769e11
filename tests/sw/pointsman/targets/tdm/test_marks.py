"""On which connections a message must name its operator."""

from __future__ import annotations

from pointsman.program.order import Step
from pointsman.targets.tdm.marks import Sender, marked_connections

PAIRS = frozenset({(0, 1), (1, 2)})


def test_operators_in_order_need_no_marks() -> None:
    senders = [Sender((Step(0, child, True),), PAIRS) for child in range(3)]
    assert marked_connections(senders) == [(), (), ()]


def test_operators_in_no_order_mark_what_they_share() -> None:
    first, second = Sender((Step(0, 0, False),), PAIRS), Sender((Step(0, 1, False),), frozenset({(0, 1), (2, 0)}))
    assert marked_connections([first, second]) == [((0, 1),), ((0, 1),)]


def test_who_reads_from_anybody_must_know_what_it_reads() -> None:
    collect = Sender((Step(0, 0, True),), PAIRS, from_anybody=True)
    later = Sender((Step(0, 1, True),), PAIRS)
    assert marked_connections([collect, later]) == [((0, 1), (1, 2)), ((0, 1), (1, 2))]
