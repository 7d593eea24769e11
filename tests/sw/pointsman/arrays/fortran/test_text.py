"""Fortran texts: where things stand, and what is no program."""

from __future__ import annotations

import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.text import FortranText, directive_of, expression_of


def test_places_are_found_as_words() -> None:
    text = FortranText("program p\n  aa = a + 1\nend\n", "p.f90")
    assert str(text.position(2, "a")) == "p.f90:2:3"
    assert str(text.position(2)) == "p.f90:2:3"
    assert str(text.error(2, "no", part="a + 1")) == "p.f90:2:8: no\n  " + "  aa = a + 1\n  " + "       ^"
    assert expression_of("2*i+1") is not None
    assert expression_of("2**") is None
    assert directive_of(object()) is None


def test_names_of_statements_and_directives() -> None:
    text = FortranText("program p\n  AA = b2 + 1 ! no\n!hpf$ processors q(m)\nend\n", "p.f90")
    assert text.names() >= {"p", "aa", "b2", "q", "m"}
    assert "no" not in text.names()
    assert "no" not in FortranText("      program p\nc no\n      end\n", "p.f").names()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "p.f90:1:1: the program has no END"),
        ("program p\nx = = 1\nend\n", "p.f90:2:5: this is no Fortran statement"),
        ("program p\ndo i = 1, 3\nend\n", "p.f90:2:1: this DO has no END DO before line 3"),
        ("\x00\xff\nend\n", "p.f90:1:1"),
        ("program p\nx = 1\nend program q\n", "p.f90:3:1: this is no Fortran statement"),
        ("program p\ncall f\ncontains\nsubroutine f\nend subroutine g\nend\n", "p.f90:5:1: this END is of g"),
    ],
)
def test_what_is_no_program(text: str, said: str) -> None:
    with pytest.raises(ArrayProgramError) as caught:
        FortranText(text, "p.f90").tree()
    assert said in str(caught.value)
