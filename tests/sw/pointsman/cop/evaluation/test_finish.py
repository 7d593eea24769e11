"""What is checked of the whole program, when its tree stands."""

from __future__ import annotations

import pytest

from pointsman.cop import CopError, compile_text
from pointsman.network import mesh


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("(cshift 'a 1) (cshift 'a 2)", "'a'"),
        ("(loop 'a 2 (cshift 'a 1))", "'a'"),
    ],
)
def test_a_label_names_one_thing(text: str, label: str) -> None:
    with pytest.raises(CopError) as found:
        compile_text(text, topology=mesh(4))
    assert label in str(found.value)


def test_an_operator_that_stands_alone_is_the_program() -> None:
    program = compile_text("(barrier 'b)", topology=mesh(4))
    assert [operator.label for operator in program.operators()] == ["b"]


def test_the_program_keeps_its_text_and_its_parameters() -> None:
    text = "(parameter n 3) (broadcast 'b n)"
    program = compile_text(text, topology=mesh(4), parameters={"n": 2}, file="a.cop")
    assert (program.source, program.file, dict(program.parameters)) == (text, "a.cop", {"n": 2})
