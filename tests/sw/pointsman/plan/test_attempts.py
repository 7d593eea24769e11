"""Which candidates are planned, played and given up."""

from __future__ import annotations

import gc
from math import inf
from types import SimpleNamespace, TracebackType
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan import attempts, polish
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.attempts import Attempts, behind, size_of
from pointsman.plan.candidates.candidates import find_candidates
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan


@pytest.mark.parametrize(
    ("promises", "sums", "played", "given_up"),
    [
        ((100, 200, 210), (280, 220, 230), [1, 2], [0]),  # 0 came out far slower than what comes next promises
        ((100, 200, 210), (240, 220, 230), [0, 1, 2], []),
        ((100, 200), (280, None), [0], []),  # what comes next has no plan
    ],
)
def test_a_plan_far_slower_than_what_comes_next_promises_is_played_last(
    promises: tuple[int, ...], sums: tuple[int | None, ...], played: list[int], given_up: list[int]
) -> None:
    seen: list[int] = []
    told: list[int] = []

    class Noted(Attempts):
        def __init__(self) -> None:
            self.best = None

        def routed(self, draft: Any, limit: float) -> Any:
            cycles = sums[draft.number]
            return None if cycles is None else SimpleNamespace(cycles=cycles)

        def limit(self) -> float:
            return 250.0 if seen else inf

        def play(self, draft: Any, rough: Any) -> None:
            seen.append(draft.number)

        def _give_up(self, draft: Any) -> None:
            told.append(draft.number)

    Noted()._plan_all([SimpleNamespace(number=k, promise=one) for k, one in enumerate(promises)])  # type: ignore[misc]
    assert (seen, told) == (played, given_up)


@pytest.mark.parametrize(("other", "left_out"), [(438.0, False), (470.0, True)])
def test_a_length_is_behind_another_only_if_that_is_clearly_slower(other: float, left_out: bool) -> None:
    """Cycles of 40, 32 and 8 slots, and whether 16 slots are left out."""
    one: Any = SimpleNamespace(key="way", period=16)
    assert behind(one, {"way": {40: 426.0, 32: other, 8: 434.0}}) == left_out


@pytest.mark.parametrize(("played", "left_out"), [(150.0, False), (250.0, True), (inf, False)])
def test_a_candidate_far_slower_than_the_best_plan_is_tried_with_no_other_length(played: float, left_out: bool) -> None:
    """``played``: its cycles with another length, infinite if that was given up before it was played."""
    one: Any = SimpleNamespace(key="way", period=16)
    tried = SimpleNamespace(seen=set(), tried={"way": {24: played}}, best=SimpleNamespace(cycles=100.0))
    tried._is_far = lambda one: Attempts._is_far(tried, one)  # type: ignore[arg-type]
    assert Attempts.is_tried(tried, one) == left_out  # type: ignore[arg-type]


def test_a_phase_that_was_refused_makes_the_search_find_another_division(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimates do not tell that a node has too few interface registers for two broadcasts and the barrier; in the end a phase
    for each operator would do."""
    broadcasts = " ".join(f"(broadcast 'b{k} {k} :m 1)" for k in range(6))
    program = compile_text(f"(loop 'l 50 {broadcasts})", topology=mesh(3, 2))
    for name in ("POLISH", "PLAYED", "MANY", "ASIDE", "BESIDE", "CLOSINGS", "USUAL"):
        monkeypatch.setattr(polish, name, 0)

    def cycles() -> float:
        return make_plan(program, NodeShape(registers=8), name="x").cycles

    found = cycles()
    monkeypatch.setattr(attempts, "DIVIDED", 0)
    assert cycles() > 1.5 * found


def test_a_refusal_names_the_operator_whose_implementation_was_asked_for() -> None:
    """The first of these has ways of its own, none of which goes with a schedule for each value of the second in rows."""
    text = "(loop 'l 3 (eoshift 'a (runtime) :m 2) (subset (make-1d 'x) (eoshift 'b (runtime) :m 13{})))"
    made = make_plan(compile_text(text.format(""), topology=mesh(3, 2)), NodeShape(), name="test")
    assert made.phases
    with pytest.raises(PlanError, match="operator 'b' has a schedule for each value"):
        make_plan(compile_text(text.format(" :impl 'sch_shift"), topology=mesh(3, 2)), NodeShape(), name="test")


def test_refusals_are_kept_without_the_frames_that_they_came_through() -> None:
    """These hold whole searches, which nothing but the garbage collector would free."""
    text = (
        "(loop 'l 3 (gather 'g 0) (gather 'h 1) (allreduce 'a 'add :m 2) (spread 's 0) (cshift 'c 1) (broadcast 'b 0))"
    )
    program = compile_text(text, topology=mesh(2, 2))
    gc.collect()
    gc.disable()
    try:
        plan = make_plan(program, NodeShape(registers=12), name="p")
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        frames = [one.tb_frame for one in gc.garbage if isinstance(one, TracebackType)]
        left = [frame.f_code.co_qualname for frame in frames if "pointsman" in frame.f_code.co_filename]
        del frames
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert any(one.outcome.startswith("refused: ") for one in plan.considered)
    assert not left


def test_phases_of_many_operators_count_as_more_work() -> None:
    def size(operators: int) -> int:
        text = "(parallel {})".format(" ".join(f"(cshift 's{k} 1)" for k in range(operators)))
        analysis = ProgramAnalysis(
            compile_text(text, topology=mesh(2, 2)), Context(mesh(2, 2), NodeShape()), IMPLEMENTATIONS
        )
        found = find_candidates(analysis, period=16, effort=1.0)
        return size_of(found.ways[0])

    assert [size(count) for count in (1, 8, 16)] == [4, 4, 8]
