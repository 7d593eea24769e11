"""Loads that come too early for hardware, told without any."""

from __future__ import annotations

import pytest

import pointsman
from pointsman import cop
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime import Application, Node
from pointsman.runtime.reference.early_loads import EarlyLoads

LOOP = "(loop 'l 3 (cshift 'a 1) (optional (cshift 'b 1)) (allreduce 'c))"


def told(text: str, calls: str) -> list[str]:
    """Of node 0: small letters are loads, capitals uses."""
    found = EarlyLoads(compile_text(text, topology=mesh(2)))
    for call in calls:
        (found.load if call.islower() else found.use)(0, call.lower())
    return found.told()


def test_a_use_after_the_load_of_what_comes_next_is_told_with_its_place() -> None:
    (line,) = told(LOOP, "acACacAC")
    assert ":1:12: node 0 uses 'a' after c_load, without another a_load: hardware may refuse that" in line


def test_what_is_loaded_in_turn_is_right() -> None:
    assert told(LOOP, "aAbBcCaAcCcCaA") == []


def test_one_load_for_all_rounds_is_told_of_both() -> None:
    assert ["'a' after c_load" in line or "'c' after a_load" in line for line in told(LOOP, "aAcCACcaCA")] == [
        True,
        True,
    ]


def test_what_is_used_in_any_order_may_be_loaded_before() -> None:
    assert told("(parallel (broadcast 'a 0) (broadcast 'b 1)) (barrier 'c)", "abABABcC") == []
    assert told("(phase (cshift 'a 1) (cshift 'b 1))", "abAB") == []


class Ahead(Application):
    """Loads both operators first."""

    def program(self, net: cop.Network) -> cop.Parts:
        return [cop.phase(cop.cshift("a", 1)), cop.phase(cop.cshift("b", 1))]

    async def main(self, node: Node) -> None:
        await node.cop.a_load()
        await node.cop.b_load()
        await node.cop.a_func([1])
        await node.cop.b_func([2])

    def check(self, results: object) -> str:
        return "done"


def test_dry_notes_what_hardware_refuses() -> None:
    done = pointsman.run(Ahead, mesh(2), dry=True)
    assert done.correct
    (note,) = done.notes
    assert "node 0 uses 'a' after b_load, without another a_load" in note
    with pytest.raises(PointsmanError, match="node 0 leaves phase 'a' and has called a_load, but not used 'a'"):
        pointsman.run(Ahead, mesh(2), engine="model")
