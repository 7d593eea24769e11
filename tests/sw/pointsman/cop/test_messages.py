"""Every message of the language is in some test, and those that no other test provokes are provoked here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from pointsman.cop import CopError, CopLimitError, Limits, compile_file, compile_text
from pointsman.network import mesh

ROOT = Path(__file__).parents[4]
ROOMS = ("program", "cop", "cop/text", "cop/evaluation")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / "sw/pointsman" / room).glob("*.py"))
TESTS = sorted(path for room in ROOMS for path in (ROOT / "tests/sw/pointsman" / room).glob("*.py"))
RAISERS = {"error", "limit", "_fail", "Complaint", "CopError", "CopLimitError", "PointsmanError"}


def templates(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and pattern of each message: what is filled in may be anything."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
            if name in RAISERS:
                for argument in node.args:
                    if (pattern := pattern_of(argument)) is not None and " " in pattern:
                        yield node.lineno, pattern
                        break
        elif isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Name) and target.id in ("message", "what") for target in node.targets
        ):
            if (pattern := pattern_of(node.value)) is not None and " " in pattern and "{" not in pattern:
                yield node.lineno, pattern


def pattern_of(node: ast.expr) -> str | None:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".*" for part in node.values)
    return None


@cache
def said() -> list[str]:
    """All strings of the tests, as they are and without the escapes of patterns."""
    found = []
    for path in TESTS:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                plain = re.sub(r"\\(.)", r"\1", node.value).removeprefix("^").removesuffix("$")
                found += [node.value, plain]
            elif isinstance(node, ast.JoinedStr):
                found.append("".join(str(p.value) if isinstance(p, ast.Constant) else "…" for p in node.values))
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_every_message_is_in_a_test(path: Path) -> None:
    missing = []
    for line, pattern in templates(ast.parse(path.read_text(encoding="utf-8"))):
        wanted = re.compile(pattern, re.DOTALL)
        if not any(wanted.fullmatch(text) or wanted.fullmatch(text.split(" (limit ")[0]) for text in said()):
            missing.append(f"{path.name}:{line}: {pattern}")
    assert missing == []


LITTLE = Limits(
    text=200, forms=40, steps=300, depth=30, list_length=20, cells=100, number_bits=64, operators=8, nesting=3
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" " * 201, "the text has 201 characters (limit text: 200)"),
        ("() " * 41, "the text has too many forms (limit forms: 40)"),
        ('"' + "x" * 21 + '"', "this string is too long (limit list_length: 20)"),
        ("99999999999999999999", "this number has too many bits (limit number_bits: 64)"),
        ("(expt 2 70)", "this number has too many bits (limit number_bits: 64)"),
        ("(define (f) (f)) (f)", "evaluation is nested too deeply (limit depth: 30)"),
        (
            "(define (f n) (if (= n 0) 0 (+ (f (- n 1)) (f (- n 1))))) (f 9)",
            "evaluation takes too many steps (limit steps: 300)",
        ),
        ("(all 21)", "this makes a list or string of 21 elements (limit list_length: 20)"),
        ("(map all '(20 20 20 20 20 20))", "the program makes too many list elements (limit cells: 100)"),
        ("(doall ((i (all 9))) (barrier 'a))", "the program has too many operators (limit operators: 8)"),
        (
            "(define x (parallel (barrier 'a) (barrier 'b) (barrier 'c))) (sequential x x x)",
            "this group has too many operators (limit operators: 8)",
        ),
        (
            "(define x (barrier 'a)) (parallel x x x x x x x x x)",
            "'a' has too many instances (limit operators: 8)",
        ),
        ("(optional (optional (optional (optional (barrier 'a)))))", "groups are nested too deeply (limit nesting: 3)"),
    ],
)
def test_a_limit_says_what_was_too_much(text: str, message: str) -> None:
    with pytest.raises(CopLimitError) as caught:
        compile_text(text, topology=mesh(2, 2), limits=LITTLE)
    assert caught.value.message == message


def test_a_file_that_is_too_long_says_so(tmp_path: Path) -> None:
    path = tmp_path / "long.cop"
    path.write_text("\u00e9" * 1000, encoding="utf-8")
    with pytest.raises(CopLimitError) as caught:
        compile_file(path, topology=mesh(2, 2), limits=LITTLE)
    assert caught.value.message == "the file is too long (limit text: 200)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(string-append 1)", "expected a string, not 1"),
        ("(symbol->string 1)", "expected a symbol, not 1"),
        ("(last '())", "an empty list has no last element"),
        ("(assoc 1 '(2))", "assoc needs a list of lists, not one with 2"),
        ("(symbol-append 'a 1/2)", "expected a symbol, a string or an integer, not 1/2"),
    ],
)
def test_the_library_says_what_it_needs(text: str, message: str) -> None:
    with pytest.raises(CopError) as caught:
        compile_text(text, topology=mesh(2, 2))
    assert caught.value.message == message


def test_the_guard_sees_messages() -> None:
    count = sum(len(list(templates(ast.parse(path.read_text(encoding="utf-8"))))) for path in SOURCES)
    assert count > 120
