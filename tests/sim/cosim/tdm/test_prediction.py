"""Predicted cycles of connection tables, and the mode that is taken by them."""

from __future__ import annotations

import pytest

from cosim.playing import words_of
from cosim.session import run_nodes
from cosim.tdm.model import switch_machine
from cosim.tdm.prediction import best_tables, predicted_cycles
from pointsman.artifacts.tables.tables import MODES
from pointsman.cop import Program, compile_text
from pointsman.network import mesh
from pointsman.runtime import Node
from pointsman.runtime.tdm import tdm_node
from pointsman.targets.tdm import make_tables
from pointsman.verify.tables import check_tables
from tdm_switch.shape import SwitchShape


def program(text: str, *size: int) -> Program:
    return compile_text(text, topology=mesh(*size))


@pytest.mark.parametrize("mode", MODES)
def test_what_is_played_whole_is_predicted_to_the_cycle(mode: str) -> None:
    async def main(node: Node) -> None:
        for _ in range(3):
            await node.cop.a_load()
            await node.cop.a_func([node.number] * 9)
            await node.cop.b_load()
            await node.cop.b_func([node.number] * 5)

    compiled = program("(loop 'l 3 (cshift 'a 1 :m 9) (allreduce 'b 'add :m 5))", 4)
    tables = make_tables(compiled, SwitchShape(ports=4), mode=mode)  # type: ignore[arg-type]
    with switch_machine(tables.shape, "model", progress=False) as machine:
        record = run_nodes([tdm_node(tables, k, machine) for k in range(4)], main, machine)
    assert predicted_cycles(tables, compiled) == record.total_cycles


def test_rounds_and_words_that_are_left_out_are_reckoned() -> None:
    def cycles(text: str) -> float:
        compiled = program(text, 4)
        found = predicted_cycles(make_tables(compiled, SwitchShape(ports=4)), compiled)
        assert found is not None
        return found

    few, many = cycles("(loop 'l 10 (cshift 'a 1 :m 9))"), cycles("(loop 'l 1000 (cshift 'a 1 :m 9))")
    assert many == pytest.approx(100 * few, rel=0.2)
    short, long = cycles("(allreduce 'a 'add :m 1000)"), cycles("(allreduce 'a 'add :m 400000)")
    assert long == pytest.approx(400 * short, rel=0.1)


def test_words_are_counted_as_often_as_loops_go_round() -> None:
    text = "(loop 'l 30 (broadcast 'a 0 :m 9) (loop 'k 2 (gather 'g 0 :m 4)) (barrier 'c)) (cshift 'd 1 :m 5)"
    compiled = program(text, 4)
    barrier = 1
    assert words_of(compiled) == 30 * (9 + 2 * 3 * 4 + barrier) + 5
    assert words_of(compiled, most=5, rounds=3) == 3 * (5 + 2 * 3 * 4 + barrier) + 5


@pytest.mark.parametrize(
    ("text", "slots", "best"),
    [
        ("(loop 'l 10 (cshift 'a 1 :m 20))", 4, "dynamic"),
        ("(loop 'l 10 (allreduce 'a 'add :m 20))", 4, "preload"),
        ("(loop 'l 20 (barrier 'a))", 2, "hybrid"),
        ("(optional (broadcast 'a (runtime) :m 3))", 1, "dynamic"),
    ],
)
def test_the_mode_with_the_least_cycles_is_taken(text: str, slots: int, best: str) -> None:
    compiled = program(text, 4)
    tables = best_tables(compiled, SwitchShape(ports=4, slots=slots), name="it")
    assert (tables.mode, tables.name) == (best, "it")
    assert tables.notes[0].startswith(f"mode {best} by prediction, in cycles: preload ")
    assert ("hybrid" in tables.notes[0]) == (slots > 1)
    assert check_tables(tables) == []


def test_every_operator_can_be_played() -> None:
    text = """
        (broadcast 'a (runtime :distributed t) :m 2) (collect 'b (runtime) :m 2) (stream 'c 1 (runtime :dynamic t))
        (spread 'd 0) (gather 'e 3 :type 'float64* :m 4) (seqread 'f '(1 2) 0) (seqwrite 'g 0 '(3 1) :type 'float32)
        (reduce 'h (runtime) (runtime)) (allreduce 'i 'mine) (prefix 'j 'mine :type 'int32 :m 1) (barrier 'k)
        (parallel (cshift 'n (runtime)) (sequential (eoshift 'o 1) (optional (permute 'p (runtime :distributed t)))))
    """
    compiled = program(text, 4)
    for mode in MODES:
        assert predicted_cycles(make_tables(compiled, SwitchShape(ports=4), mode=mode), compiled)


def test_words_behind_those_of_many_receivers_without_room_are_no_deadlock() -> None:
    senders = "0 1 11 9 2 5 14 8 13 15 19 3 18 16 7 10 4 6 17"
    text = f"""
(loop 'l1 3
  (loop 'l2 3 (seqread 'a '({senders}) 12) (seqread 'b '({senders}) 12 :m 2))
  (subset '((0 4 8 12 16) (1 5 9 13 17) (2 6 10 14 18)) (broadcast 'c (runtime))))"""
    program = compile_text(text, topology=mesh(5, 4))
    assert predicted_cycles(make_tables(program, SwitchShape(ports=20, slots=1), mode="dynamic"), program) is not None


def test_what_nodes_tell_each_other_of_a_value_is_not_shortened(monkeypatch: pytest.MonkeyPatch) -> None:
    """A permutation of which each node knows its entry takes a word for each, also where messages are played with fewer."""
    monkeypatch.setattr("cosim.playing.LENGTHS", ((4, 2),))
    compiled = program("(permute 'p (runtime :distributed t) :m 400000)", 6)
    found = predicted_cycles(make_tables(compiled, SwitchShape(ports=6)), compiled)
    assert found is not None
    assert found > 400000
