"""The two entrances, and what the host gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pointsman.cop
from pointsman.cop import CopError, CopLimitError, Limits, Position, compile_file, compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh

TEXT = "(parameter n 3)\n(loop 'l n (broadcast 'b 0))\n"


def test_a_file_and_its_text_give_the_same_program(tmp_path: Path) -> None:
    path = tmp_path / "x.cop"
    path.write_text(TEXT)
    program = compile_file(path, topology=mesh(2, 2), parameters={"n": 5})
    assert program == compile_text(TEXT, file=str(path), topology=mesh(2, 2), parameters={"n": 5})
    assert program.source == TEXT
    assert program.file == str(path)
    assert program.root.children[0].position == Position(str(path), 2, 1)


def test_a_program_remembers_what_it_was_compiled_for() -> None:
    program = compile_text(TEXT, topology=mesh(2, 3), mode="tdm")
    assert (program.topology, program.mode, program.schedlen) == (mesh(2, 3), "tdm", None)
    assert program.parameters == (("n", 3),)
    assert (program.root.kind, program.file) == ("sequential", "<cop>")


def test_a_file_that_cannot_be_read_is_an_error_of_the_user(tmp_path: Path) -> None:
    missing = tmp_path / "none.cop"
    with pytest.raises(PointsmanError) as caught:
        compile_file(missing, topology=mesh(2, 2))
    assert str(caught.value) == f"cannot read {missing}: No such file or directory"
    with pytest.raises(PointsmanError, match="cannot read"):
        compile_file(tmp_path, topology=mesh(2, 2))
    with pytest.raises(PointsmanError, match="cannot read"):
        compile_file("a\0b", topology=mesh(2, 2))


def test_a_file_that_is_not_utf_8_shows_where(tmp_path: Path) -> None:
    path = tmp_path / "latin.cop"
    path.write_bytes("(broadcast 'b 0)\n; é".encode() + b"\xe9\n")
    with pytest.raises(CopError) as caught:
        compile_file(path, topology=mesh(2, 2))
    assert caught.value.message == "the file is not UTF-8 here"
    assert (caught.value.position.line, caught.value.position.column) == (2, 4)


def test_a_file_that_is_too_long_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "long.cop"
    for content in (b"; " + b"x" * 5000, "é".encode() * 3000):
        path.write_bytes(content)
        with pytest.raises(CopLimitError) as caught:
            compile_file(path, topology=mesh(2, 2), limits=Limits(text=1000))
        assert caught.value.limit == "text"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "fast"}, "mode must be one of numesh, dyn, tdm, not 'fast'"),
        ({"schedlen": 0}, "schedule length must be a positive integer, not 0"),
        ({"parameters": {"n": 1.5}}, "parameter n must be an integer, not 1.5"),
        ({"parameters": {"n": True}}, "parameter n must be an integer, not True"),
        ({"parameters": {"n": 1 << 5000}}, "parameter n must have at most 4096 bits"),
    ],
)
def test_arguments_of_the_host_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(PointsmanError) as caught:
        compile_text(TEXT, topology=mesh(2, 2), **options)
    assert caught.value.message == message


def test_compilations_do_not_touch_each_other() -> None:
    first = compile_text("(define all 3) (define n 1) (broadcast 'b all)", topology=mesh(2, 2))
    assert compile_text("(broadcast 'b (last (all 3)))", topology=mesh(2, 2)).root != first.root
    with pytest.raises(CopError, match="unknown variable 'n'"):
        compile_text("(broadcast 'b n)", topology=mesh(2, 2))


def test_the_same_text_gives_the_same_program() -> None:
    text = "(doall ((i (all *nodes*))) (stream 's i (mod (+ i 1) *nodes*)) (stream 't (mod (+ i 1) *nodes*) i))"
    assert compile_text(text, topology=mesh(3, 3)) == compile_text(text, topology=mesh(3, 3))


def test_the_public_names_exist() -> None:
    assert all(hasattr(pointsman.cop, name) for name in pointsman.cop.__all__)


def test_the_traceback_of_mistakes_is_short() -> None:
    """Those of a program in Python or in a notebook see it: it does not tell how often a mistake was met."""
    text = "(subset (make-1d 'x) (broadcast 'a 0 :m (/ 1 2)) (broadcast 'b 0 :m (/ 1 3)))"
    with pytest.raises(CopError) as raised:
        compile_text(text, topology=mesh(8, 8))
    assert len(raised.value.errors) == 2
    assert len(raised.traceback) < 10
    assert raised.value.__suppress_context__
