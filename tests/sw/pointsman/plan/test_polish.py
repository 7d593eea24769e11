"""What is tried near the best plan: neighbouring divisions, other schedule lengths and routes."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan import make_plan as build
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.divisions import neighbours
from pointsman.plan.make_plan import make_plan
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


def test_what_continues_over_phases_has_no_neighbours() -> None:
    text = "(parallel (broadcast 'k 0 :m 4) (sequential (cshift 'a 1 :m 4) (cshift 'b 2 :m 4))) (barrier 'c)"
    analysis = analysed(text)
    structure = analysis.folded(lambda part, i: True)
    assert structure.through
    assert neighbours(analysis, structure) == []


def test_one_operator_has_no_neighbours() -> None:
    analysis = analysed("(broadcast 'a 0 :m 20)")
    assert neighbours(analysis, outline(analysis.program)) == []


TEXTS = [
    TEXT,
    "(loop 'l 9 (broadcast 'a (runtime) :m 8) (optional (stream 's 0 3 :m 30)) (cshift 'b 1 :m 8))",
    "(allreduce 'a 'add :m 1) (loop 'l 20 (cshift 'b 1 :m 3) (cshift 'c -1 :m 3) (broadcast 'd 0 :m 3))",
    "(subset (make-1d 'x) (broadcast 'a 0 :m 9)) (subset (make-1d 'y) (reduce 'b 'add 0 :m 3)) (barrier 'c)",
]


@pytest.mark.parametrize("text", TEXTS)
def test_it_never_becomes_slower_and_work_is_bounded(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_text(text, topology=mesh(2, 2))
    polished = make_plan(program, SHAPE, name="x")
    sizes = []
    tried = build._Attempts._try

    def noted(attempts: build._Attempts, *move: int) -> None:
        assert attempts.best is not None
        sizes.append(sum(len(phase.routed.streams) for phase in attempts.best.phases))
        tried(attempts, *move)

    monkeypatch.setattr(build._Attempts, "_try", noted)
    monkeypatch.setattr(build, "POLISH", 100)
    some = make_plan(program, SHAPE, name="x")
    assert sum(sizes) <= 100
    monkeypatch.setattr(build, "POLISH", 0)
    assert polished.cycles <= some.cycles <= make_plan(program, SHAPE, name="x").cycles
    assert make_plan(program, SHAPE, name="x", structures=[outline(program)]).period > 0


def test_something_quicker_is_found_and_said_to_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    gains = 0
    for text in TEXTS:
        program = compile_text(text, topology=mesh(2, 2))
        polished = make_plan(program, SHAPE, name="x")
        (chosen,) = (one for one in polished.considered if one.outcome == "chosen")
        assert chosen.cycles == polished.cycles
        assert min(one.cycles for one in polished.considered if one.cycles is not None) == polished.cycles
        with monkeypatch.context() as patched:
            patched.setattr(build, "POLISH", 0)
            gains += polished.cycles < make_plan(program, SHAPE, name="x").cycles
    assert gains
