"""A player at a port that the test drives: when it makes its accesses, and what it notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from amaranth.hdl import ResetInserter, Signal
from amaranth.sim import Simulator
from player import Player
from tape import LOOK, PAUSE, START, Row, Tape

from numesh.shape import NodeShape

SHAPE = NodeShape(registers=5, width=8)
Access = tuple[int, str, int, int]
"""Cycle, "write" or "read", register, word written."""


def play(
    rows: Sequence[Row],
    full: Callable[[int], int],
    *,
    cycles: int = 40,
    finish: int = 16,
    answer: Callable[[int], int] = lambda cycle: 0,
    rounds: int = 1,
    spoil: bool = False,
) -> tuple[list[Access], dict[str, int]]:
    """Accesses of the last round, and the outputs at its end.

    ``answer(c)`` is the word of a read in cycle c.
    """
    player = Player(shape=SHAPE, tape=Tape(tuple(rows), finish), time_bits=8)
    hold = Signal()
    simulator = Simulator(ResetInserter(hold)(player))
    simulator.add_clock(1e-6)
    seen: list[Access] = []
    outputs: dict[str, int] = {}

    async def bench(context: Any) -> None:
        context.set(player.spoil, spoil)
        for _ in range(rounds):
            seen.clear()
            context.set(hold, 1)
            for _ in range(Player.REWIND):
                await context.tick()
            context.set(hold, 0)
            for cycle in range(cycles):
                context.set(player.time, cycle)
                context.set(player.p_full, full(cycle))
                for kind in ("write", "read"):
                    if context.get(getattr(player, f"p_{kind}")):
                        word = context.get(player.p_write_data) if kind == "write" else 0
                        seen.append((cycle, kind, int(context.get(player.p_address)), int(word)))
                await context.tick()
                context.set(player.p_read_data, answer(cycle))
        outputs.update({name: int(context.get(getattr(player, name))) for name in ("done", "wrong", "unpunctual")})

    simulator.add_testbench(bench)
    simulator.run()
    return seen, outputs


END = Row(0, 0, None)
GOOD = {"done": 1, "wrong": 0, "unpunctual": 0}
FIRST = START + LOOK
NEXT = 1 + LOOK


@pytest.mark.parametrize("rounds", [1, 3])
def test_accesses_follow_each_other_from_the_first_cycle_on(rounds: int) -> None:
    rows = [Row(0, 0, True, 2, 7), Row(0, 0, False, 3, 9), Row(0, 0, True, 4, 8), END]
    seen, outputs = play(rows, lambda cycle: 0b01000, answer=lambda cycle: 9, rounds=rounds, finish=FIRST + 3 * NEXT)
    assert seen == [
        (FIRST, "write", 2, 7),
        (FIRST + NEXT, "read", 3, 0),
        (FIRST + 2 * NEXT, "write", 4, 8),
    ]
    assert outputs == GOOD


def test_it_waits_for_its_register() -> None:
    rows = [Row(0, 0, True, 2, 7), Row(0, 0, False, 3, 9), END]
    seen, outputs = play(
        rows,
        lambda cycle: (cycle < 4) << 2 | (cycle >= 17) << 3,
        answer=lambda cycle: 9 * (cycle == 17 + LOOK),
        finish=17 + LOOK + NEXT,
    )
    assert seen == [(4 + LOOK, "write", 2, 7), (17 + LOOK, "read", 3, 0)]
    assert outputs == GOOD


def test_a_register_is_looked_at_again_after_an_access() -> None:
    rows = [Row(0, 0, True, 2, 7), Row(0, 0, True, 2, 8), END]
    # The first word is there from the cycle after the write on, and is taken five cycles later.
    seen, outputs = play(rows, lambda cycle: (FIRST < cycle < FIRST + 6) << 2, finish=FIRST + 6 + LOOK + NEXT)
    assert seen == [(FIRST, "write", 2, 7), (FIRST + 6 + LOOK, "write", 2, 8)]
    assert outputs == GOOD


def test_it_pauses_after_the_command_registers_are_empty() -> None:
    rows = [Row(0, 0, True, 0, 1), Row(0b11, 3, True, 4, 5), Row(0, 1, True, 4, 6), Row(0, 2, None)]

    def full(cycle: int) -> int:  # register 0 is taken in cycle 7, register 1 only in cycle 9
        return (FIRST < cycle < 8) | (cycle < 10) << 1

    second = 10 + 3 + PAUSE + LOOK
    third = second + 1 + 1 + PAUSE + LOOK
    finish = third + 1 + 2 + PAUSE + LOOK
    seen, outputs = play(rows, full, finish=finish)
    assert seen == [(FIRST, "write", 0, 1), (second, "write", 4, 5), (third, "write", 4, 6)]
    assert outputs == GOOD
    for other in (finish - 1, finish + 1):
        assert play(rows, full, finish=other)[1] == GOOD | {"unpunctual": 1}


def test_a_wrong_word_is_noticed_and_forgotten_in_the_next_round() -> None:
    rows = [Row(0, 0, False, 3, 9), Row(0, 0, False, 3, 5), END]
    finish = FIRST + 2 * NEXT
    for answers in ((9, 5), (9, 4), (8, 5)):
        _, outputs = play(rows, lambda cycle: 0b1000, answer=lambda cycle, a=answers: a[cycle > FIRST], finish=finish)
        assert outputs == {"done": 1, "wrong": answers != (9, 5), "unpunctual": 0}
    wrong_once = iter([8] * 40 + [9] * 40)
    _, outputs = play([rows[0], END], lambda c: 8, answer=lambda c: next(wrong_once), finish=FIRST + NEXT, rounds=2)
    assert outputs == GOOD


@pytest.mark.parametrize("bit", range(8))
def test_every_bit_of_a_word_is_compared(bit: int) -> None:
    rows = [Row(0, 0, False, 3, 0x5A), END]
    _, outputs = play(rows, lambda cycle: 8, answer=lambda cycle: 0x5A ^ 1 << bit, finish=FIRST + NEXT)
    assert outputs == GOOD | {"wrong": 1}


@pytest.mark.parametrize("shift", [-FIRST, -1, 0, 1, 2])
def test_the_end_is_compared_with_the_cycle_on_the_tape(shift: int) -> None:
    rows = [Row(0, 0, True, 2, 7), Row(0, 0, True, 2, 8), END]
    finish = FIRST + 2 * NEXT + shift
    _, outputs = play(rows, lambda cycle: 0, finish=finish)
    assert outputs == {"done": 1, "wrong": 0, "unpunctual": int(shift != 0)}
    _, outputs = play(rows, lambda cycle: 0b100, finish=finish)
    assert outputs == {"done": 0, "wrong": 0, "unpunctual": 1}, "it never ends"


def test_spoiling_changes_words_but_not_commands_and_not_what_is_expected() -> None:
    rows = [Row(0, 0, True, 1, 7), Row(0, 0, True, 2, 7), Row(0, 0, False, 3, 9), END]
    seen, outputs = play(rows, lambda cycle: 8, spoil=True, answer=lambda cycle: 9, finish=FIRST + 3 * NEXT)
    assert [access[1:] for access in seen] == [("write", 1, 7), ("write", 2, 6), ("read", 3, 0)]
    assert outputs == GOOD
