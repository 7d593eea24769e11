"""What an error of an array program looks like."""

from __future__ import annotations

from pointsman.arrays.errors import ArrayProgramError
from pointsman.program.program import Position


def test_an_error_shows_its_line() -> None:
    error = ArrayProgramError("no such array", position=Position("p.f90", 3, 5), line="\ta = b\n", hint="declare it")
    assert str(error) == "p.f90:3:5: no such array\n  \ta = b\n  \t   ^\n  hint: declare it"
    assert str(ArrayProgramError("no such array")) == "no such array"
