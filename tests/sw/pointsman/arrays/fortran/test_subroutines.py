"""Subroutines: what a program with them means, carried out, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

import pointsman
from pointsman.arrays.analysis import derive
from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran import subroutines
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.meaning import run
from pointsman.runtime.array_programs import ArrayApplication

HEAD = (
    "program m\nreal, dimension(8) :: a, b\nreal s\ninteger :: k\n!hpf$ processors p(4)\n!hpf$ template t(8)\n"
    "!hpf$ align (i) with t(i) :: a, b\n!hpf$ distribute t(block)\n"
)
SMOOTH = (
    "subroutine smooth(x, y, lo, extra)\ninteger, parameter :: m = 8\ninteger, intent(in) :: lo, extra\n"
    "real, dimension(m), intent(inout) :: x\nreal :: y(:)\ninteger i\n"
    "do i = 2, m\n x(i) = y(i-1) + lo * extra\nend do\nreturn\nend subroutine\n"
)
TOTAL = "subroutine total(x, y)\nreal x, y\ny = y + x\nx = y * k\nend subroutine\n"
CALLS = "s = 2\ndo k = 1, 3\n call smooth(a, b, k, 2*k+1)\n call smooth(b, a, 1, 4)\n call total(b(3), s)\nend do\n"
WHOLE = f"{HEAD}{CALLS}contains\n{TOTAL}end program\n{SMOOTH}"


def test_calls_mean_what_the_subroutines_do() -> None:
    first = {name: np.random.default_rng(3).random(8) for name in "ab"}
    a, b, s = first["a"].copy(), first["b"].copy(), 2.0
    for k in (1, 2, 3):
        a[1:] = b[:-1] + k * (2 * k + 1)
        b[1:] = a[:-1] + 4
        s += b[2]
        b[2] = s * k
    found = run(read_program(WHOLE, "m.f90"), first)
    assert np.allclose(found["a"], a)
    assert np.allclose(found["b"], b)
    assert np.allclose(found["s"], s)


def test_the_analysis_sees_through_calls() -> None:
    """Both calls want the same shift: the second finds it there, because nothing was written in between."""
    copy = "subroutine copy(x, y)\nreal, dimension(8) :: x, y\nx(2:8) = y(1:7)\nend\n"
    text = f"{HEAD}call copy(a, b)\ncall copy(c, b)\nend\n{copy}"
    text = text.replace("dimension(8) :: a, b\nreal s", "dimension(8) :: a, b, c\nreal s").replace(
        ":: a, b\n!hpf$ d", ":: a, b, c\n!hpf$ d"
    )
    steps = derive(read_program(text, "m.f90"))
    assert [sum(1 for _ in steps[step].descriptors()) for step in ("initial", "scheduled")] == [2, 1]


def test_a_program_with_subroutines_runs() -> None:
    assert pointsman.run(ArrayApplication(read_program(WHOLE, "m.f90")), dry=True).correct


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            f"{HEAD}call t(a)\nend\nsubroutine t(x)\nreal x(8)\ncall u(x)\nend\nsubroutine u(x)\nreal x(8)\ncall t(x)\nend\n",
            "m.f90:17:6: recursion: t calls u calls t; subroutines are put in place of their calls",
        ),
        (f"{HEAD}call t(a)\nend\n", "m.f90:9:6: there is no subroutine t in this text"),
        (
            f"{HEAD}call t(a, b)\nend\nsubroutine t(x)\nreal x(8)\nend\n",
            "t has 1 arguments in their order, and is given 2",
        ),
        (
            f"{HEAD}call t(a)\nend\nsubroutine t(x)\nreal x(9)\nend\n",
            "a is passed, and has the bounds 1:8 there, not those",
        ),
        (
            f"{HEAD}call t(a)\nend\nsubroutine t(x)\nreal x(0:)\nend\n",
            "a is passed, and has the bounds 1:8 there, not those",
        ),
        (f"{HEAD}call t(k)\nend\nsubroutine t(x)\nreal x\nend\n", "k is passed, and has another type there"),
        (f"{HEAD}call t(a(1:8))\nend\nsubroutine t(x)\nreal x(8)\nend\n", "a section is passed|has 1 sections"),
        (
            f"{HEAD}call t(s + 1)\nend\nsubroutine t(x)\nreal x\nx = 1\nend\n",
            "t assigns its argument x, and what is passed is no",
        ),
        (
            f"{HEAD}call t(s, s)\nend\nsubroutine t(x, y)\nreal x, y\nx = y\nend\n",
            "s is passed twice to t, which assigns",
        ),
        (
            f"{HEAD}call t(a)\nend\nsubroutine t(x)\nreal x(8)\nif (x(1) > 0) return\nx(1) = 1\nend\n",
            "return before the end",
        ),
        (f"{HEAD}if (s > 0) stop\ns = 1\nend\n", "m.f90:9:1: stop before the end is not built"),
        (
            f"{HEAD}call t(a)\nend\nsubroutine t(x)\nreal x(8), y\ncommon /c/ y\nend\n",
            "COMMON in a subroutine is not built",
        ),
        (
            f"{HEAD}call t(a)\nend\nsubroutine t(x)\nreal x(8)\nx(1) = 1\n!hpf$ redistribute x(cyclic)\nx(2) = 1\nend\n",
            "a directive in a",
        ),
        (
            f"{HEAD}call t(a)\nend\nsubroutine t(x)\nreal x(8)\n!hpf$ distribute x(cyclic)\nx(2) = 1\nend\n",
            "a directive in a",
        ),
        (
            f"{HEAD}s = 1\nend\nblock data t\nreal x\nend block data\n",
            "there may be subroutines and functions only",
        ),
        ("subroutine s\nend\nsubroutine t\nend\n", "an array program has one PROGRAM, and this text has 0"),
        (
            f"{HEAD}do k = 1, 3\ncall t(k)\nend do\nend\nsubroutine t(i)\ninteger i\ni = 4\nend\n",
            "k is assigned somewhere and is the index",
        ),
    ],
)
def test_what_is_refused(text: str, said: str) -> None:
    with pytest.raises(ArrayProgramError) as caught:
        read_program(text, "m.f90")
    assert re.search(said, str(caught.value), re.IGNORECASE), str(caught.value)


def test_calls_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subroutines, "MOST_CALLS", 1)
    with pytest.raises(ArrayProgramError, match="more than 1 calls"):
        read_program(WHOLE, "m.f90")


def test_data_is_remarked() -> None:
    program = read_program(HEAD.replace("integer :: k\n", "integer :: k\ndata s /1.0/\n") + "a = s\nend\n", "m.f90")
    assert program.remarks == ("m.f90:5:1: DATA is passed over; first values are those that a run is given",)


@pytest.mark.parametrize("given", ["a(1:2)", "a + 1"])
def test_parts_of_arrays_are_not_passed(given: str) -> None:
    own = "subroutine s(x)\nreal x(2)\nx = 1\nend\n"
    text = f"program p\nreal a(4)\n!hpf$ processors q(2)\ncall s({given})\ncontains\n{own}end\n"
    with pytest.raises(ArrayProgramError, match=r"p\.f90:4:\d+: a section is passed, or an expression of arrays"):
        read_program(text, "p.f90")


def test_an_element_is_that_of_the_call_whatever_the_subroutine_does_to_its_subscripts() -> None:
    own = "subroutine s(y, m)\nreal y\ninteger m\nm = 5\ny = y + 7\nend\n"
    head = "program p\nreal x(9)\ninteger k\n!hpf$ processors q(3)\n!hpf$ distribute x(cyclic)\n"
    text = f"{head}k = 2\ncall s(x(k), k)\nx(9) = k\ncontains\n"
    last = run(read_program(f"{text}{own}end\n", "p.f90"), {"x": np.arange(1, 10)})
    assert last["x"].tolist() == [1, 9, 3, 4, 5, 6, 7, 8, 5]
