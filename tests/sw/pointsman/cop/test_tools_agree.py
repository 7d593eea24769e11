"""Random programs of the whole language through every tool: layout, both printers, likely mistakes, explain, colours."""

from __future__ import annotations

import random
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from loading import module_at
from pointsman.cop import (
    CopError,
    Limits,
    compile_program,
    compile_text,
    program_to_cop,
    program_to_python,
)
from pointsman.cop.lexer import CopLexer
from pointsman.cop.mistakes import find_mistakes
from pointsman.cop.text.layout import lay_out
from pointsman.network import mesh
from pointsman.report.explain import explain_json, explain_text

LIMITS = Limits(steps=20_000, operators=500, cells=20_000)
SIZES = [(4, 4), (2, 3), (4,), (2, 2, 2), (1,)]
PROGRAMS = 200


@pytest.fixture(scope="module")
def grammar() -> ModuleType:
    path = Path(__file__).resolve().parents[3] / "fuzz" / "cop_grammar.py"
    return module_at(path, "cop_grammar_of_tools")


def test_all_tools_take_every_program_and_agree_on_it(grammar: ModuleType) -> None:
    rng = random.Random(4)
    right = 0
    for _ in range(PROGRAMS):
        text = grammar.random_program(rng, rng.choice((10, 40)))
        network = mesh(*rng.choice(SIZES))
        assert "".join(value for _, value in CopLexer(stripnl=False, ensurenl=False).get_tokens(text)) == text
        try:
            laid = lay_out(text, limits=LIMITS)
        except CopError:
            continue
        assert lay_out(laid, limits=LIMITS) == laid, text
        try:
            program = compile_text(text, topology=network, limits=LIMITS)
        except CopError as error:
            with pytest.raises(CopError) as caught:
                compile_text(laid, topology=network, limits=LIMITS)
            assert {e.message for e in caught.value.errors} == {e.message for e in error.errors}, text
            continue
        right += 1
        assert compile_text(laid, topology=network, limits=LIMITS) == program, text
        assert compile_text(program_to_cop(program), topology=program.topology) == program, text
        space: dict[str, Any] = {}
        exec(program_to_python(program), space)
        assert compile_program(space["program"], topology=program.topology) == program, text
        lines = text.replace("\r", "\n").count("\n") + 1
        for warning in find_mistakes(program, limits=LIMITS):
            assert 1 <= warning.position.line <= lines, text
        labels = {operator.label for operator in program.operators()}
        plain = explain_json(program)
        assert sum(program.traffic().values()) == plain["tree"]["traffic"], text
        shown = explain_text(plain)
        assert all(f" '{label}" in shown for label in labels), text
    assert right > PROGRAMS // 10, "too few of the random programs are right to show anything"
