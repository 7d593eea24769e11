"""COP programs of array programs, as text."""

from __future__ import annotations

from pointsman.arrays.analysis import derive
from pointsman.arrays.execution.cop_program import CopProgram
from pointsman.arrays.execution.sites import find_sites
from pointsman.arrays.fortran.reading import read_program
from pointsman.cop import compile_program, program_to_cop
from pointsman.network import mesh

HEAD = (
    "program p\nreal, dimension(8,8) :: a, b\nreal s\n!hpf$ processors q(1,4)\n!hpf$ template t(8,8)\n"
    "!hpf$ align (i,j) with t(i,j) :: a, b\n!hpf$ distribute t(block,block)\n"
)


def _text(body: str, words: int = 1) -> str:
    program = read_program(HEAD + body + "end\n", "p.f90")
    made = CopProgram(find_sites(derive(program)["scheduled"]), words)
    return program_to_cop(compile_program(made.parts(), topology=mesh(4)))


def test_a_shift_in_a_loop_is_a_shift_in_a_loop() -> None:
    text = _text("do k = 1, 5\n a(:,2:8) = b(:,1:7)\n b(:,2:8) = a(:,1:7)\nend do\n")
    assert text == (
        "(reset-mesh-size 4)\n(loop 'loop_k_1 5\n"
        "  (eoshift 'b_1 1 :type 'float32* :m 8)\n  (eoshift 'a_2 1 :type 'float32* :m 8))\n"
    )


def test_the_branches_of_an_if_are_optional() -> None:
    text = _text("if (s > 0) then\n a(:,2:8) = b(:,1:7)\nelse\n a(:,1:7) = b(:,2:8)\nend if\n", 2)
    assert text == (
        "(reset-mesh-size 4)\n(optional\n  (eoshift 'b_1 1 :type 'float64* :m 16))\n"
        "(optional\n  (eoshift 'b_2 -1 :type 'float64* :m 16))\n"
    )


def test_a_column_that_the_loop_chooses_is_broadcast_from_where_it_is() -> None:
    text = _text("do k = 1, 7\n do j = k+1, 8\n  do i = 1, 8\n   a(i,j) = a(i,j) - a(i,k)\n  end do\n end do\nend do\n")
    assert "(broadcast 'a_1 (runtime) :type 'float32* :m 8)" in text


def test_a_program_that_sends_nothing_has_a_barrier() -> None:
    assert _text("a = b\n") == "(reset-mesh-size 4)\n(barrier 'done)\n"
