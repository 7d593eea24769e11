"""Where the time of a run went: bounds below, predictions beside, and causes of what was waited for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cosim.numesh.activities import cycles_by
from cosim.numesh.machine import Machine
from cosim.numesh.session import run_application
from loading import module_at
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Program
from pointsman.report.time_table import add_times, time_json, time_text, times_of
from pointsman.report.timed import numesh_timed
from pointsman.runtime import Application, Node
from pointsman.targets.numesh import make_images

SIMULATION = Path(__file__).parents[3] / "sim" / "cosim"


def helpers(name: str) -> ModuleType:
    """A module of programs beside the tests of the simulation."""
    return module_at(SIMULATION / f"{name}.py")


EXERCISES = [
    ("broadcast", ("constant",), "3x5", 9),
    ("broadcast", ("runtime",), "2x2", 20),
    ("reduce", ("constant",), "3x2", 8),
    ("prefix", (), "1x4", 8),
    ("cshift", ("constant",), "4x4", 16),
    ("eoshift", ("constant",), "3x2", 16),
    ("permute", ("constant",), "3x3", 12),
    ("gather", ("constant",), "3x2", 8),
    ("spread", ("constant",), "3x2", 8),
    ("stream", ("constant", "constant"), "3x5", 40),
    ("broadcast", ("constant",), "1x1", 4),
    ("allreduce", (), "4x4", 1),
    ("reduce", ("constant",), "3x2", 1),
    ("cshift", ("constant",), "2x2", 1),
]


def run(program: Program, main: Callable[[Node], Any], **options: Any) -> dict[str, Any]:
    class Walk(Application):
        program = ""

        async def main(self, node: Node) -> Any:
            return await main(node)

        def check(self, results: list[Any]) -> str:
            return "done"

    plan = make_plan(program, NodeShape(), name="test", **options)
    images = make_images(plan)
    with Machine(NodeShape(), program.topology, engine="model", progress=False) as machine:
        done = run_application(images, Walk([], program.topology), machine)
    assert done.correct, done.answer
    nodes = done.record.nodes
    by_operator, by_phase = (cycles_by(done.spans, key, nodes) for key in ("operator", "phase"))
    timed = numesh_timed(program, plan, images, done.calls)
    return time_json(timed, done.calls, by_operator=by_operator, by_phase=by_phase)


def text_of(plain: dict[str, Any]) -> str:
    results: dict[str, Any] = {"operators": {}, "phases": [{} for _ in plain["phases"]], "total_cycles": 7}
    add_times(results, plain)
    assert times_of(results) == plain
    return time_text(results)


def check_bounds(plain: dict[str, Any]) -> None:
    for entry in (*plain["operators"].values(), *plain["phases"]):
        if entry["bound"] is not None and entry["under_way"] is not None:
            assert entry["bound"]["cycles"] <= entry["under_way"], entry
            assert entry["reached"] <= 1


@pytest.mark.parametrize(("kind", "operands", "size", "m"), EXERCISES)
def test_no_bound_is_above_a_run(kind: str, operands: tuple[str, ...], size: str, m: int) -> None:
    function = "add" if kind in ("reduce", "prefix", "allreduce") else ""
    exercise = helpers("operator_programs").Exercise(kind, "", operands, size, m, function=function)
    text = exercise.text().replace(" :impl '", "")
    program = exercise.__dict__["program"] = compile_text(text, topology=mesh(*exercise.shape))
    plain = run(program, exercise.main)
    check_bounds(plain)
    assert plain["operators"]["o"]["bound"] is not None or size == "1x1"
    assert "o" in text_of(plain)


@pytest.mark.parametrize("seed", [2, 4, 5, 6])
def test_no_bound_is_above_a_run_of_several_operators_with_random_delays(seed: int) -> None:
    case = helpers("random_programs").random_case(seed, ((2, 2), (3, 2), (1, 4)))
    body = " ".join(step.text() for step in case.steps)
    text = f"(loop 'l 4 {body})" if case.rounds > 1 else f"(sequential {body})"
    check_bounds(run(compile_text(text, topology=case.images.topology), case.main))


def ring(topology: Topology) -> dict[str, Any]:
    program = compile_text("(loop 'round 4 (cshift 'next 1 :m 32))", topology=topology)

    async def main(node: Node) -> None:
        for _ in range(4):
            await node.cop.next_load()
            await node.cop.next_func(np.zeros(32, np.int32))

    return run(program, main)


def test_prediction_is_what_a_program_takes_that_does_not_compute() -> None:
    plain = ring(mesh(3, 3))
    (phase,) = plain["phases"]
    assert phase["operators"] == ["next"]
    for entry in (phase, plain["operators"]["next"]):
        assert entry["measured"] == pytest.approx(entry["predicted"], rel=0.05)
        assert entry["bound"]["cycles"] == 4 * 64


def streams(late: int) -> dict[str, Any]:
    """Four streams in a row that share a link; one reader may come late."""
    program = compile_text(
        "(parallel " + " ".join(f"(stream 's{k} {k} 4 :m 24 :c 3)" for k in range(4)) + ")", topology=mesh(5, 1)
    )

    async def main(node: Node) -> None:
        labels = [f"s{node.number}"] if node.number < 4 else [f"s{k}" for k in range(4)]
        for label in labels:
            await getattr(node.cop, f"{label}_load")()
        if node.number == 4 and late:
            await node.compute(late)
        for _ in range(3):
            for label in labels:
                if node.number < 4:
                    await getattr(node.cop, f"{label}_write")(np.zeros(24, np.int32))
                else:
                    await getattr(node.cop, f"{label}_read")()

    return run(program, main)


def test_waiting_has_its_cause_in_words() -> None:
    plain = streams(late=4000)
    assert any("until all nodes have called it; node 4 comes last" in one["cause"] for one in plain["waits"])
    check_bounds(plain)
    plain = streams(late=0)
    assert sum("late" in one for one in plain["waits"]) == len(plain["waits"])
    for one in plain["waits"]:
        assert one["cycles"] == pytest.approx(one["rate"] + one["late"] + one["latency"])


def test_slots_are_the_cause_where_words_do_not_come_every_cycle() -> None:
    program = compile_text("(stream 's 0 1 :m 60 :b 0.125)", topology=mesh(2, 1))

    async def main(node: Node) -> None:
        await node.cop.s_load()
        await (node.cop.s_read() if node.number else node.cop.s_write(np.zeros(60, np.int32)))

    plain = run(program, main, period=16)
    assert {one["cause"] for one in plain["waits"]} == {"its slowest stream has 2 of 16 slots"}
    assert plain["operators"]["s"]["reached"] < 0.2
    assert "s_read waits" in text_of(plain)
    for one in plain["waits"]:
        one["cycles"] = 1.0
    assert "s_read waits 1 cycle a call for 60 words" in text_of(plain)


def test_slots_that_go_by_as_parallel_operators_are_called_in_turn_have_their_remedy_told() -> None:
    program = compile_text(
        "(parallel (broadcast 'a 0 :m 40) (broadcast 'b 1 :m 40) (broadcast 'c 2 :m 40))", topology=mesh(3, 1)
    )

    async def walk(node: Node, together: bool) -> None:
        cop, calls = node.cop, []
        for label in "abc":
            await getattr(cop, f"{label}_load")()
        for source, label in enumerate("abc"):
            written = node.number == source
            call = (
                getattr(cop, f"{label}_write")(np.zeros(40, np.int32)) if written else getattr(cop, f"{label}_read")()
            )
            if together:
                calls.append(call)
            else:
                await call
        if together:
            await node.together(*calls)

    async def in_turn(node: Node) -> None:
        await walk(node, together=False)

    async def at_once(node: Node) -> None:
        await walk(node, together=True)

    remedy = "share the phase; node.together waits for all at once"
    for main, told in ((in_turn, True), (at_once, False)):
        text = text_of(run(program, main, period=16))
        assert " waits " in text
        assert (remedy in text) is told, text


def test_a_word_that_finds_its_slot_at_once_takes_no_longer_than_its_latency() -> None:
    program = compile_text("(stream 's 0 3 :m 1)", topology=mesh(4))
    found = set()
    for start in range(8):

        async def main(node: Node, start: int = start) -> None:
            await node.cop.s_load()
            await node.compute(100 + start)
            if node.number == 0:
                await node.cop.s_write(np.ones(1, np.int32))
            elif node.number == 3:
                await node.cop.s_read()

        entry = run(program, main, period=8)["operators"]["s"]
        assert entry["bound"] == {"cycles": 7, "kind": "latency", "text": entry["bound"]["text"]}
        found.add(entry["under_way"])
    assert min(found) == 7


def test_a_phase_of_many_operators_makes_no_column_wide() -> None:
    """Its name has those of all its operators."""
    name = "+".join(f"m{k}" for k in range(200))
    entry = {"predicted": 1.0, "measured": 1.0, "under_way": None, "bound": None, "reached": None, "pace": None}
    phases = [{"name": name, "operators": ["x" * 90], **entry}]
    operators = {"x" * 90: {**entry, "calls": 1}}
    text = time_text(
        {"predicted_cycles": None, "phases": phases, "operators": operators, "waits": [], "total_cycles": 7}
    )
    assert "phase m0+m1+m2+m3+m4+m5+m6+m7+m8+m9+… (200 operators)" in text
    assert max(map(len, text.splitlines())) < 200
