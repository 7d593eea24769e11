"""First communications: the thesis's example (Yuan 1998, Figure 5.2), conditions, scalars, subscripts that are not affine."""

from __future__ import annotations

from pointsman.arrays.analysis.communications import Owners, every, initial
from pointsman.arrays.fortran.reading import read_program

EXAMPLE = """program example
real, dimension(101, 101) :: x, y, z, w
!hpf$ processors p(2, 2)
!hpf$ template vprocs(202, 202)
!hpf$ align (i, j) with vprocs(i, j) :: x, y, z
!hpf$ align (i, j) with vprocs(2*j, i+1) :: w
!hpf$ distribute vprocs(block, block)
do i = 1, 100
  do j = 1, 100
    z(i, j) = x(i+1, j) * w(i, j)
    z(i, j) = z(i, j) * y(i+1, j)
  end do
  w(i+1, 100) = 1
end do
end
"""


def test_the_example() -> None:
    program = read_program(EXAMPLE, "example.f90")
    found = initial(program)
    assert [str(one) for _, one in found.descriptors()] == [
        "x(i+1,j) -> vprocs(i,j)",
        "w(i,j) -> vprocs(i,j)",
        "y(i+1,j) -> vprocs(i,j)",
    ]
    w = list(found.descriptors())[1][1]
    template, source = Owners(program).source(w)
    assert (template, *map(str, source)) == ("vprocs", "2*j", "i+1")
    assert len(list(every(program.body))) == 5


def test_what_everyone_computes_everyone_gets() -> None:
    text = """program p
real a(8), s
integer idx(8)
!hpf$ processors q(2)
!hpf$ distribute a(block)
!hpf$ distribute idx(block)
if (a(3) > 0) s = a(4)
do i = 1, 8
  a(idx(i)) = s
  a(i) = a(idx(i))
end do
end
"""
    found = initial(read_program(text, "p.f90"))
    assert [str(one) for _, one in found.descriptors()] == [
        "a(3) -> everyone",
        "a(4) -> everyone",
        "idx(i) -> everyone",
        "idx(i) -> a(i)",
        "a(any'1) -> a(i), any'1 = 1:8:1",
    ]


def test_dimensions_that_no_distribution_uses_tell_nothing_apart() -> None:
    text = """program p
real a(8, 8)
!hpf$ processors q(2)
!hpf$ distribute a(block, *)
do i = 1, 8
  do j = 2, 8
    a(i, j) = a(i, j-1)
  end do
end do
%s
end
"""
    assert not initial(read_program(text % "", "p.f90")).before
    assert initial(read_program(text % "!hpf$ redistribute a(*, block)", "p.f90")).before
