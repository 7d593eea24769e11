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
