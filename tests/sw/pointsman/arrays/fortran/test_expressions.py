"""Expressions of Fortran: which are affine, and what the others mean."""

from __future__ import annotations

import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.expressions import Names, affine, expression, known_value
from pointsman.arrays.fortran.text import FortranText, expression_of
from pointsman.arrays.tree.mapping import Array
from pointsman.arrays.tree.statements import Apply, Number


def _names() -> Names:
    names = Names(FortranText("program p\nend\n", "p.f90"), {"n": 8, "x": 0.5})
    names.arrays = {"a": Array("a", ((1, 8),)), "idx": Array("idx", ((1, 8),))}
    names.indices = ["i", "j"]
    names.changing = {"k"}
    return names


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2*(i-1)+j*3", "2*i+3*j-2"),
        ("-i+n", "-i+8"),
        ("m+i", "i+m"),
        ("-7/2", "-3"),
        ("2**3*i", "8*i"),
        ("i*j", "None"),
        ("k+1", "None"),
        ("x*2", "None"),
        ("idx(i)", "None"),
        ("i/2", "None"),
        ("1.5", "None"),
        ("1" * 5000, "None"),
    ],
)
def test_what_is_affine(text: str, said: str) -> None:
    assert str(affine(expression_of(text), _names())) == said


def test_integers_are_divided_as_integers() -> None:
    names = _names()
    assert expression(expression_of("(i/j)"), names).operator == "int"
    assert expression(expression_of("a(i)/2"), names).operator == "/"
    made = expression(expression_of("1.5d1 + dsqrt(a(2))"), names)
    assert isinstance(made, Apply)
    assert isinstance(made.operands[0], Number)
    assert (made.operands[0].value, made.operands[1].operator) == (15.0, "sqrt")  # type: ignore[union-attr]
    assert known_value(expression_of("-2.5"), names) == -2.5


@pytest.mark.parametrize(
    "text", ["foo(3)", "sum(a)", "a(1,2)", "'c'", "a // a", "a(1:x)", "1" * 5000], ids=lambda text: text[:9]
)
def test_what_has_no_meaning(text: str) -> None:
    with pytest.raises(ArrayProgramError):
        expression(expression_of(text), _names())
