"""Hoisting: the thesis's Figure 5.5, and what must stay."""

from __future__ import annotations

from pointsman.arrays.analysis.communications import Communications, initial
from pointsman.arrays.analysis.vectorising import vectorised
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.tree.statements import DoLoop


def _hoisted(body: str) -> Communications:
    text = (
        "program p\nreal, dimension(0:200) :: a, b, d\ninteger idx(200)\n!hpf$ processors q(4)\n!hpf$ template t(0:200)\n"
        "!hpf$ align (i) with t(i) :: a, b, d\n!hpf$ distribute t(block)\n" + body + "\nend\n"
    )
    return vectorised(initial(read_program(text, "p.f90")))


def _said(found: Communications) -> list[str]:
    return [("loop: " if isinstance(at, DoLoop) else "inside: ") + str(one) for at, one in found.descriptors()]


def test_figure_5_5() -> None:
    """C1 leaves the loop as C3; of C2 the first iteration leaves as C4, and C5 stays for the others."""
    found = _hoisted("do i = 1, 100\n  d(i) = a(i-1)\n  b(i) = b(i-1)\nend do")
    assert _said(found) == [
        "loop: a(i-1) -> t(i), i = 1:100:1",
        "loop: b(i-1) -> t(i), i = 1:1:1",
        "inside: b(i-1) -> t(i) where i = 2:100:1",
    ]


def test_what_is_overwritten_only_later_leaves() -> None:
    assert _said(_hoisted("do i = 1, 100\n  b(i) = b(i+1)\nend do")) == ["loop: b(i+1) -> t(i), i = 1:100:1"]
    assert _said(_hoisted("do i = 100, 1, -1\n  b(i) = b(i-1)\nend do")) == ["loop: b(i-1) -> t(i), i = 100:1:-1"]


def test_even_and_odd_do_not_meet() -> None:
    found = _hoisted("do i = 1, 50\n  b(2*i) = b(2*i-1)\nend do")
    assert _said(found) == ["loop: b(2*i-1) -> t(2*i), i = 1:50:1"]


def test_a_broadcast_gets_the_range_of_its_receivers() -> None:
    found = _hoisted("do i = 1, n\n  b(i) = a(7)\nend do")
    assert _said(found) == ["loop: a(7) -> t(i), i = 1:n:1"]


def test_what_must_stay() -> None:
    assert _said(_hoisted("do i = 1, 9\n  b(idx(i)) = b(i)\nend do"))[0].startswith("inside")
    assert _said(_hoisted("do i = 1, 9\n  if (i > 3) b(i) = a(i-1)\nend do"))[0].startswith("inside")
    body = "do i = 1, 9\n  b(i) = a(i-1)\n!hpf$ redistribute t(cyclic)\nend do"
    assert _said(_hoisted(body))[0].startswith("inside")
