"""Elements that a program surely uses and that are not there."""

from __future__ import annotations

import random

import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.fortran.reading import read_program

TEXT = "program p\nreal a(8), b(8)\n!hpf$ processors q(2)\n!hpf$ distribute a(block)\n!hpf$ align b(i) with a(i)\n{}\nend\n"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("do i = 1, 8\n a(i) = b(i-1)\nend do", "p.f90:7:9: b(i-1) comes to 0, outside the bounds 1:8 of b"),
        ("do i = 8, 1, -3\n a(i-2) = 1\nend do", "a(i-2) comes to 0"),
        ("a(9) = 1", "a(9) comes to 9"),
        ("a(2:9) = b(1:8)", "comes to 9"),
        ("forall (i = 1:8) a(i) = b(9-2*i)", "comes to -7"),
        ("if (b(0) > 0) a(1) = 1", "b(0) comes to 0"),
    ],
)
def test_it_is_refused_with_its_place(body: str, said: str) -> None:
    with pytest.raises(ArrayProgramError) as caught:
        read_program(TEXT.format(body), "p.f90")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    "body",
    [
        "do i = 5, 4\n a(i+9) = 1\nend do",
        "do i = 8, 2, -3\n a(i-1) = 1\nend do",
        "do i = 1, 8\n if (i > 1) a(i) = b(i-1)\nend do",
        "forall (i = 1:8, i < 8) a(i) = b(i+1)",
        "do i = 1, 8\n do j = i, 3\n  a(j) = b(i)\n end do\nend do",
    ],
)
def test_what_may_never_happen_is_not_refused(body: str) -> None:
    assert read_program(TEXT.format(body), "p.f90").body


def test_random_loops_against_all_their_elements() -> None:
    """Refused exactly where some element that is computed is outside."""
    chance = random.Random(1)
    seen = set()
    for _ in range(150):
        low, high, step = chance.randint(-1, 9), chance.randint(-1, 9), chance.choice([1, 2, 3, -1, -2])
        scale, offset = chance.choice([1, 2, -1]), chance.randint(-2, 9)
        text = TEXT.format(f"do i = {low}, {high}, {step}\n a({scale}*i + ({offset})) = 1\nend do")
        wrong = any(not 1 <= scale * i + offset <= 8 for i in range(low, high + (1 if step > 0 else -1), step))
        try:
            read_program(text, "p.f90")
            refused = False
        except ArrayProgramError:
            refused = True
        assert refused == wrong, text
        seen.add(refused)
    assert len(seen) == 2
