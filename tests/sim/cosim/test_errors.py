"""What is said of processors that wait."""

from __future__ import annotations

from cosim.errors import DeadlockError, Waiting
from pointsman.runtime.api.requests import Category, WaitEmpty


def test_a_processor_waits_for_either_side() -> None:
    waiting = Waiting(3, WaitEmpty(1, Category.ROUTER), (1, 2, 5), (7,), 40)
    assert str(waiting) == (
        "node 3 has waited since cycle 40 for register 1, 2 or 5 to be emptied by the router or a word in register 7"
    )


def test_lanes_may_hold_each_other_back() -> None:
    assert str(Waiting(0, WaitEmpty(1, Category.ROUTER), (), (), 0)).endswith("for another of its own lanes")


def test_a_message_names_a_few_and_the_error_has_all() -> None:
    waiting = [Waiting(node, WaitEmpty(0, Category.ROUTER), (0,), (), 9) for node in range(20)]
    error = DeadlockError(time=100, quiet=50, waiting=waiting)
    assert len(error.waiting) == 20
    assert str(error).splitlines()[-1] == "  and 12 more"
