"""Functions: what a program with them means, carried out; that the analysis sees through them; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

import pointsman
from pointsman.arrays.analysis import derive
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran import functions
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.meaning import run
from pointsman.runtime.array_programs import ArrayApplication

PROGRAM = """program p
real a(8), b(8), c, slope
integer half
!hpf$ processors q(2)
!hpf$ template t(8)
!hpf$ align (i) with t(i) :: a, b
!hpf$ distribute t(block)
c = 2.0
do i = 2, 8
  if (slope(a(i), 0.0) > 1.0) b(i) = slope(a(i), a(i-1)) + half(i)
end do
a(2:8) = square(a(1:7)) + square(square(2.0))
contains
elemental real function square(x) result(y)
  real, intent(in) :: x
  y = x * x
  ! and the program's own
  y = y + c
end function
end program
real function slope(x, y)
  real x, y, d
  d = x - y
  slope = d / 2.0
end function
function half(k)
  integer half
  half = k / 2
end function
"""


def test_calls_mean_what_the_functions_do() -> None:
    a = np.arange(1.0, 9.0) ** 2
    found = run(read_program(PROGRAM, "p.f90"), {"a": a})
    b = np.zeros(8)
    for i in range(1, 8):
        if a[i] / 2 > 1:
            b[i] = (a[i] - a[i - 1]) / 2 + (i + 1) // 2
    np.testing.assert_array_equal(found["b"], b)
    np.testing.assert_array_equal(found["a"][1:], a[:-1] ** 2 + 2 + ((4 + 2) ** 2 + 2))


def test_the_analysis_sees_through_them() -> None:
    program = read_program(PROGRAM.replace("  if (slope(a(i), 0.0) > 1.0) b", "  b"), "p.f90")
    assert {one.array for _, one in derive(program)["scheduled"].descriptors()} == {"a"}
    assert set(program.arrays) == {"a", "b", "c"}
    result = pointsman.run(ArrayApplication(program), dry=True)
    assert result.correct, result.text


def test_within_subroutines() -> None:
    """Behind the program, where names are those of the subroutine, and at any depth."""
    text = (
        "program p\nreal a(8)\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\ncall s(a)\nend program\n"
        "subroutine s(x)\nreal x(8), f\ndo i = 1, 8\n x(i) = f(x(i) + i)\nend do\nend subroutine\n"
        "real function f(x)\nreal x, half\nf = 3.0 * half(x)\nend function\n"
        "real function half(x)\nreal x\nhalf = x / 2\nend function\n"
    )
    found = run(read_program(text, "p.f90"), {"a": np.ones(8)})
    np.testing.assert_array_equal(found["a"], 1.5 * (1 + np.arange(1, 9)))


HEAD = "program p\nreal a(8), f\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\n"


@pytest.mark.parametrize(
    ("call", "text", "said"),
    [
        ("f(1.0)", "real function f(x)\nreal x\nf = f(x) + 1\nend function\n", "recursion: f calls f"),
        (
            "f(1.0, 2.0)",
            "real function f(x)\nreal x\nf = x\nend function\n",
            "f has 1 arguments in their order, and is given 2",
        ),
        ("f(x=1.0)", "real function f(x)\nreal x\nf = x\nend function\n", "f has 1 arguments in their order"),
        ("f(1)", "real function f(x)\nreal x\nf = x\nend function\n", "the argument x of f has another type"),
        ("f(1.0)", "real function f(x)\nreal x\nif (x > 0) f = x\nend function\n", "a statement that is no assignment"),
        ("f(1.0)", "real function f(x)\nreal x, y\ny = x\nend function\n", "f is never given a value"),
        ("f(1.0)", "real function f(x)\nreal x, y\nf = y\nend function\n", "reads y before it has a value"),
        (
            "f(1.0)",
            "real function f(x)\nreal x, y(3)\nf = x\nend function\n",
            "y is an array; functions have scalars only",
        ),
        ("f(1.0)", "real function f(x)\nreal x\nz = x\nf = x\nend function\n", "assigns z, which it does not declare"),
        ("f(1.0)", "real function f(x)\nreal x\nf = a(1)\nend function\n", "the function f reads the array a"),
        ("f(1.0)", "real function f(x)\nreal x\nf = x + z\nend function\n", "reads z before it has a value"),
        ("g(1.0)", "real function f(x)\nreal x\nf = x\nend function\n", "there is no function of this name"),
    ],
)
def test_what_is_refused(call: str, text: str, said: str) -> None:
    with pytest.raises(ArrayProgramError) as caught:
        read_program(f"{HEAD}a(1) = {call}\nend program\n{text}", "p.f90")
    assert said in str(caught.value)
    assert "^" in str(caught.value)


def test_expressions_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(functions, "MOST_PARTS", 100)
    text = "real function f(x)\nreal x\nf = x * x + x\nend function\n"
    with pytest.raises(ArrayProgramError, match="an expression of more than 100 parts"):
        read_program(f"{HEAD}a(1) = f(f(f(f(1.0))))\nend program\n{text}", "p.f90")


def test_indices_of_loops_are_passed() -> None:
    text = "do i = 1, 8\n a(i) = f(1.0)\nend do\ncontains\nreal function f(x)\nreal x\nf = x + i\nend function\nend program\n"
    with pytest.raises(ArrayProgramError, match="the function f reads the index i of a loop"):
        read_program(HEAD + text, "p.f90")


def test_a_real_function_of_a_whole_number() -> None:
    text = "real function h(k)\ninteger k\nh = k/2\nend function\n"
    text = f"program p\nreal a(2)\n!hpf$ processors q(2)\na(1) = h(3)/2\na(2) = 1/h(4)\ncontains\n{text}end\n"
    assert run(read_program(text, "p.f90"), {})["a"].tolist() == [0.5, 0.5]
