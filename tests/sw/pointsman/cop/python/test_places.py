"""Errors and operators of a Python program stand at the call that made them."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any

import pytest

from pointsman import cop
from pointsman.cop.python.places import PythonSource
from pointsman.network import mesh

HERE = Path(__file__).read_text(encoding="utf-8").split("\n")


def refused(program: Any, *, size: tuple[int, ...] = (4, 4), **options: Any) -> cop.CopError:
    with pytest.raises(cop.CopError) as caught:
        cop.compile_program(program, topology=mesh(*size), **options)
    return caught.value


def test_a_module_without_source_still_has_places() -> None:
    space: dict[str, Any] = {}
    exec("from pointsman import cop\ndef body(net):\n    return cop.broadcast('b', 9)", space)
    error = refused(space["body"], size=(2,))
    assert (error.position.file, error.position.line, error.excerpt) == ("<string>", 3, "")


def place(line: str) -> cop.Position:
    """The place of the call in a line of Python."""
    space: dict[str, Any] = {"cop": cop}
    linecache.cache["line.py"] = (len(line), None, [line + "\n"], "line.py")
    exec(compile(line, "line.py", "exec"), space)
    part = space["part"]
    assert isinstance(part, cop.Part)
    return part.place


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("part = cop.barrier('w')", 8),
        ("x = 'äöü€'; part = cop.barrier('w')", 20),
        ("part = [cop.barrier('v'), cop.barrier('w')][1]", 27),
        ("part = (lambda: cop.barrier('w'))()", 17),
        ("part = next(map(cop.barrier, 'w'))", 8),
    ],
)
def test_column_is_that_of_the_call_in_characters(line: str, column: int) -> None:
    assert (place(line).file, place(line).line, place(line).column) == ("line.py", 1, column)


def test_offsets_of_a_source_are_numbers_of_places() -> None:
    source = PythonSource("a.py")
    places = [cop.Position("a.py", line, 1) for line in (3, 5, 3)]
    assert [source.number(entry) for entry in places] == [0, 1, 0]
    assert source.position(1).line == 5
    assert source.position(99).line == 3
    assert source.excerpt(0) == ""
