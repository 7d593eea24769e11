"""Changes to programs that are planned, and said only if they are predicted to be quicker."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import pointsman
from numesh.shape import NodeShape
from pointsman.cli import main
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, torus
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Operator, Program
from pointsman.report.hints import MOST, Change, changes, hints, hints_json, hints_text, shift_of, streams_of

BORDERS = "(loop 'l 9 (grid '(east west south north) 1 1 :m 16) (allreduce 'worst 'max :m 1))"


def program(text: str, topology: Topology) -> Program:
    return compile_text(text, topology=topology)


def pairs(operator: Operator) -> set[tuple[int, int]]:
    """Who sends to whom, by the meaning of the operator."""
    found = set()
    for one in operator.instances:
        if operator.kind == "stream":
            found.add((one.nodes[one.operand("source")], one.nodes[one.operand("destination")]))  # type: ignore[index]
            continue
        step, length = one.operand("distance"), len(one.nodes)
        for place, node in enumerate(one.nodes):
            to = place + step if operator.kind == "eoshift" else (place + step) % length  # type: ignore[operator]
            if 0 <= to < length:
                found.add((node, one.nodes[to]))
    return found


@pytest.mark.parametrize("topology", [mesh(3, 5), mesh(2, 2), torus(3, 3)], ids=str)
def test_streams_between_all_neighbours_become_shifts_that_move_the_same_words(topology: Topology) -> None:
    made = program("(grid '(a b c d) 1 1 :m 5)", topology)
    for one in made.operators():
        shift = shift_of(one, topology)
        assert shift is not None
        assert (shift.label, shift.m, shift.type) == (one.label, one.m, one.type)
        assert pairs(shift) == pairs(one)


@pytest.mark.parametrize(
    "text",
    [
        "(stream 's 0 3 :m 4)",
        "(subset '((0 1) (3 4)) (stream 's 0 1 :m 4))",
        "(subset '((0 1) (3 4)) (stream 's (runtime) 1 :m 4))",
        "(cshift 's 1)",
    ],
)
def test_other_operators_are_no_shifts(text: str) -> None:
    (one,) = program(text, mesh(3, 2)).operators()
    assert shift_of(one, mesh(3, 2)) is None


def test_a_shift_is_not_asked_for_by_an_implementation_of_streams() -> None:
    (one,) = program("(subset '((0 1) (1 2)) (stream 's 0 1 :m 4 :impl 'str_stream))", mesh(3, 1)).operators()
    shift = shift_of(one, mesh(3, 1))
    assert shift is not None
    assert (shift.kind, shift.impl) == ("eoshift", None)


@pytest.mark.parametrize("kind", ["spread", "gather"])
def test_streams_in_turn_move_the_messages_of_a_spread_or_a_gather(kind: str) -> None:
    """Subsets may differ in size."""
    (one,) = program(f"(subset '((0 3) (1 4 5)) ({kind} 'd 1 :m 6 :impl 'dyn_{kind}))", mesh(3, 2)).operators()
    streams = streams_of(one)
    moved = [(0, 1), (2, 1)] if kind == "gather" else [(1, 0), (1, 2)]
    assert [(made.label, made.m, made.impl) for made in streams] == [("d0", 6, None), ("d2", 6, None)]
    assert [pairs(made) for made in streams] == [
        {(nodes[a], nodes[b]) for nodes in ((0, 3), (1, 4, 5)) if max(a, b) < len(nodes)} for a, b in moved
    ]


def test_other_operators_labels_that_are_taken_and_many_messages_give_no_streams() -> None:
    (one,) = program("(spread 'd 0 :m 6)", mesh(4, 1)).operators()
    assert streams_of(one)
    assert not streams_of(one, {"d3"})
    for text, size in (("(seqread 'd '(1 2) 0)", 4), ("(spread 'd 0 :valid '(0 1))", 4), ("(spread 'd 0)", 17)):
        (one,) = program(text, mesh(size, 1)).operators()
        assert not streams_of(one)


def test_a_long_spread_is_quicker_as_streams_in_turn() -> None:
    made = program("(loop 'l 2 (spread 'd 0 :m 300))", mesh(3, 3))
    plan = make_plan(made, NodeShape(), name="x")
    (change,) = (one for one in changes(made, ["d"]) if "as a stream to each node, one after the other" in one.text)
    assert plan.cycles > 1.4 * make_plan(change.program, NodeShape(), name="x").cycles


def test_changes_are_to_what_waits_and_leave_the_rest() -> None:
    made = program(BORDERS, mesh(3, 3))
    found = changes(made, ["west", "worst"], period=16)
    assert [one.text for one in found[:3]] == [
        "'east', 'west', 'south', 'north' as shifts, one after the other",
        "'east', 'west', 'south', 'north' one after the other",
        "'east', 'west', 'south', 'north' one after the other, each in a phase of its own",
    ]
    assert found[3] == Change("schedules of 32 slots", made, {"period": 32})
    labels = [one.label for one in made.operators()]
    for one in found:
        assert [operator.label for operator in one.program.operators()] == labels
        assert one.program != made or one.options
    assert not any("'worst'" in one.text for one in changes(made, ["west"]))


def test_what_was_asked_for_is_tried_without() -> None:
    made = program("(sequential (cshift 'a 1 :m 9 :impl 'str_shift) (broadcast 'b 0 :m 9 :b 0.1))", mesh(3, 3))
    found = {one.text: one for one in changes(made, [], period=8, asked=True)}
    assert set(found) == {
        "'a' without :impl 'str_shift",
        "'b' without :b 0.1",
        "a schedule length that the compiler chooses",
        "schedules of 16 slots",
    }
    (a, b) = found["'b' without :b 0.1"].program.operators()
    assert (a.impl, b.b) == ("str_shift", 1.0)


def test_a_parallel_group_may_be_called_together() -> None:
    def told(text: str, period: int | None = 8) -> list[Change]:
        found = changes(program(text, mesh(4, 4)), ["a"], period=period)
        return [one for one in found if "together" in one.text]

    (change,) = told("(parallel (cshift 'a 1 :m 200) (cshift 'b -1 :m 200))")
    assert change.text == "'a', 'b' called together (node.together), with :impl 'str_shift_round"
    assert [one.impl for one in change.program.operators()] == ["str_shift_round"] * 2
    before = make_plan(
        program("(parallel (cshift 'a 1 :m 200) (cshift 'b -1 :m 200))", mesh(4, 4)), NodeShape(), name="p"
    )
    assert 1.8 * make_plan(change.program, NodeShape(), name="p").cycles < before.cycles
    assert not told("(parallel (cshift 'a 1) (cshift 'b -1))", None)  # not on scheduled routers
    assert not told("(parallel (cshift 'a 1) (barrier 'b))")
    assert not told("(parallel (cshift 'a 1) (sequential (cshift 'b 1) (cshift 'c 1)))")
    assert not told("(parallel (cshift 'a 1) (cshift 'b 1 :impl 'dyn_shift))")


def test_implementations_of_one_name_are_tried_once() -> None:
    made = program("(loop 'l 9 (permute 'a '(1 2 3 0) :m 9) (barrier 'e))", mesh(2, 2))
    texts = [one.text for one in changes(made, ["a"])]
    assert len(texts) == len(set(texts)) > 2


def test_a_group_within_many_groups_is_changed() -> None:
    deep = "(sequential " * 40 + "(parallel (cshift 'a 1) (broadcast 'b 0))" + ")" * 40
    found = changes(program(deep, mesh(2, 2)), ["a"])
    kinds = [part.kind for part, _ in found[0].program.root.walk() if not isinstance(part, Operator)]
    assert "parallel" not in kinds


def test_only_quicker_programs_are_told_and_few_are_planned() -> None:
    made = program(BORDERS, mesh(2, 2))
    several = [Change(f"change {k}", made) for k in range(30)]
    seen: list[str] = []

    def predict(change: Change) -> float | None:
        number = int(change.text.split()[1])
        if number == 3:
            raise PointsmanError("does not fit")
        return {0: 50.0, 1: 99.0, 2: None}.get(number, 200.0 - 15 * number)

    found = hints(several, 100.0, predict, tell=seen.append)
    assert len(seen) == MOST
    assert [(one.text, one.cycles) for one in found[0]] == [
        ("change 11", 35.0), ("change 0", 50.0), ("change 10", 50.0), ("change 9", 65.0), ("change 8", 80.0), ("change 7", 95.0)
    ]  # fmt: skip
    assert found[1:] == (MOST, 1)
    text = hints_text(hints_json(*found))
    assert text.splitlines()[0] == "hint: change 11: 35 cycles predicted, 2.9 times as quick"
    assert "hint: change 8: 80 cycles predicted, 25% quicker" in text
    assert hints_text(hints_json([], 2, 0)).startswith("no hint: 2 changes to the program were planned, and none")


def test_a_hint_holds_when_the_program_is_planned_so() -> None:
    """Whoever follows a hint gets the cycles that it names."""
    made = program("(loop 'l 9 (cshift 'a 1 :m 40 :impl 'dyn_shift))", mesh(2, 2))
    plan = make_plan(made, NodeShape(), name="it")
    found, _, _ = hints(
        changes(made, ["a"])[:1],
        plan.cycles,
        lambda change: make_plan(change.program, NodeShape(), name="it").cycles,
    )
    assert [one.text for one in found] == ["'a' without :impl 'dyn_shift"]
    followed = program("(loop 'l 9 (cshift 'a 1 :m 40))", mesh(2, 2))
    assert make_plan(followed, NodeShape(), name="it").cycles == found[0].cycles


FEW_ROUNDS = """
from pointsman.runtime import Application
class FewRounds(Application):
    program = "few.cop"
    async def main(self, node):
        await node.cop.l_load()
        for _ in range(2):
            await node.cop.a_load()
            await node.cop.a_func([1] * 24)
    def check(self, results):
        return "done"
