"""Nodes that call an operator's functions in turn: each gets the message of the definition, and nothing is left."""

from __future__ import annotations

from pointsman.artifacts.images.images import LaneImage, Promise, Role
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.verify.meaning.definitions import Definition
from pointsman.verify.meaning.processor import Size
from pointsman.verify.meaning.rounds import Run
from pointsman.verify.meaning.wires import Wires

WRITES = Role("write", (LaneImage(True, (2, 3)),))
READS = Role("read", (LaneImage(False, (4,), data="in"),))
AWAY = Role("none")


def run(roles: dict[int, Role], words: int = 6) -> list[tuple[int | None, str, str]]:
    """Problems of a stream from node 0 to node 1 of three, whose words leave from two registers and arrive at one each."""
    (operator,) = compile_text("(stream 's 0 1 :m 6)", topology=mesh(3)).operators()
    promises = [Promise(0, f"s{k}", 0, (0,), 0, 2 + k, ((1, 4 + k),), 1) for k in range(2)]
    return Run([Definition(operator, 0)], roles, Wires(promises, (0,), [set()]), Size(words, 6, False), True).problems()


def test_words_that_leave_in_turn_are_read_in_turn() -> None:
    assert run({0: WRITES, 1: Role("read", (LaneImage(False, (4, 5), data="in"),)), 2: AWAY}) == []


def test_words_that_nobody_reads_are_left() -> None:
    ((node, said, _),) = run({0: WRITES, 1: Role("read", (LaneImage(False, (4,), 3, data="in"),)), 2: AWAY})[-1:]
    assert (node, said) != (1, "")
    assert "a word is left" in said or "never return" in said


def test_who_waits_for_words_that_do_not_come_is_named() -> None:
    assert "never return at nodes 1" in run({0: Role("write"), 1: READS, 2: AWAY})[-1][1]


def test_a_role_that_allows_no_such_call_is_no_role() -> None:
    assert run({0: READS, 1: READS, 2: AWAY})[0] == (
        0,
        "it calls write, which a role of kind 'read' does not allow",
        "a role that can be carried out",
    )
