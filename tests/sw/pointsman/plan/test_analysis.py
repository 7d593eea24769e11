"""The analysis of a program: made once, and the same as its parts by themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan import analysis as module
from pointsman.plan.analysis import ProgramAnalysis

TEXT = "(barrier 'a) (loop 'l 5 (broadcast 'b 0 :m 4) (optional (cshift 'c 1 :m 4)))"


def analysed() -> ProgramAnalysis:
    program = compile_text(TEXT, topology=mesh(2, 2))
    return ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS)


def test_it_says_what_is_in_the_program() -> None:
    analysis = analysed()
    assert [operator.label for operator in analysis.operators] == ["a", "b", "c"]
    assert analysis.rounds == {"a": 1, "b": 5, "c": 5}
    assert analysis.root is analysis.root


def test_it_says_where_nodes_may_use_operators_in_any_order() -> None:
    text = """
    (broadcast 'a 0) (parallel (broadcast 'b 1) (loop 'l 2 (cshift 'c 1) (subset '((0 1)) (barrier 'd))))
    (parallel (subset '((0 1)) (broadcast 'e 0)) (subset '((2 3)) (broadcast 'f 0) (barrier 'g)))"""
    program = compile_text(text, topology=mesh(2, 2))
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS)
    assert analysis.any_order == {"b", "c", "d"}


def test_phases_end_where_they_are_told_to() -> None:
    analysis = analysed()
    assert [len(phase.operators) for phase in analysis.folded(lambda part, i: False).phases] == [3]
    assert [len(phase.operators) for phase in analysis.folded(lambda part, i: True).phases] == [1, 1, 1]
    assert len(analysis.breaks) == 2


def test_implementations_of_an_operator_are_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis, asked = analysed(), []
    real = module.feasible_implementations

    def counted(operator, *more, **options):  # type: ignore[no-untyped-def]
        asked.append(operator.label)
        return real(operator, *more, **options)

    monkeypatch.setattr(module, "feasible_implementations", counted)
    first, _, last = analysis.operators
    assert analysis.feasible(first) is analysis.feasible(first)
    assert analysis.feasible(last)
    assert asked == ["a", "c"]
    # An operator that is made of the program's, such as that for one run-time value, is another one with the same label.
    assert analysis.feasible(replace(first, m=9))
    assert asked == ["a", "c", "a"]


def test_another_program_has_an_analysis_of_its_own() -> None:
    analysis = analysed()
    other = analysis.of(compile_text("(barrier 'z)", topology=mesh(2, 2)))
    assert [operator.label for operator in other.operators] == ["z"]
    assert other.context is analysis.context
