"""A player at a port that the test drives: when it makes its accesses, and what it notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from amaranth.sim import Simulator
from player import Player
from tape import Row, Tape

from numesh.shape import NodeShape

SHAPE = NodeShape(registers=5, width=8)
Access = tuple[int, str, int, int]
"""Cycle, "write" or "read", register, word written."""


def play(
    rows: Sequence[Row],
    full: Callable[[int], int],
    *,
    cycles: int = 20,
    finish: int = 3,
    answer: Callable[[int], int] = lambda cycle: 0,
    rounds: int = 1,
    spoil: bool = False,
) -> tuple[list[Access], dict[str, int]]:
    """Accesses of the last round that found their register ready, and the outputs at its end.

    ``answer(c)`` is the word of a read in cycle c.
    """
    player = Player(shape=SHAPE, tape=Tape(tuple(rows), finish), time_bits=8)
    simulator = Simulator(player)
    simulator.add_clock(1e-6)
    seen: list[Access] = []
    outputs: dict[str, int] = {}

    async def bench(context: Any) -> None:
        context.set(player.spoil, spoil)
        for _ in range(rounds):
            seen.clear()
            context.set(player.hold, 1)
            for _ in range(Player.REWIND):
                await context.tick()
            context.set(player.hold, 0)
            for cycle in range(cycles):
                context.set(player.time, cycle)
                context.set(player.p_full, full(cycle))
                for kind in ("write", "read"):
                    ready = full(cycle) >> int(context.get(player.p_address)) & 1 == (kind == "read")
                    if context.get(getattr(player, f"p_{kind}")) and ready:
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


@pytest.mark.parametrize("rounds", [1, 3])
def test_accesses_follow_each_other_from_the_first_cycle_on(rounds: int) -> None:
    rows = [Row(0, 0, True, 2, 7), Row(0, 0, False, 3, 9), Row(0, 0, True, 4, 8), END]
    seen, outputs = play(rows, lambda cycle: 0b01000, answer=lambda cycle: 9, rounds=rounds)
    assert seen == [(0, "write", 2, 7), (1, "read", 3, 0), (2, "write", 4, 8)]
    assert outputs == GOOD


def test_it_waits_for_its_register() -> None:
    rows = [Row(0, 0, True, 2, 7), Row(0, 0, False, 3, 9), END]
    seen, outputs = play(
        rows, lambda cycle: (cycle < 4) << 2 | (cycle >= 7) << 3, answer=lambda cycle: 9 * (cycle == 7), finish=8
    )
    assert seen == [(4, "write", 2, 7), (7, "read", 3, 0)]
    assert outputs == GOOD


def test_it_pauses_after_the_command_registers_are_empty() -> None:
    rows = [Row(0, 0, True, 0, 1), Row(0b11, 3, True, 4, 5), Row(0, 1, True, 4, 6), Row(0, 2, None)]
    # Register 0 is taken in cycle 2, register 1 only in cycle 5.
    seen, outputs = play(rows, lambda cycle: (0 < cycle < 3) | (cycle < 6) << 1, finish=13)
    assert seen == [(0, "write", 0, 1), (9, "write", 4, 5), (11, "write", 4, 6)]
    assert outputs["done"] == 1
    assert outputs["unpunctual"] == 1, "the pause at the end lasts two cycles, until 14"
    assert play(rows, lambda cycle: (0 < cycle < 3) | (cycle < 6) << 1, finish=14)[1] == GOOD


def test_a_wrong_word_is_noticed_and_forgotten_in_the_next_round() -> None:
    rows = [Row(0, 0, False, 3, 9), Row(0, 0, False, 3, 5), END]
    for answers in ((9, 5), (9, 4), (8, 5)):
        _, outputs = play(rows, lambda cycle: 0b1000, answer=lambda cycle, a=answers: a[min(cycle, 1)], finish=2)
        assert outputs == {"done": 1, "wrong": answers != (9, 5), "unpunctual": 0}
    wrong_once = iter([8, *[9] * 99])
    _, outputs = play([rows[0], END], lambda c: 8, answer=lambda c: next(wrong_once), finish=1, rounds=2)
    assert outputs == GOOD


@pytest.mark.parametrize("finish", [0, 1, 2, 4])
def test_the_end_is_compared_with_the_cycle_on_the_tape(finish: int) -> None:
    rows = [Row(0, 0, True, 2, 7), Row(0, 0, True, 2, 8), END]
    _, outputs = play(rows, lambda cycle: 0, finish=finish)
    assert outputs == {"done": 1, "wrong": 0, "unpunctual": int(finish != 2)}
    _, outputs = play(rows, lambda cycle: 0b100, finish=finish)
    assert outputs == {"done": 0, "wrong": 0, "unpunctual": 1}, "it never ends"


def test_spoiling_changes_words_but_not_commands() -> None:
    rows = [Row(0, 0, True, 1, 7), Row(0, 0, True, 2, 7), END]
    seen, _ = play(rows, lambda cycle: 0, spoil=True)
    assert seen == [(0, "write", 1, 7), (1, "write", 2, 6)]
