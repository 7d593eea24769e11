"""Programs carried out element by element, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.arrays.building import ProgramBuilder, Term
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.meaning import MEANING, every_element, least_steps, run
from pointsman.arrays.tree.statements import OPERATORS
from pointsman.errors import PointsmanError


def test_every_operator_has_a_meaning() -> None:
    assert set(MEANING) == OPERATORS
    assert MEANING["/"](-7, 2) == -3
    assert MEANING["mod"](-7, 2) == -1


def test_loops_go_on_element_by_element_and_array_assignments_at_once() -> None:
    build = ProgramBuilder("p", (2,))
    line = build.template("line", (6,), ("cyclic",))
    a, b = build.array("a", (6,), line), build.array("b", (6,), line)
    with build.loop("i", 1, 6) as i:
        a[i] = a[i - 1] + 1
    b[1:6] = b[0:5] + 1
    with build.loop("i", 4, 1, -2) as i:
        b[i] = -b[i] / 2
    first = np.arange(6.0)
    last = run(build.program(), {"b": first})
    assert last["a"].tolist() == [0, 1, 2, 3, 4, 5]
    expected = np.array([0, 1, 2, 3, 4, 5.0])
    expected[[4, 2]] /= -2
    assert last["b"].tolist() == expected.tolist()


def test_branches_scalars_and_two_dimensions() -> None:
    build = ProgramBuilder("p", (2,))
    plane = build.template("plane", (4, 6), ("*", "block"))
    a = build.array("a", (4, 6), plane)
    total = build.array("total", ())
    with build.loop("i", 0, 4) as i, build.loop("j", i, 6) as j:
        total[()] = total[()] + a[i, j]
    with build.when(total[()] > 20):
        a[::2, :] = abs(a[1::2, :]) * Term(total[()].expression)
    with build.otherwise():
        a[:, :] = 0
    values = np.arange(24.0).reshape(4, 6)
    last = run(build.program(), {"a": values})
    assert last["total"] == np.triu(values).sum()
    expected = values.copy()
    expected[::2] = values[1::2] * last["total"]
    assert np.array_equal(last["a"], expected)


def test_elements_outside_the_bounds_are_named() -> None:
    build = ProgramBuilder("p", (2,))
    a = build.array("a", (4,))
    with build.loop("i", 0, 4) as i, build.when(a[i] > -1):
        a[i] = a[i + 1]
    with pytest.raises(PointsmanError, match=r"a\(i\+1\) is element \(4,\), outside the bounds of a, 0:3"):
        run(build.program(), {})
    with pytest.raises(PointsmanError, match="the shape"):
        run(build.program(), {"a": np.zeros(3)})
    assert len(list(every_element(build.arrays["a"]))) == 4


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("b = 1\na(2) = 1 / b(1)\na(3) = 1 / (b(1) - b(2))", "p.f90:6:1: p cannot be carried out .*: float division by zero"),
        ("do i = 1, 10**6\n do j = 1, n\n  do k = 1, 101\n   a(1) = 0\n  enddo\n enddo\nenddo", "p.f90:4:1: p takes at least 1"),
        ("do i = 1, n\n a(i) = 1\nend do", "p.f90:4:1: n has no value in p"),
    ],
)  # fmt: skip
def test_what_cannot_be_carried_out_is_told_with_its_place(body: str, said: str) -> None:
    text = f"program p\nreal a(4), b(4)\n!hpf$ processors q(2)\n{body}\nend\n"
    with pytest.raises(ArrayProgramError, match=said):
        run(read_program(text, "p.f90"), {})


def test_what_is_certain_to_be_assigned() -> None:
    text = (
        "program p\nreal a(4)\n!hpf$ processors q(2)\na = 1\ndo i = 1, 9, 2\n do j = i, 5\n  a(1) = 0\n end do\nend do\n"
        "if (a(1) > 2) a = 5\ndo i = 3, 1\n a = 0\nend do\nend\n"
    )
    assert least_steps(read_program(text, "p.f90").body) == 4 + 5