"""
"""A loop that goes round less often than its text says."""


def test_changed_programs_are_compared_with_the_program_as_it_is_written(tmp_path: Path) -> None:
    (tmp_path / "few.cop").write_text("(loop 'l 40 (cshift 'a 1 :m 24 :impl 'dyn_shift))")
    (tmp_path / "few.py").write_text(FEW_ROUNDS)
    result = pointsman.run(tmp_path / "few.py", mesh(2, 2), engine="model", hints=True)
    assert result.plan is not None
    found = {one["text"]: one for one in result.values["hints"]}
    assert "'a' without :impl 'dyn_shift" in found
    for one in found.values():
        assert one["ratio"] == pytest.approx(result.plan.cycles / one["cycles"])


@pytest.mark.parametrize("target", ["packet", "tdm"])
def test_run_says_hints_on_every_target(target: str, tmp_path: Path) -> None:
    (tmp_path / "two.cop").write_text("(parallel (cshift 'a 1 :m 9) (cshift 'b -1 :m 9))")
    (tmp_path / "two.py").write_text(
        "from pointsman.runtime import Application\n"
        "class Two(Application):\n"
        "    program = 'two.cop'\n"
        "    async def main(self, node):\n"
        "        for label in 'ab':\n"
        "            await getattr(node.cop, label + '_load')()\n"
        "        for label in 'ab':\n"
        "            await getattr(node.cop, label + '_func')([1] * 9)\n"
        "    def check(self, results):\n"
        "        return 'done'\n"
    )
    arguments = ["run", str(tmp_path / "two.py"), "--mesh", "2x2", "--target", target, "--engine", "model", "--hints"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0, result.output
    assert "hint" in result.output.splitlines()[-1] or "were planned" in result.output.splitlines()[-1]
