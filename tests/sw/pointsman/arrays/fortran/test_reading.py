"""Fortran programs, carried out and compared with NumPy; and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.meaning import run
from pointsman.arrays.tree.statements import DoLoop, Redistribute

WIDE = """program wide
integer, parameter :: n = 8
real :: a(n,n), b(0:n,0:n), s
integer i, j, idx(n)
!hpf$ processors procs(4)
!HPF$ template t(0:n,0:n)
!HPF$ align a(i,j) with t(i,j)
!HPF$ align b(i,j) with t(i,j)
!HPF$ distribute t(block,*) onto procs
forall (i=1:n) idx(i) = n-i+1
do i = 1, n-1
  ! a remark
  do 10 j = 1, i, 2
    if (i < j+2) a(i,j) = b(i-1, idx(j)) * 2.0d0 - (-b(i+1,j))**2
10 continue
enddo
do 20 i=1,3
do 20 j=3,1,-1
20 a(i,j) = a(i,j)+1
if (a(1,1) > 3 .and. .not. .true.) then
  a = b(1:n,1:)
else if (s .gt. 1) then
  a(1:n:2, 3) = 0
else
  s = max(a(1,1), 2.0)
endif
!hpf$ redistribute t(cyclic, *)
forall (i=1:n, j=1:n:2, i /= j) a(i,j) = b(j,i)
forall (i=1:n)
  a(i,i) = 1
end forall
where (a > 0.5) a = 1/a
end program
"""


def test_everything_at_once() -> None:
    program = read_program(WIDE, "wide.f90")
    b = np.random.default_rng(1).random((9, 9))
    a = np.zeros((9, 9))
    for i in range(1, 8):
        for j in range(1, i + 1, 2):
            if i < j + 2:
                a[i, j] = b[i - 1, 9 - j] * 2 - b[i + 1, j] ** 2
    a[1:4, 1:4] += 1
    s = max(a[1, 1], 2.0)
    for i in range(1, 9):
        for j in range(1, 9, 2):
            if i != j:
                a[i, j] = b[j, i]
    a[range(1, 9), range(1, 9)] = 1
    a = np.where(a > 0.5, 1 / np.where(a > 0.5, a, 1), a)
    last = run(program, {"b": b})
    assert np.allclose(last["a"], a[1:, 1:])
    assert last["s"] == s
    assert len(program.remarks) == 1
    assert "the subscript idx(j) of b is not affine" in program.remarks[0]
    assert program.name == "wide"


def test_fixed_form() -> None:
    text = """      program q
      real a(10)
c     a remark
chpf$ processors p(2)
!hpf$ distribute a(cyclic(2))
      do 10 i = 1,
     &   9
        a(i+1) = a(i)+1
 10   continue
      end
