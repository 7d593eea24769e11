"""Phases of a program (Yuan 1998, Figures 5.15 to 5.17)."""

from __future__ import annotations

import pytest

from pointsman.connections import Network
from pointsman.connections.phases import Communication, For, If, Loop, Statements, communication_phases, degree_on
from pointsman.errors import PointsmanError

CROSSBAR = Network("crossbar", (8,))


def to(*destinations, name=None):
    """Node 0 sends to each of these: as many slots as destinations."""
    return Communication(name or "".join(map(str, destinations)), frozenset((0, d) for d in destinations))


def phases(program, limit):
    found = communication_phases(program, limit, degree_on(CROSSBAR))
    assert all(phase.degree <= limit for phase in found)
    return [(phase.place, phase.names) for phase in found]


def test_what_fits_is_one_phase_before_everything():
    assert phases([to(1), to(2), to(1, 2)], 2) == [((0,), ("1", "2", "12"))]


def test_a_list_is_gathered_from_the_back():
    assert phases([to(1), to(2), to(3)], 2) == [((0,), ("1",)), ((1,), ("2", "3"))]


def test_a_phase_begins_before_the_loop_and_not_in_it():
    for loop in (For([to(1), to(2)]), Loop([to(1)], test=[to(2)]), Statements([Statements([to(1)]), to(2)])):
        ((place, _),) = phases([loop], 2)
        assert place == (0,)


def test_a_loop_that_changes_phase_is_entered_with_none():
    assert phases([to(4), For([to(1), to(2)]), to(3)], 1) == [
        ((0,), ("4",)),
        ((1, "body", 0), ("1",)),
        ((1, "body", 1), ("2",)),
        ((2,), ("3",)),
    ]


def test_a_conditional_whose_branches_do_not_fit_together_has_a_phase_in_each():
    assert phases([If(then=[to(1)], otherwise=[to(2)], header=[to(3)])], 2) == [
        ((0, "header", 0), ("3",)),
        ((0, "then", 0), ("1",)),
        ((0, "otherwise", 0), ("2",)),
    ]
    assert phases([If(then=[to(1)], otherwise=[to(2)])], 2) == [((0,), ("1", "2"))]


def test_the_worked_example():
    """Figure 5.17: in the conditional C1, C2 and C3 do not go together, so each branch has its phase and ends what follows it."""
    c = [to(k + 1, name=f"C{k}") for k in range(7)]
    branch = If(then=[c[1], c[2]], otherwise=[c[3]])
    loop = For([c[4], c[5]])
    assert phases([c[0], branch, loop, c[6]], 2) == [
        ((0,), ("C0",)),
        ((1, "then", 0), ("C1", "C2")),
        ((1, "otherwise", 0), ("C3",)),
        ((2,), ("C4", "C5")),
        ((3,), ("C6",)),
    ]
    assert phases([c[0], branch, loop, c[6]], 3)[-1] == ((2,), ("C4", "C5", "C6"))


def test_the_same_connections_cost_nothing_again():
    assert phases([For([to(1, 2)]), to(2, 1), to(1)], 2) == [((0,), ("12", "21", "1"))]


def test_a_communication_that_does_not_fit_alone_is_refused():
    with pytest.raises(PointsmanError, match=r"^the communication 123 needs 3 slots, and there are 2$"):
        phases([For([to(1, 2, 3)])], 2)
    with pytest.raises(PointsmanError, match=r"^there must be at least one slot, not 0$"):
        phases([], 0)


def test_a_program_that_says_nothing_has_no_phase():
    assert phases([For([]), If(), Communication("quiet", frozenset())], 1) == []
