"""Limits on the work and memory that a COP text may take. The text is untrusted: everything that it can make grow is bounded."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pointsman.errors import PointsmanError

MAX_NUMBER_BITS = 14_000
"""Largest bound on bits of a number: slightly less than the 4300 decimal digits up to which Python prints integers."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds on a compilation. A text that exceeds a bound raises `CopLimitError`, which names the bound.

    Raises
    ------
    PointsmanError
        If a bound is not positive, or ``number_bits`` exceeds `MAX_NUMBER_BITS`.
    """

    text: int = 8_000_000
    """Characters of the text."""
    forms: int = 1_000_000
    """Atoms and lists read."""
    steps: int = 2_000_000
    """Evaluations, and elements looked at by long operations."""
    depth: int = 20_000
    """Evaluations open at the same time."""
    list_length: int = 1_000_000
    """Elements of a list, or characters of a string."""
    cells: int = 5_000_000
    """List elements, string characters and 64-bit parts of long numbers made altogether."""
    number_bits: int = 4096
    """Bits of a numerator or a denominator."""
    operators: int = 200_000
    """Operator instances and groups, made in all and within any group."""
    nesting: int = 100
    """Groups inside one another in the finished program."""
    output: int = 64_000_000
    """Characters of a program that is printed."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if type(value) is not int or value < 1:
                raise PointsmanError(f"limit {entry.name} must be a positive integer, not {value!r}")
        if self.number_bits > MAX_NUMBER_BITS:
            raise PointsmanError(f"limit number_bits must be at most {MAX_NUMBER_BITS}, not {self.number_bits}")


DEFAULT_LIMITS = Limits()
