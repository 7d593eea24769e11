"""Divisions into phases that are worth routing, and their neighbours."""

from __future__ import annotations

from itertools import chain, combinations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates import divisions as divisions_module
from pointsman.plan.candidates.divisions import alone, costs_of, divisions, neighbours, never_alone, searched
from pointsman.plan.structure.structure import Structure, outline

SHAPE = NodeShape(vfsms=64, registers=32)
TEXT = "(broadcast 'a 0 :m 20) (loop 'l 9 (cshift 'b 1 :m 8) (allreduce 'c 'add :m 2)) (broadcast 'd 3 :m 20)"


def labels(structure: Structure) -> str:
    return " | ".join("+".join(operator.label for operator in phase.operators) for phase in structure.phases)


def analysed(text: str) -> ProgramAnalysis:
    """A program on 2x2 nodes."""
    program = compile_text(text, topology=mesh(2, 2))
    return ProgramAnalysis(program, Context(program.topology, SHAPE), IMPLEMENTATIONS)


def division(text: str, *ended: int) -> tuple[ProgramAnalysis, Structure]:
    """A program, and its division that ends phases at these of the places where one may end."""
    analysis = analysed(text)
    places = [analysis.breaks[i] for i in ended]
    return analysis, analysis.folded(lambda part, i: (part, i) in places)


@pytest.mark.parametrize(
    ("ended", "near"),
    [
        ((), {"a | b+c+d", "a+b+c | d", "a+b | c+d"}),
        ((0, 1, 2), {"a+b | c | d", "a | b+c | d", "a | b | c+d"}),
        ((1,), {"a | b+c | d", "a+b+c+d", "a+b | c | d"}),
    ],
)
def test_neighbours_end_a_phase_more_or_less(ended: tuple[int, ...], near: set[str]) -> None:
    analysis, structure = division(TEXT, *ended)
    places = len(analysis.breaks)
    found = [labels(one) for one in neighbours(analysis, structure)]
    assert len(found) == len(set(found)) == places == 3
    back = [neighbours(analysis, one) for one in neighbours(analysis, structure)]
    assert all(labels(structure) in map(labels, ones) for ones in back), "who is near has it near"
    assert set(found) == near


@pytest.mark.parametrize(
    ("ended", "label", "found"),
    [
        ((), "a", "a | b+c+d"),
        ((), "b", "a | b | c | d"),
        ((0,), "c", "a | b | c | d"),
        ((0, 1, 2), "c", None),
        ((1,), "d", None),
        ((2,), "d", "a+b | c | d"),
    ],
)
def test_phases_end_around_an_operator_that_is_to_be_alone(
    ended: tuple[int, ...], label: str, found: str | None
) -> None:
    analysis, structure = division(TEXT, *ended)
    apart = alone(analysis, structure, label)
    assert (None if apart is None else labels(apart)) == found


def test_what_continues_over_phases_has_no_neighbours() -> None:
    text = "(parallel (broadcast 'k 0 :m 4) (sequential (cshift 'a 1 :m 4) (cshift 'b 2 :m 4))) (barrier 'c)"
    analysis = analysed(text)
    structure = analysis.folded(lambda part, i: True)
    assert structure.through
    assert neighbours(analysis, structure) == []


def test_one_operator_has_no_neighbours() -> None:
    analysis = analysed("(broadcast 'a 0 :m 20)")
    assert neighbours(analysis, outline(analysis.program)) == []


def test_each_division_is_there_once_with_a_phase_for_each_operator_and_one_for_all() -> None:
    analysis = analysed(TEXT)
    found = searched(analysis, costs_of(analysis, period=16))
    names = [labels(structure) for structure in divisions(analysis, found)]
    assert len(names) == len(set(names))
    assert {"a | b | c | d", "a+b+c+d"} <= set(names)


def test_the_search_keeps_to_the_phases_that_a_node_may_have() -> None:
    analysis = analysed(TEXT)
    for most in (1, 2, 3):
        (found,) = searched(analysis, costs_of(analysis, period=16), most_phases=most)
        assert len(analysis.divided(found.phases).phases) <= most


def test_an_operator_alone_needs_no_search() -> None:
    analysis = analysed("(broadcast 'a 0 :m 20)")
    assert searched(analysis, costs_of(analysis, period=16)) == []
    assert [labels(structure) for structure in divisions(analysis, [])] == ["a"]


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "(barrier 'a) (loop 'l 2 (optional (cshift 'b 1)) (loop 'm 3 (cshift 'c 1) (barrier 'd)) (phase (barrier 'e)))",
        "(parallel (cshift 'a 1) (loop 'l 3 (cshift 'b 1) (cshift 'c 1))) (cshift 'd 1) (cshift 'e 1)",
        "(cshift 'a 1) (subset '((0 1)) (cshift 'b 1)) (subset '((2 3)) (cshift 'c 1) (cshift 'd 1)) (loop 'l 2 (cshift 'e 1))",
        "(stream 's0 0 1 :m 4) (stream 's1 2 3 :m 4) (stream 's2 1 3 :m 4) (stream 's3 0 2 :m 4)",
        "(cshift 'a 1)",
    ],
)
def test_who_is_never_alone_is_known_without_dividing(text: str) -> None:
    breaks = range(len(analysed(text).breaks))
    for ended in chain.from_iterable(combinations(breaks, n) for n in range(len(breaks) + 1)):
        analysis, structure = division(text, *ended)
        found = {one.label for one in analysis.operators if alone(analysis, structure, one.label) is None}
        assert never_alone(analysis, structure) == found


def test_who_is_never_alone_is_soon_known_of_many_operators(monkeypatch: pytest.MonkeyPatch) -> None:
    """A division for each of some hundred operators took most of planning."""
    analysis, structure = division(" ".join(f"(cshift 'a{k} 1)" for k in range(50)))
    monkeypatch.setattr(ProgramAnalysis, "folded", lambda *_: pytest.fail("a division was made"))
    assert not never_alone(analysis, structure)


def test_of_many_operators_only_some_neighbours_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    analysis, structure = division(" ".join(f"(cshift 'a{k} 1)" for k in range(12)))
    assert len(neighbours(analysis, structure)) == 11
    monkeypatch.setattr(divisions_module, "NEIGHBOURS", 12 * 9)
    some = [len(one.phases[0].operators) for one in neighbours(analysis, structure)]
    assert some == [1, 2, 3, 4, 5, 7, 8, 9, 10]