"""
    program = read_program(text, "q.f")
    assert str(program.arrays["a"].template) == "a"
    assert run(program, {})["a"].tolist() == list(range(10))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("do while (a(1)>0)\nenddo", "a loop that is not counted"),
        ("goto 10", "of a kind that is not known here: GO TO 10"),
        ("call f(a)", "there is no subroutine f in this text"),
        ("a(1,2)=1", "has 1 dimensions and is given 2 subscripts"),
        ("a(1:3)=a(1:4)", "has 4 elements and that of a, to which it is assigned, 3"),
        ("a(1)=foo(3)", "foo is not an array"),
        ("do i=1,8,0\nenddo", "the step of i is 0"),
        ("do i=1,8,m\nenddo", "--set m="),
        ("do i=1,2\ni=3\nenddo", "i is assigned somewhere"),
        ("do i=1,2\ndo i=1,2\nenddo\nenddo", "index of a loop around this one"),
        ("if (a>0) a(1)=2", "it has no single truth"),
        ("do i=1,int(a(1))\nenddo", "not affine"),
        ("forall (i=1:3, i=1:3) a(i)=1", "an index already"),
        ("forall (i=1:3, a(i)>0)\na(i)=1\na(i)=2\nend forall", "has one assignment only"),
        ("a(1)=1e400", "p.f90:5:6: 1E400 is greater than any number of 64 bits"),
        ("a(1)=" + "(" * 2000 + "1" + ")" * 2000, "p.f90:5:1: constructs or expressions are nested too deeply"),
        ("real, dimension(2) : b", "p.f90:5:1: this is no Fortran statement"),
    ],
)
def test_what_is_refused(body: str, said: str) -> None:
    with pytest.raises(ArrayProgramError) as caught:
        read_program(f"program p\nreal a(8)\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\n{body}\nend\n", "p.f90")
    assert said in str(caught.value)
    assert str(caught.value).startswith("p.f90:")
    assert "^" in str(caught.value)


@pytest.mark.parametrize(
    "construct",
    [
        "do i = 1, 8\n a(i) = 0\nend do\n",
        "if (a(1) > 0) then\n a(1) = 0\nend if\n",
        "forall (i = 1:8)\n a(i) = 0\nend forall\n",
        "where (a > 0)\n a = 0\nend where\n",
    ],
)
@pytest.mark.parametrize("before", ["", "a(1) = 1\n", "do i = 1, 8\n a(i) = 1\nend do\n"])
def test_a_directive_before_a_construct_is_not_lost(before: str, construct: str) -> None:
    text = (
        "program p\nreal a(8)\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\n"
        f"{before}do k = 1, 2\n{before}! a remark\n!hpf$ redistribute a(cyclic)\n{construct}end do\nend\n"
    )
    program = read_program(text, "p.f90")
    loop = program.body[-1]
    assert isinstance(loop, DoLoop)
    assert isinstance(loop.body[-2], Redistribute)


def test_where_constructs() -> None:
    """As NumPy's: masks one after the other, each where none before held."""
    text = (
        "program p\nreal a(8), b(8), c(8)\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\n"
        "where (a > 6)\n b = 1\n c = a\nelsewhere (a > 3)\n b = 2\n ! a remark\nelsewhere\n b = 3\n c = 0\nend where\nend\n"
    )
    a = np.arange(1.0, 9.0)
    found = run(read_program(text, "p.f90"), {"a": a, "b": np.zeros(8), "c": np.ones(8)})
    np.testing.assert_array_equal(found["b"], np.where(a > 6, 1, np.where(a > 3, 2, 3)))
    np.testing.assert_array_equal(found["c"], np.where(a > 6, a, np.where(a > 3, 1, 0)))


@pytest.mark.parametrize(
    ("inside", "said"),
    [
        ("a = 1\n b = 2", "this WHERE assigns a, which its mask reads"),
        ("do i = 1, 8\n b(i) = 1\n end do", "this is no Fortran statement"),
        ("", "a WHERE without an assignment"),
    ],
)
def test_where_constructs_that_are_refused(inside: str, said: str) -> None:
    with pytest.raises(ArrayProgramError, match=said):
        read_program(
            "program p\nreal a(8), b(8)\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\n"
            f"where (a > 6)\n {inside}\nend where\nend\n",
            "p.f90",
        )


def test_an_index_has_no_value_behind_its_loop() -> None:
    loop = "do i = 1, 4\na(i) = i\nend do\n"
    text = f"program p\nreal a(4)\n!hpf$ processors q(2)\n{loop}{{}}\nend\n"
    for use in ("a(1) = i", "a(i-3) = 2", "a(1:i-2) = 3", "if (i > 2) a = 1", "do j = 1, i\na(j) = 1\nend do"):
        with pytest.raises(ArrayProgramError, match=r"p\.f90:7:\d+: i is read outside the loop whose index it is"):
            read_program(text.format(use), "p.f90")
    assert run(read_program(text.format(loop), "p.f90"), {})["a"].tolist() == [1, 2, 3, 4]


def test_whole_powers_below_zero_are_cut() -> None:
    text = "program p\ninteger k(3)\nreal a(3)\n!hpf$ processors q(2)\nk = -1\na(1) = 2**k(1)\na(2) = 5 + 2**(-1)\n"
    program = read_program(text + "a(3) = 2.0**k(1)\nend\n", "p.f90")
    assert run(program, {})["a"].tolist() == [0, 5, 0.5]
