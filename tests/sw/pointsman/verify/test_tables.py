"""The judge of connection tables: right tables pass, and every sort of fault that is put in is found."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pointsman.artifacts.tables import ConnectionTables, Mode, WorkingSet
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.targets.tdm import make_tables
from pointsman.verify.tables import check_tables
from tdm_switch.shape import SwitchShape

TEXT = """
(sequential
  (loop 'l 9 (broadcast 'b (runtime) :m 8) (cshift 'c 1 :m 8) (optional (permute 'p '(1 0 3 2) :m 50)))
  (reduce 'r 'add 2 :m 3) (allreduce 'a 'add) (prefix 'x 'add) (barrier 'm)
  (spread 's 1) (gather 'g 3) (stream 't 0 (runtime)) (seqread 'q '(1 2) 0) (seqwrite 'w 3 '(0 2)))
"""


def made(mode: Mode = "preload", slots: int = 4) -> ConnectionTables:
    compiled = compile_text(TEXT, topology=mesh(4, 1))
    return make_tables(compiled, SwitchShape(ports=5, slots=slots), mode=mode)


def with_set(tables: ConnectionTables, number: int, **changes: object) -> ConnectionTables:
    sets = list(tables.sets)
    sets[number] = replace(sets[number], **changes)  # type: ignore[arg-type]
    return replace(tables, sets=tuple(sets))


@pytest.mark.parametrize("mode", ["preload", "dynamic", "hybrid"])
@pytest.mark.parametrize("slots", [3, 4, 8])
def test_compiled_tables_pass(mode: Mode, slots: int) -> None:
    assert check_tables(made(mode, slots)) == []


def test_every_connection_of_every_set_is_needed_or_stands_beside_one_that_is() -> None:
    """Leaving out any one connection that an operator sends on directly is found."""
    compiled = compile_text("(sequential (cshift 'c 1) (permute 'p '(2 3 1 0)) (stream 't 0 3))", topology=mesh(4, 1))
    tables = make_tables(compiled, SwitchShape(ports=4))
    for number, one in enumerate(tables.sets):
        for register, part in enumerate(one.configurations):
            for pair in part:
                less = tuple(other for other in part if other != pair)
                parts = (*one.configurations[:register], less, *one.configurations[register + 1 :])
                found = check_tables(with_set(tables, number, configurations=parts))
                assert any(f"needs {pair[0]}→{pair[1]}" in line for line in found)


def test_a_broken_ring_leaves_readers_without_a_way() -> None:
    compiled = compile_text("(broadcast 'b (runtime) :m 900)", topology=mesh(4, 1))
    tables = make_tables(compiled, SwitchShape(ports=4))
    assert tables.operators[0].way == "chain_bcast"
    parts = tuple(tuple(pair for pair in part if pair != (1, 2)) for part in tables.sets[0].configurations)
    found = check_tables(with_set(tables, 0, configurations=parts))
    assert "operator 'b': needs a way from 0 to 2, which set 0 does not have for run-time value 0" in found
    assert not any("from 2 to 1," in line for line in found)


def one_set(**changes: object) -> ConnectionTables:
    tables = made()
    spare = WorkingSet("spare", ((),) * 4)
    return replace(tables, sets=(*tables.sets, replace(spare, **changes)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("configurations", "message"),
    [
        ((((0, 1), (0, 2)), (), (), ()), "register 0: input port 0 is used 2 times"),
        ((((0, 4), (1, 4)), (), (), ()), "register 0: output port 4 is used 2 times"),
        ((((0, 5),), (), (), ()), "register 0: 0→5 joins a port that there is not (0..4)"),
        ((((4, 4),), ((4, 4),), (), ()), "register 1: 4→4 stands in register 0 already"),
        (((), (), ()), "has 3 configurations for 4 registers"),
    ],
)
def test_a_configuration_must_be_a_partial_permutation(configurations: object, message: str) -> None:
    found = check_tables(one_set(configurations=configurations))
    assert any(line.endswith(f"'spare': {message}") for line in found)


def test_the_mode_must_be_kept() -> None:
    found = check_tables(one_set(dynamic=((4, 4),)))
    assert any(line.endswith("1 connections are dynamic in mode preload") for line in found)
    assert any(line.endswith("has dynamic connections and no time-out") for line in found)
    dynamic = made("dynamic")
    assert any(
        line.endswith("has a configuration in mode dynamic")
        for line in check_tables(with_set(dynamic, 0, configurations=(((0, 1),),)))
    )


def test_what_is_held_must_be_dynamic_and_must_fit() -> None:
    tables = made("dynamic", 2)
    assert any("1→1 is held and not dynamic" in line for line in check_tables(with_set(tables, 0, hold=((1, 1),))))


def test_no_connection_of_any_set_may_wait_for_held_ones_in_all_slots() -> None:
    text = "(subset '((0 3)) (stream 'a 0 1)) (loop 'l 9 (subset '((3 1 2)) (gather 'g 0 :m 20)))"
    tables = make_tables(compile_text(text, topology=mesh(4, 1)), SwitchShape(ports=4, slots=2), mode="dynamic")
    assert check_tables(tables) == []
    gather = tables.sets[1].dynamic
    assert check_tables(with_set(tables, 1, hold=gather)) == [
        "set 0 'a': 0→3 may wait for ever for 2 held connections at its ports, there are 2 slots"
    ]
    assert check_tables(with_set(tables, 1, hold=gather[:1])) == []


def test_a_set_must_not_claim_ports_that_another_claims() -> None:
    tables = made()
    (u, v), register = next(
        (pair, r) for one in tables.sets for r, part in enumerate(one.configurations) for pair in part
    )
    other = ((4, v),)
    clash = one_set(configurations=tuple(other if r == register else () for r in range(4)), exclusive=True)
    assert any(
        "is called exclusive, but set" in line and f"→{v} in register {register}" in line
        for line in check_tables(clash)
    )
    assert u != 4


def test_an_operator_must_enter_a_set_of_its_phase() -> None:
    tables = made()
    wrong = replace(tables.operators[0], sets=(len(tables.sets) - 1,) * len(tables.operators[0].sets))
    found = check_tables(replace(tables, operators=(wrong, *tables.operators[1:])))
    assert "operator 'b' enters a set that phase 'b' does not name" in found


@pytest.mark.parametrize("operator", ["stream 's 0 (runtime :dynamic t)", "collect 'c (runtime :distributed t)"])
def test_a_number_that_a_node_gives_counts_in_the_smallest_instance(operator: str) -> None:
    text = f"(subset '((3) (0 1 2)) ({operator} :m 2))"
    tables = make_tables(compile_text(text, topology=mesh(4, 1)), SwitchShape(ports=4))
    assert check_tables(tables) == []
