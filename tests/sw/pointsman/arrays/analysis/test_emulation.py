"""Elements and messages of small programs, counted by hand."""

from __future__ import annotations

from pointsman.arrays.analysis.communications import initial
from pointsman.arrays.analysis.emulation import Cost, count
from pointsman.arrays.analysis.vectorising import vectorised
from pointsman.arrays.fortran.reading import read_program

TEXT = """program p
real, dimension(16) :: a, b
real s
!hpf$ processors q(4)
!hpf$ template t(16)
!hpf$ align (i) with t(i) :: a, b
!hpf$ distribute t(%s)
do i = 2, 16
  a(i) = b(i-1)
end do
%s
end
"""


def test_shifts() -> None:
    for kind, elements, messages in (("block", 3, 3), ("cyclic", 15, 4), ("cyclic(2)", 7, 4)):
        found = initial(read_program(TEXT % (kind, ""), "p.f90"))
        assert count(found) == Cost(elements, elements)
        assert count(vectorised(found)) == Cost(elements, messages)


def test_a_scalar_goes_to_everyone_and_redistribution_counts_from_where_it_is() -> None:
    found = initial(read_program(TEXT % ("block", "s = b(3)"), "p.f90"))
    assert count(found) == Cost(3 + 3, 3 + 3)
    found = initial(read_program(TEXT % ("block", "!hpf$ redistribute t(cyclic)\na(5) = b(1)\na(6) = b(1)"), "p.f90"))
    assert count(found) == Cost(3 + 1, 3 + 1)
