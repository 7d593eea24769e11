"""DO loops: indices, and bounds that are affine or not."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.meaning import run


@pytest.mark.parametrize("loop", ["do i = 1, 3\na(i) = 1\nend do", "forall (i = 1:3) a(i) = 1"])
def test_a_value_for_the_index_of_a_loop_is_refused(loop: str) -> None:
    text = f"program p\nreal a(4)\n!hpf$ processors q(2)\n{loop}\nend\n"
    with pytest.raises(ArrayProgramError, match=r"p\.f90:4:\d+: i is given a value and is the index of a loop"):
        read_program(text, "p.f90", values={"i": 6})


LOOPS = {
    "do i = m, at(3)\n a(i) = i\nend do\n": [0, 2, 3, 4, 5, 6, 7, 0],
    "do i = at(3), m, -1\n a(i) = a(i+1) + i\nend do\n": [0, 27, 25, 22, 18, 13, 7, 0],
    "do i = 1, 8, m\n a(i) = i\nend do\n": [1, 0, 3, 0, 5, 0, 7, 0],
    "do i = 8, m, at(8)\n a(i) = i\nend do\n": [0, 2, 0, 0, 5, 0, 0, 8],
    "do i = 1, 8, at(8)\n a(i) = i\nend do\n": [0] * 8,
    "do i = at(3), at(4)\n a(i) = i\n m = 1\nend do\n": [0] * 8,
    "do i = 1, m\n m = 5\n a(2*i) = i\nend do\n": [0, 1, 0, 2, 0, 0, 0, 0],
}


@pytest.mark.parametrize("loop", LOOPS)
def test_loops_whose_bounds_are_not_affine(loop: str) -> None:
    """They go through all that their index can be; ``at`` is 8, 8, 7, 6, 5, 4, 3 and -3."""
    text = (
        f"program p\nreal a(8)\ninteger at(8), m\n!hpf$ processors q(2)\n!hpf$ distribute a(cyclic)\nm = 2\n{loop}end\n"
    )
    program = read_program(text, "p.f90")
    found = run(program, {"at": np.array([8, 8, 7, 6, 5, 4, 3, -3])})
    assert found["a"].tolist() == LOOPS[loop]
    (remark,) = program.remarks
    assert remark.startswith("p.f90:7:1: the bounds or the step of i are not affine; all of 1:")


def test_a_loop_that_nothing_bounds_is_refused() -> None:
    text = "program p\ninteger m, s\n!hpf$ processors q(2)\nm = 2\ndo i = 1, m\n s = s + i\nend do\nend\n"
    with pytest.raises(ArrayProgramError, match="no element in the loop says how far it can go"):
        read_program(text, "p.f90")
