"""Every instruction of the assembler has a category, and a form."""

from __future__ import annotations

from pointsman.runtime.tam.assembler import INSTRUCTIONS
from pointsman.runtime.tam.program import ARITHMETIC, CATEGORIES
from pointsman.runtime.tam.values import OPERATIONS


def test_every_instruction_has_a_form_and_a_category() -> None:
    assert set(INSTRUCTIONS) == set(CATEGORIES)
    assert set(OPERATIONS) | {"inletof"} == set(ARITHMETIC)
