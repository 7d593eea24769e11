"""What connection tables say of themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pointsman.artifacts.tables.tables import MODES, OperatorTable, WorkingSet
from pointsman.cop import compile_text
from pointsman.network import mesh

SET = WorkingSet("s", (((0, 1), (1, 0)), (), ((2, 0),)), dynamic=((1, 2),), hold=((1, 2),))


def test_an_empty_register_adds_nothing_to_the_degree() -> None:
    assert SET.degree == 2
    assert WorkingSet("none").degree == 0


def test_pairs_are_those_of_the_registers_and_those_left_to_the_scheduler() -> None:
    assert SET.pairs == {(0, 1), (1, 0), (2, 0), (1, 2)}


def test_rows_of_all_ports_make_the_registers_again() -> None:
    again: list[set[tuple[int, int]]] = [set() for _ in SET.configurations]
    for port in range(4):
        row = SET.row(port)
        assert len(row) == len(SET.configurations)
        for register, destination in enumerate(row):
            if destination is not None:
                again[register].add((port, destination))
    assert again == [set(configuration) for configuration in SET.configurations]
    assert SET.row(3) == (None, None, None)


@pytest.mark.parametrize(("sets", "chosen"), [((0,), False), ((4, 4, 4), False), ((4, 4, 5), True)])
def test_run_time_values_choose_where_they_have_different_sets(sets: tuple[int, ...], chosen: bool) -> None:
    (operator,) = compile_text("(broadcast 'b (runtime) :m 2)", topology=mesh(3)).operators()
    table = OperatorTable(operator, "way", 0, tuple((i,) for i in range(len(sets))), sets, 0.5)
    assert table.second_level == chosen
    assert replace(table, sets=sets[:1], values=((0,),)).second_level is False


def test_modes_are_named_once() -> None:
    assert sorted(MODES) == ["dynamic", "hybrid", "preload"]
