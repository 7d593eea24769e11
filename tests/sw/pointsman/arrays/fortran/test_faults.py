"""Where a text that is no Fortran is wrong."""

from __future__ import annotations

import pytest

from pointsman.arrays.fortran.faults import suspect, unclosed


@pytest.mark.parametrize(
    ("text", "number", "found"),
    [
        ("do i = 1, 3\na(i) = i\nend", 3, (1, "DO")),
        ("do i = 1, 3\nif (a(i) > 0) then\na(i) = i\nend do\nend", 4, (2, "IF")),
        ("outer: do\ndo 10 j = 1, 3\n10 continue\nenddo\nwhere (a(1:3) > 0)\na = 1\nend program", 7, (5, "WHERE")),
        ("forall (i = 1:n)\n do = 3\nend", 3, (1, "FORALL")),
        ("do i = 1, 3\nend do\nend if", 3, None),
        ("if (a(1) > 0) a(1) = 2\nforall (i = 1:3) a(i) = 1\nwhere (a > 0) a = 1\nend", 4, None),
        ("do i = 1, 3 ! do j = 1\na = + * 2\nend do", 2, None),
    ],
)
def test_constructs_that_are_not_ended(text: str, number: int, found: tuple[int, str] | None) -> None:
    assert unclosed(text.split("\n"), number) == found


@pytest.mark.parametrize(
    ("line", "column"),
    [
        ("a(i) = b(i-1) + * 2", 17),
        ("      A(I) = I +", 16),
        ("a(i = 3", 2),
        ("a(i)) = 3", 5),
        ("x = = 1", 5),
        ("x = a(2* )", 10),
        ("call f(')', 3", 7),
    ],
)
def test_what_cannot_be_right(line: str, column: int) -> None:
    found = suspect(line)
    assert found is not None
    assert found[0] == column


@pytest.mark.parametrize(
    "line",
    [
        "x = -1",
        "a(1:-2) = b(:,3)",
        "x = a**2 == -b",
        "x = y &",
        "call f('(')  ! (",
        "x = y + (-z)",
        "write (*, *) x",
        "do",
    ],
)
def test_lines_without_such_a_fault(line: str) -> None:
    assert suspect(line) is None
