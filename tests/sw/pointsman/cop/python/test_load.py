"""A file of Python as a program."""

from __future__ import annotations

from pathlib import Path

import pytest

from pointsman.cop import compile_python_file, compile_text, program_to_python
from pointsman.errors import PointsmanError
from pointsman.network import mesh


def test_a_file_that_was_printed_means_the_same(tmp_path: Path) -> None:
    text = "(parameter n 3) (loop 'l n (broadcast 'b (runtime) :m n))"
    program = compile_text(text, topology=mesh(2, 2), parameters={"n": 5})
    (tmp_path / "x.py").write_text(program_to_python(program))
    assert compile_python_file(tmp_path / "x.py", topology=mesh(2, 2)) == program


@pytest.mark.parametrize(
    "source",
    ["def program(net):\n    return cop.barrier('w')", "program = cop.barrier('w')", "program = [cop.barrier('w')]"],
)
def test_program_may_be_a_function_or_parts(source: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(f"from pointsman import cop\n{source}\n")
    program = compile_python_file(tmp_path / "x.py", topology=mesh(2))
    assert program == compile_text("(barrier 'w)", topology=mesh(2))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1", "x.py defines no 'program'"),
        ("def program(net):\n    return net.nothing", "x.py:2: AttributeError: 'Network' object has no attribute"),
        ("1 / 0", "x.py:1: ZeroDivisionError: division by zero"),
        ("def program(net)", "x.py:1: expected ':'"),
        ("import sys\nsys.exit(3)", "x.py:2: SystemExit: 3"),
        ("program = 3", "expected an operator or a grouping construct, not 3"),
        ("from pointsman import cop\nprogram = cop.broadcast('b', 99)", "x.py:2:11: broadcast source 99 is outside"),
    ],
)
def test_wrong_files_of_python_are_refused_with_their_line(source: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text(source)
    with pytest.raises(PointsmanError) as caught:
        compile_python_file(tmp_path / "x.py", topology=mesh(2, 2))
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["no.py", "."])
def test_missing_file_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match="there is no such file"):
        compile_python_file(tmp_path / name, topology=mesh(2))


def test_a_program_is_named_by_its_file_as_it_was_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "near.py").write_text("from pointsman import cop\n\n\ndef program(net):\n    return cop.barrier('b')\n")
    monkeypatch.chdir(tmp_path)
    assert compile_python_file("near.py", topology=mesh(2)).file == "near.py"
    assert compile_python_file(tmp_path / "near.py", topology=mesh(2)).file == str(tmp_path / "near.py")
