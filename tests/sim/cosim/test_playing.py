"""Programs played on cycle models: words counted, operators counted apart, long messages from short ones."""

from __future__ import annotations

import pytest

from cosim.errors import TooLongError
from cosim.packet.prediction import predicted as predicted_packets
from cosim.playing import Played, functions_of, predict, words_of
from cosim.tdm.prediction import predicted
from pointsman.api.targets.packet import packet_shape
from pointsman.cop import Program, compile_text
from pointsman.network import mesh
from pointsman.targets.packet import make_packet_program
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape


def program(text: str) -> Program:
    return compile_text(text, topology=mesh(4))


def test_words_of_one_operator() -> None:
    made = program("(loop 'l 30 (broadcast 'a 0 :m 9) (gather 'g 0 :m 4)) (cshift 'd 1 :m 5)")
    assert [words_of(made, label=label) for label in ("a", "g", "d", None)] == [270, 360, 5, 635]


def test_cycles_of_operators_make_those_of_the_program() -> None:
    made = program("(loop 'l 40 (cshift 'a 1 :m 9)) (allreduce 'b 'mine :m 6)")
    found = predicted(make_tables(made, SwitchShape(ports=4)), made)
    assert found is not None
    assert set(found.operators) == {"a", "b"}
    assert sum(found.operators.values()) == pytest.approx(found.cycles, rel=0.1)
    assert found.operators["a"] > 8 * found.operators["b"]
    assert set(functions_of(made.operators())) == {"mine"}


def test_what_is_too_long_is_reckoned_from_shorter_messages_operator_by_operator() -> None:
    made = program("(cshift 'a 1 :m 1000000) (cshift 'b 1 :m 8)")

    def stage(most: int | None, rounds: int, seed: int, limit: int, *, in_turn: bool = False) -> tuple[Played, int]:
        if most is None:
            raise TooLongError("too long")
        cycles = {"a": 3.0 * most + 5, "b": 3.0 * min(8, most) + 5}
        return Played(sum(cycles.values()), cycles), most

    found = predict(made, stage)
    assert found is not None
    assert found.operators == {"a": 3_000_005, "b": 29}
    assert found.cycles == 3_000_034


def test_words_of_each_operator_cost_what_its_own_have_cost() -> None:
    made = program("(cshift 'a 1 :m 20000) (cshift 'b 1 :m 600)")

    def stage(most: int | None, rounds: int, seed: int, limit: int, *, in_turn: bool = False) -> tuple[Played, int]:
        if most is None:
            raise TooLongError("too long")
        cycles = {"a": 5.0 + min(most, 20_000), "b": 50.0 * min(most, 600)}
        return Played(sum(cycles.values()), cycles), most

    assert predict(made, stage) == Played(50_005.0, {"a": 20_005.0, "b": 30_000.0})


def test_nothing_is_said_of_what_cannot_be_played() -> None:
    def stage(most: int | None, rounds: int, seed: int, limit: int, *, in_turn: bool = False) -> tuple[Played, int]:
        raise TooLongError("too long")

    assert predict(program("(cshift 'a 1 :m 10)"), stage) is None


def test_what_limits_leave_as_it_was_is_not_played_again() -> None:
    asked: list[tuple[int | None, int, int]] = []

    def stage(most: int | None, rounds: int, seed: int, limit: int, *, in_turn: bool = False) -> tuple[Played, int]:
        asked.append((most, rounds, limit))
        if limit < 100_000:
            raise TooLongError("too long")
        return Played(90_000.0, {"a": 90_000.0}), 90_000

    # Messages of two words and no loop: only the last pair of lengths may take longer, and its two plays are one.
    found = predict(program("(cshift 'a 1 :m 2)"), stage)
    assert found == Played(90_000.0, {"a": 90_000.0})
    assert len(asked) == 2
    asked.clear()
    predict(program("(loop 'l 9 (cshift 'a 1 :m 40))"), stage)
    assert [most for most, *_ in asked] == [None, None, 32, 16, 8, 4]


RING = "(loop 'l 3 (doall ((i (all *nodes*))) (stream 'r i (mod (1+ i) *nodes*) :m {})))"


@pytest.mark.parametrize("words", [10, 3000])
def test_nodes_of_a_ring_write_before_they_read_if_there_is_room(words: int) -> None:
    """If each waited for the node before it, a round would take as many messages as there are nodes; but on the switch there is
    room for few words that nobody reads yet."""
    made = program(RING.format(words))
    switch = predicted(make_tables(made, SwitchShape(ports=4)), made)
    packets = predicted_packets(make_packet_program(made, packet_shape(mesh(4)), name="ring"), made)
    assert switch is not None
    assert packets is not None
    once = 2 * 3 * words
    assert packets.cycles < 1.6 * once
    assert (switch.cycles < 1.8 * once) == (words == 10)
