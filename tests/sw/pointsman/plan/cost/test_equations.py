"""Predicted times against figures of Metcalf 1997."""

from __future__ import annotations

import pytest

from pointsman.plan.cost.equations import OperatorTime, io_cycles, load_cycles, switch_cycles


def two_operators(words: int, *, phases: int) -> float:
    """§2.3.1: two operators of ``words`` words, in one phase at half the bandwidth each or in two at .667."""
    word_cycles = 2.0 if phases == 1 else 1.5
    io = io_cycles([OperatorTime(words, word_cycles, 0)] * 2, reprogram=0)
    return io + switch_cycles(phases - 1, barrier=20, reprogram=0, settle=0)


def test_the_worked_example_takes_170_cycles_against_200() -> None:
    assert two_operators(50, phases=2) == 170
    assert two_operators(50, phases=1) == 200


def test_one_change_of_phase_pays_from_twenty_words_on() -> None:
    # The thesis says "less than 40 words", which holds for two changes.
    assert two_operators(20, phases=1) == two_operators(20, phases=2)
    assert two_operators(19, phases=1) < two_operators(19, phases=2)
    assert two_operators(21, phases=1) > two_operators(21, phases=2)


def test_a_pipelined_operator_pays_no_latency() -> None:
    assert io_cycles([OperatorTime(10, 2.0, 7, calls=3, rounds=5)], reprogram=4) == 15 * 27
    assert io_cycles([OperatorTime(10, 2.0, 7, calls=3, rounds=5, pipelined=True)], reprogram=4) == 15 * 20


def test_a_shared_address_costs_two_commands_a_call() -> None:
    alone = io_cycles([OperatorTime(10, 2.0, 7, calls=3, rounds=5)], reprogram=4)
    shared = io_cycles([OperatorTime(10, 2.0, 7, calls=3, rounds=5, shared_address=True)], reprogram=4)
    assert shared - alone == 3 * 5 * 2 * 4


def test_a_value_that_seldom_changes_is_seldom_loaded() -> None:
    def cost(block: int) -> float:
        one = OperatorTime(10, 2.0, 7, rounds=100, reload_words=6, block=block)
        return load_cycles([one], reprogram=4, words=128, bulk_word=1.0, bulk_latency=20)

    assert cost(1) == pytest.approx(148 + 100 * 24)
    assert cost(10) == pytest.approx(148 + 10 * 24)
