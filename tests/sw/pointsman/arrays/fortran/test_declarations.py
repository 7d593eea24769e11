"""Declarations: values of parameters, bounds of arrays, and types."""

from __future__ import annotations

import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.meaning import run


def test_values_from_outside() -> None:
    text = "program p\ninteger, parameter :: n = 4\nreal a(n)\n!hpf$ distribute a(block)\na = 1\nend\n"
    program = read_program(text, "p.f90", values={"N": 6}, processors=[3])
    assert program.arrays["a"].shape == (6,)
    assert program.grid.shape == (3,)


@pytest.mark.parametrize("name", ["m", "a", "q", "comment"])
def test_a_value_that_would_change_nothing_is_refused(name: str) -> None:
    text = "program p\ninteger, parameter :: n = 4 ! comment\nreal a(n), b(n)\n!hpf$ processors q(2)\nb = a\nend\n"
    said = rf"p\.f90:1:1: {name} is given a value, and is no parameter of the program[^$]*parameters with values are: n"
    with pytest.raises(ArrayProgramError, match=said):
        read_program(text, "p.f90", values={name.upper(): 6})


def test_a_parameter_without_a_value() -> None:
    with pytest.raises(ArrayProgramError, match=r"p\.f90:2:23: the parameter k is given no value"):
        read_program("program p\ninteger, parameter :: k\nend\n", "p.f90")


def test_arrays_without_elements() -> None:
    text = "program p\nreal a(5:1), b(0)\n!hpf$ processors q(2)\na = 1\nb = 2\nend\n"
    last = run(read_program(text, "p.f90"), {})
    assert last["a"].shape == last["b"].shape == (0,)


def test_integers_stay_integers() -> None:
    text = "program p\ninteger k\nreal a(4)\n!hpf$ processors q(2)\nk = 2.7\na(1) = k/4\na(2) = k/4.0\nend\n"
    assert run(read_program(text, "p.f90"), {})["a"].tolist() == [0, 0.5, 0, 0]


def test_real_parameters_of_whole_numbers_are_divided_as_reals() -> None:
    text = "real, parameter :: two = 2, cut = 7/2, third = 1.0/3\ninteger, parameter :: k = 2.7\nreal a(4)\n"
    text = f"program p\n{text}!hpf$ processors q(2)\na(1) = 1/two\na(2) = cut/2\na(3) = 3*third\na(4) = k\nend\n"
    assert run(read_program(text, "p.f90"), {})["a"].tolist() == [0.5, 1.5, 1, 2]
    given = read_program(text, "p.f90", values={"two": 4})
    assert run(given, {})["a"][0] == 0.25


def _of(declarations: str, statement: str = "a = x") -> str:
    return f"program p\n{declarations}\nreal a(4)\n!hpf$ processors q(2)\n{statement}\nend\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (_of("implicit none"), "5:5: x is not declared, and IMPLICIT NONE holds"),
        (_of("implicit none", "x = 1"), "5:1: x is not declared"),
        (_of("implicit integer (k-p)"), r"2:1: IMPLICIT INTEGER\(K - P\) is not built"),
        (_of("implicit real (m)"), "2:1: IMPLICIT REAL"),
        (_of("real b(2) = 3.0"), "2:1: b is given a first value in its declaration"),
        (_of("complex x"), "2:1: the type complex is not built"),
        (_of("type(point) x"), r"2:1: the type type\(point\) is not built"),
        (_of("real, parameter :: x = 1/0"), "2:20: the parameter x is no number"),
    ],
)
def test_what_declarations_cannot_say(text: str, said: str) -> None:
    with pytest.raises(ArrayProgramError, match=rf"p\.f90:({said})"):
        read_program(text, "p.f90")


def test_implicit_types_that_hold_anyway() -> None:
    text = _of("implicit double precision (a-h, o-z), integer (i)")
    assert run(read_program(text, "p.f90"), {"x": 3})["a"].tolist() == [3] * 4


def test_implicit_none_holds_inside_and_not_behind() -> None:
    own = "subroutine s(y)\nreal y(4)\ny = z\nend subroutine\n"
    inside = f"program p\nimplicit none\nreal a(4)\n!hpf$ processors q(2)\ncall s(a)\ncontains\n{own}end\n"
    with pytest.raises(ArrayProgramError, match=r"p\.f90:9:5: z is not declared"):
        read_program(inside, "p.f90")
    read_program(inside.replace("contains\n", "end\n").removesuffix("end\n"), "p.f90")
    behind = f"program p\nreal a(4)\n!hpf$ processors q(2)\ncall s(a)\nend\n{own}".replace(
        "real y", "implicit none\nreal y"
    )
    with pytest.raises(ArrayProgramError, match=r"p\.f90:9:5: z is not declared"):
        read_program(behind, "p.f90")
