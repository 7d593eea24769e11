"""Likely mistakes are warned of at their place; right programs are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from pointsman import cop
from pointsman.cop.mistakes import MOST_WARNINGS, RULES, find_mistakes
from pointsman.network import mesh

EXAMPLES = sorted((Path(__file__).resolve().parents[4] / "examples").rglob("*.cop"))

WRONG = [
    ("one-value", 15, "(broadcast 'b (runtime :values '(3)))", ":values leaves one value, 3"),
    ("one-value", 15, "(broadcast 'b (runtime :values '(3 3)))", ":values leaves one value, 3"),
    (
        "never-runs",
        14,
        "(subset '(5) (broadcast 'b 0))",
        "broadcast 'b' can never move a word: no node may read it, because it is alone in its subset",
    ),
    (
        "never-runs",
        14,
        "(subset '(5) (gather 'g 0))",
        "gather 'g' can never move a word: no node may write it, because it is alone in its subset",
    ),
    (
        "moves-nothing",
        1,
        "(eoshift 'e -16)",
        "eoshift 'e' moves nothing: a distance of -16 leaves a subset of 16 nodes from everywhere",
    ),
    (
        "moves-nothing",
        1,
        "(cshift 'c 32)",
        "cshift 'c' moves nothing: a distance of 32 in a subset of 16 nodes ends where it begins",
    ),
    ("moves-nothing", 1, "(permute 'p (all 16))", "permute 'p' moves nothing: every node sends to itself"),
    ("moves-nothing", 1, "(stream 's 4 4)", "stream 's' moves nothing: source and destination are the same node"),
    (
        "block-without-loop",
        15,
        "(broadcast 'b (runtime :block 7))",
        ":block 7 says how often the value changes in a loop, and there is no loop around it",
    ),
    ("unused", 9, "(define n 3) (barrier 'w)", "variable n is never used"),
    ("unused", 10, "(define (f x) (barrier x)) (barrier 'w)", "function f is never used"),
    ("unused", 12, "(parameter n 3) (barrier 'n)", "parameter n is never used"),
    ("unused", 8, "(let ((i 0)) (barrier 'w))", "variable i is never used"),
    ("unused", 10, "(doall ((i '(0))) (barrier 'w))", "variable i is never used"),
    ("unused", 9, "(define n 3) (set! n 4) (barrier 'w)", "variable n is never used"),
    ("unused", 9, "(define n 3) (let ((n 4)) (cshift 'c n))", "variable n is never used"),
    ("hides", 10, "(define (count x) x) (cshift 'c (count 3))",
     "function count hides what the language has under that name"),
    ("shared-nodes", 9, "(subset '((0 1) (1 2)) (stream 's 0 1))", "subsets 0 and 1 of the list both hold node 1"),
    ("empty", 1, "(doall ((i '())) (stream 's i 0)) (barrier 'w)",
     "this doall holds no operator on this network and vanishes"),
    ("empty", 1, "(loop 'l 3 (if (> *zsize* 1) (barrier 'z))) (barrier 'w)",
     "this loop holds no operator on this network and vanishes"),
]  # fmt: skip

RIGHT = [
    "(subset '(5) (cshift 'c 1))",
    "(subset '((0 1) (5)) (broadcast 'b 0))",
    "(loop 'l 9 (broadcast 'b (runtime :block 3 :values '(1 2))))",
    "(define (f i) (if (< i 1) 0 (g i))) (define (g i) (f (- i 1))) (cshift 'c (+ 1 (f 3)))",
    "(define n 3) (cshift 'c n)",
    "(define (outer) (define (a x) (b x)) (define (b x) x) (a 1)) (cshift 'c (outer))",
    "(let* ((a 1) (b a)) (cshift 'c b))",
    "(define _spare 3) (barrier 'w)",
    "(doall ((i (all 4)) (j (all 4))) (stream 's (+ i (* 4 j)) (- 15 (+ i (* 4 j)))))",
    "(doall ((i (all *nodes*))) (stream 's i (logxor i 1)))",
]


@pytest.mark.parametrize(("rule", "column", "text", "message"), WRONG)
def test_a_likely_mistake_is_warned_of(rule: str, column: int, text: str, message: str) -> None:
    (warning,) = find_mistakes(cop.compile_text(text, file="x.cop", topology=mesh(4, 4)))
    assert (warning.rule, warning.message) == (rule, message)
    assert str(warning).startswith(f"x.cop:1:{column}: warning: {message} [{rule}]\n  {text}\n  {' ' * (column - 1)}^")


def test_every_rule_has_a_test() -> None:
    assert {rule for rule, *_ in WRONG} == set(RULES)


@pytest.mark.parametrize("text", RIGHT)
def test_right_programs_get_no_warning(text: str) -> None:
    assert find_mistakes(cop.compile_text(text, topology=mesh(4, 4))) == ()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_no_warning(path: Path) -> None:
    assert find_mistakes(cop.compile_file(path, topology=mesh(4, 4))) == ()


def test_warnings_come_in_the_order_of_the_text_and_come_to_an_end() -> None:
    text = "\n".join(f"(define n{i} {i})" for i in range(200)) + "\n(cshift 'c 16)"
    found = find_mistakes(cop.compile_text(text, topology=mesh(4, 4)))
    assert len(found) == MOST_WARNINGS
    lines = [warning.position.line for warning in found]
    assert lines == sorted(lines)


def test_a_program_of_python_is_looked_at_too() -> None:
    program = cop.compile_program(cop.broadcast("b", cop.runtime(values=[3])), topology=mesh(4))
    (warning,) = find_mistakes(program)
    assert warning.rule == "one-value"
    assert warning.position.file == __file__
    assert 'cop.runtime(values=[3])' in warning.excerpt  # fmt: skip


def test_parameters_and_settings_hold_when_the_text_is_looked_at_again() -> None:
    text = "(parameter n 0) (define *mode* 'dyn) (reset-mesh-size 8 8) (doall ((i (all n))) (stream 's i (+ i 1)))"
    given = cop.compile_text(text + " (barrier 'w)", topology=mesh(4, 4), parameters={"n": 60})
    assert find_mistakes(given) == ()
    left = cop.compile_text(text + " (barrier 'w)", topology=mesh(4, 4))
    assert [warning.rule for warning in find_mistakes(left)] == ["empty"]


def test_deep_text_is_looked_at_without_recursion() -> None:
    text = "(define x '" + "(" * 20_000 + "1" + ")" * 20_000 + ") (cshift 'c (length x))"
    assert [w.rule for w in find_mistakes(cop.compile_text(text, topology=mesh(4)))] == []
