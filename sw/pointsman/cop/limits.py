"""How much a COP text may ask of the compiler. The text is untrusted: everything it can make grow has a bound here."""

from __future__ import annotations

from dataclasses import dataclass, fields

from pointsman.errors import PointsmanError

MAX_NUMBER_BITS = 14_000
"""Python prints integers of up to 4300 decimal digits, which is a little more than this."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Bounds on one compilation; going over one raises `CopLimitError`, which names it.

    Raises
    ------
    PointsmanError
        If a bound is not positive, or ``number_bits`` is more than Python bears.
    """

    text: int = 8_000_000
    """Characters of the text."""
    forms: int = 1_000_000
    """Atoms and lists read."""
    steps: int = 2_000_000
    """Evaluations, and elements looked at by long operations."""
    depth: int = 20_000
    """Evaluations open at one time."""
    list_length: int = 1_000_000
    """Elements of one list, or characters of one string."""
    cells: int = 5_000_000
    """List elements, string characters and 64-bit parts of long numbers made altogether."""
    number_bits: int = 4096
    """Bits of a numerator or a denominator."""
    operators: int = 200_000
    """Operator instances and groups, made altogether or in one group."""
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
