"""Redundant communications, whole and in part."""

from __future__ import annotations

import pytest

from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.communications import initial
from pointsman.arrays.analysis.eliminating import eliminated
from pointsman.arrays.analysis.vectorising import vectorised
from pointsman.arrays.fortran.reading import read_program

FIRST = "do i = 1, 50\n  a(i) = b(i-1)\nend do\n"


def _left(body: str) -> list[str]:
    text = (
        "program p\nreal, dimension(0:200) :: a, b, c\n!hpf$ processors q(4)\n!hpf$ template t(0:200)\n"
        "!hpf$ align (i) with t(i) :: a, b, c\n!hpf$ distribute t(block)\n" + body + "end\n"
    )
    return [str(one) for _, one in eliminated(vectorised(initial(read_program(text, "p.f90")))).descriptors()][1:]


@pytest.mark.parametrize(
    ("then", "left"),
    [
        ("do i = 10, 40\n c(i) = b(i-1)\nend do\n", []),
        ("do j = 10, 60\n c(j) = b(j-1)\nend do\n", ["b(j-1) -> t(j), j = 51:60:1"]),
        ("do i = 10, 40, 3\n c(i) = b(i-1)\nend do\n", []),
        ("b(20) = 1\ndo i = 1, 50\n c(i) = b(i-1)\nend do\n", ["b(i-1) -> t(i), i = 21:21:1"]),
        ("b(100) = 1\ndo i = 1, 50\n c(i) = b(i-1)\nend do\n", []),
        ("do i = 1, 50\n c(i) = b(i+1)\nend do\n", ["b(i+1) -> t(i), i = 1:50:1"]),
        ("!hpf$ redistribute t(cyclic)\nc(9) = b(8)\n", ["b(8) -> t(9)"]),
        ("if (s > 0) b(8) = 1\nc(9) = b(8)\n", ["b(8) -> t(9)"]),
        ("if (s > 0) c(8) = 1\nc(9) = b(8)\n", []),
        ("do k = 1, 3\n do i = 1, 50\n  c(i) = b(i-1)\n end do\nend do\n", []),
    ],
)
def test_what_is_left(then: str, left: list[str]) -> None:
    assert _left(FIRST + then) == left


def test_after_a_branch_only_what_both_send_is_there() -> None:
    both = "if (s > 0) then\n c(61) = b(60)\nelse\n a(61) = b(60)\nend if\nc(61) = b(60)\n"
    assert _left(FIRST + both) == ["b(60) -> t(61)"] * 2
    one = "if (s > 0) then\n c(61) = b(60)\nend if\nc(61) = b(60)\n"
    assert _left(FIRST + one) == ["b(60) -> t(61)"] * 2


def test_parts_of_a_message_travel_together() -> None:
    """What is there in the middle takes elements from a message, and makes no second one of it."""
    text = (
        "program p\nreal, dimension(8) :: a, s\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\n"
        "s(1:1) = a(3:3)\ndo i = 2, 4\n  s(1) = a(i)\nend do\nend\n"
    )
    steps = derive(read_program(text, "p.f90"))
    (whole, parts) = (list(steps[name].before.values())[-1] for name in ("vectorised", "scheduled"))
    assert [len(message) for message in whole] == [1]
    assert [[str(one) for one in message] for message in parts] == [
        ["a(i) -> everyone, i = 2:2:1", "a(i) -> everyone, i = 4:4:1"]
    ]
