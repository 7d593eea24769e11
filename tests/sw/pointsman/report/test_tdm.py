"""Reports of the switch: connection tables by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from pointsman.artifacts.tables import ConnectionTables, WorkingSet
from pointsman.artifacts.tables.tables import OperatorTable, PhaseTable
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.report.run import CATEGORIES
from pointsman.report.tdm import tables_json, tables_text, tdm_text
from pointsman.runtime.api.application import Reference
from tdm_switch.shape import SwitchShape

SETS = (
    WorkingSet("one", (((0, 1), (1, 0)), ()), dynamic=((2, 3),), hold=((2, 3),), flush=True),
    WorkingSet("two", ((), ((3, 0),)), exclusive=False),
)


@pytest.fixture(scope="module")
def tables() -> ConnectionTables:
    operators = compile_text("(cshift 'c 1 :m 7) (broadcast 'b 0 :m 5)", topology=mesh(2, 2)).operators()
    c, b = sorted(operators, key=lambda one: one.label, reverse=True)
    return ConnectionTables(
        name="t",
        parameters=(("n", 3),),
        topology=mesh(2, 2),
        shape=SwitchShape(ports=4, slots=3),
        mode="hybrid",
        registers=2,
        timeout=0,
        loops=(),
        operators=(OperatorTable(c, "swap", 0, ((),), (0,), 0.5), OperatorTable(b, "chain", 0, ((),), (1,), 0.25)),
        phases=(PhaseTable("p", (0, 1), (0, 1), 2),),
        sets=SETS,
        notes=("a remark",),
    )


def test_tables_as_values_are_json_and_keep_every_connection(tables: ConnectionTables) -> None:
    told = json.loads(json.dumps(tables_json(tables)))
    for one, working in zip(told["sets"], tables.sets, strict=True):
        pairs = {tuple(pair) for part in (*one["configurations"], one["dynamic"]) for pair in part}
        assert pairs == working.pairs
        assert one["degree"] == working.degree
    assert set(told["operators"]) == {"c", "b"}
    assert {one["phase"] for one in told["operators"].values()} == {"p"}
    assert (told["ports"], told["slots"], told["registers"]) == (4, 3, 2)
    assert told["parameters"] == {"n": 3}


def test_the_text_names_each_phase_once_and_each_register_that_holds_something(tables: ConnectionTables) -> None:
    lines = tables_text(tables).splitlines()
    assert (
        lines[0] == "t on a switch of 4 ports and 3 slots, mode hybrid: 2 registers for the tables, 1 for the scheduler"
    )
    assert [line.split()[0] for line in lines[3:5]] == ["p", "b"]
    assert lines[5:] == [
        "set 0 'one': degree 1, flushes",
        "  register 0: 0→1 1→0",
        "  dynamic: 2→3",
        "  held: all of these",
        "set 1 'two': degree 1, may be refused",
        "  register 1: 3→0",
        "note: a remark",
    ]


def test_a_time_out_is_told_where_there_is_one(tables: ConnectionTables) -> None:
    assert tables_text(replace(tables, timeout=40)).splitlines()[0].endswith(", time-out 40 cycles")


def test_long_lists_are_cut_and_say_how_much_is_missing(tables: ConnectionTables) -> None:
    many = replace(SETS[0], dynamic=tuple((u % 4, v) for v in range(4) for u in range(25)), hold=())
    text = tables_text(replace(tables, sets=(many,)))
    (line,) = [line for line in text.splitlines() if line.startswith("  dynamic")]
    assert line.endswith(" … 36 more")
    assert line.count("→") == 64


def result(tables: ConnectionTables, correct: bool = True) -> dict:
    return {
        "engine": "model",
        "correct": correct,
        "answer": "42",
        "operators": tables_json(tables)["operators"],
        "categories": {name: 10.0 * k for k, name in enumerate(CATEGORIES)},
        "seconds": {"run": 1.25},
        "total_cycles": 1234567,
        "node_cycles_per_second": 2.5e6,
    }


def test_a_run_is_told_with_its_answer_and_i_o_added_up(tables: ConnectionTables) -> None:
    text = tdm_text(result(tables), tables, None)
    assert "answer: 42" in text
    assert "1,234,567 cycles; 2.5 M node-cycles/s; run 1.2 s" in text
    io = sum(10 * CATEGORIES.index(name) for name in ("write", "read", "psync"))
    (row,) = [line for line in text.splitlines() if line.startswith("this run")]
    assert row.split()[-1] == str(io)


def test_a_wrong_answer_and_published_figures_stand_out(tables: ConnectionTables) -> None:
    reference = Reference("Somebody 1999", "Table 3", {name: 1.0 for name in CATEGORIES if name != "online"})
    text = tdm_text(result(tables, correct=False), tables, reference)
    assert "WRONG: 42" in text
    assert "answer: 42" not in text
    (row,) = [line for line in text.splitlines() if line.startswith("Somebody 1999, Table 3")]
    assert row.split()[-1] == "3"
    assert "Somebody" not in tdm_text(result(tables), tables, Reference("Somebody 1999"))
