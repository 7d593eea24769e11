"""The page on the language says what the language is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pointsman.cop import Limits, compile_text
from pointsman.cop.compile import FORMS
from pointsman.cop.geometry import NETWORK_VARIABLES
from pointsman.cop.library import LIBRARY
from pointsman.cop.operators import OPERATORS
from pointsman.network import mesh

PAGE = (Path(__file__).parents[4] / "docs" / "language.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```lisp\n(.*?)```", PAGE, re.DOTALL)
PROSE = re.sub(r"```lisp\n.*?```", "", PAGE, flags=re.DOTALL)
WORDS = {word.strip("()'") for code in re.findall(r"`([^`]+)`", PROSE) for word in code.split()}


@pytest.mark.parametrize("name", sorted({*FORMS, *LIBRARY, *NETWORK_VARIABLES, "*mode*", "*schedlen*"}))
def test_every_word_of_the_language_is_on_the_page(name: str) -> None:
    assert name in WORDS


def test_the_programs_on_the_page_are_right() -> None:
    assert len(PROGRAMS) >= 2
    for text in PROGRAMS:
        compile_text(text, topology=mesh(4, 4))


def test_operators_are_written_as_the_page_says() -> None:
    for spec in OPERATORS.values():
        assert f"| `{spec.syntax}` | {spec.flow} |" in PAGE


def test_limits_on_the_page_are_the_defaults() -> None:
    rows = dict(re.findall(r"\| `(\w+)` \| [^|]+ \| ([\d,]+) \|", PAGE))
    limits = vars(Limits())
    assert {name: int(value.replace(",", "")) for name, value in rows.items() if name in limits} == limits


def test_the_error_on_the_page_is_what_is_printed() -> None:
    with pytest.raises(Exception, match="outside the subset") as caught:
        compile_text(
            "(loop 'mul 4\n  (subset '((0 1 2 3))\n    (broadcast 'b 9)))", file="matmul.cop", topology=mesh(4, 4)
        )
    shown = "\n".join("    " + line for line in str(caught.value).split("\n"))
    assert shown in PAGE
