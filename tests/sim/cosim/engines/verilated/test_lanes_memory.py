"""Accesses to memories, taken out of Verilator's statements."""

from collections.abc import Callable
from typing import Any

import pytest

from cosim.engines.verilated.lanes_memory import Read, Write, assigned, taken_out, write_of

MEMORIES = {"m": 4, "n": 8}


@pytest.mark.parametrize(
    ("statement", "reads", "rest"),
    [
        ("vlSelfRef.a = 1U;", [], "vlSelfRef.a = 1U;"),
        ("vlSelfRef.a = vlSelfRef.m[vlSelfRef.i];", [("m", "vlSelfRef.i")], "vlSelfRef.a = __read_0;"),
        # Twice the same word, another one, and a row that is itself read from a memory.
        (
            "a = ((vlSelfRef.m\n [i] ^ vlSelfRef.n[i]) & vlSelfRef.m[i]);",
            [("m", "i"), ("n", "i")],
            "a = ((__read_0 ^ __read_1) & __read_0);",
        ),
        ("a = vlSelfRef.m[(3U & vlSelfRef.n[i])];", [("n", "i"), ("m", "(3U & __read_0)")], "a = __read_1;"),
        # A row that the statement changes, a memory that it changes, and one that is not known.
        ("if (x) { i = 1U; a = vlSelfRef.m[i]; }", [], "if (x) { i = 1U; a = vlSelfRef.m[i]; }"),
        ("vlSelfRef.m[i] = vlSelfRef.m[j];", [], "vlSelfRef.m[i] = vlSelfRef.m[j];"),
        ("a = vlSelfRef.wide[2U];", [], "a = vlSelfRef.wide[2U];"),
        ("vlSelfRef.m[i] = vlSelfRef.n[j];", [("n", "j")], "vlSelfRef.m[i] = __read_0;"),
    ],
)
def test_words_are_read_before_the_statement(statement: str, reads: list[tuple[str, str]], rest: str):
    found, left = taken_out(statement, MEMORIES)
    assert found == [Read(f"__read_{k}", memory, row) for k, (memory, row) in enumerate(reads)]
    assert left == rest


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("a = (b == c);", {"a"}),
        ("if ((a <= b)) { vlSelfRef.c[(d + e[1U])] = 1U; f = 2U; }", {"c", "f"}),
        ("a[1U][b[2U]] = (c != d);", {"a"}),
    ],
)
def test_names_that_are_assigned_to(statement: str, names: set[str]):
    assert assigned(statement) == names


def test_a_conditional_write_alone_is_one():
    statement = "if (__VdlySet) {\n    vlSelfRef.m[(3U & vlSelfRef.n[i])]\n  = (a == b);\n}"
    assert write_of(statement, MEMORIES) == Write("m", "__VdlySet", "(3U & vlSelfRef.n[i])", "(a == b)")


@pytest.mark.parametrize(
    "statement",
    [
        "vlSelfRef.m[i] = a;",
        "if ((a & b)) { vlSelfRef.m[i] = a; }",
        "if (a) { vlSelfRef.m[i] = a; vlSelfRef.b = 1U; }",
        "if (a) { vlSelfRef.m[i] = a; } else { vlSelfRef.m[i] = b; }",
        "if (a) { vlSelfRef.wide[i] = a; }",
        "if (a) { b = vlSelfRef.m[i]; }",
    ],
)
def test_anything_else_is_not(statement: str):
    assert write_of(statement, MEMORIES) is None


def test_reading_first_changes_nothing_whatever_the_statement_does():
    """Statements in Python's place, run with and without reads taken out."""

    def run(prepared: Callable[[dict[str, Any]], None], text: str, values: dict[str, Any]) -> dict[str, Any]:
        prepared(values)
        exec(text.replace("vlSelfRef.", "").replace("U", "").rstrip(";"), values)
        return {name: values[name] for name in ("a", "m", "n")}

    for statement in ("a = vlSelfRef.m[vlSelfRef.n[i]];", "vlSelfRef.n[i] = (vlSelfRef.m[i] + vlSelfRef.m[j]);"):
        reads, rest = taken_out(statement, MEMORIES)
        assert reads

        def before(values: dict[str, Any], reads: list[Read] = reads) -> None:
            for read in reads:
                values[read.name] = eval(f"{read.memory}[{read.row.replace('vlSelfRef.', '')}]", values)

        def start() -> dict[str, Any]:
            return {"a": 0, "i": 2, "j": 3, "m": [5, 6, 7, 1], "n": [3, 2, 1, 0, 3, 2, 1, 0]}

        assert run(before, rest, start()) == run(lambda values: None, statement, start())
