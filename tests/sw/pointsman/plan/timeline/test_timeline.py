"""A plan's timeline against the cycle model: the judge of every prediction."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest

from cosim.numesh.activities import ActivityWatch, cycles_by
from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import is_dynamic, runtime_values
from pointsman.plan.make_plan import make_plan
from pointsman.plan.options import PlanOptions
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided, outline
from pointsman.plan.timeline import timeline as module
from pointsman.plan.timeline.sampling import choice, visits
from pointsman.plan.timeline.steps.writer import StepWriter
from pointsman.plan.timeline.timeline import timed, timeline
from pointsman.program.program import Runtime
from pointsman.runtime import numesh_node
from pointsman.targets.numesh import make_images

COUNTED = ("write", "read", "psync", "router", "reprog", "online")


def plan_of(
    text: str, topology: Topology, *, split: bool = False, shape: NodeShape | None = None, **options: Any
) -> Plan:
    program = compile_text(text, topology=topology)
    structures = [outline(program)] if split else None
    return make_plan(program, shape or NodeShape(), name="test", structures=structures, **options)


def measured(plan: Plan) -> tuple[list[float], int]:
    """Mean cycles of a node in each phase, and all of them. Every node goes through the visits of a timeline's own walk with the
    values that it takes, so programs here have few rounds."""
    images, nodes = make_images(plan), plan.topology.nodes

    async def main(node: Any) -> None:
        for visit in visits(plan.program):
            operator = visit.operator
            if node.number not in operator.nodes:
                continue
            values = runtime_values(operator)
            value = values[choice(operator.label, visit.number, len(values))]
            instance = next(i for i in operator.instances if node.number in i.nodes)
            place = instance.nodes.index(node.number)
            operands = dict(instance.operands)
            given = iter(value)
            ends = [operands.get(name) for name in ("source", "destination")]
            source, to = (next(given) if isinstance(end, Runtime) else end for end in ends)

            def function(name: str, label: str = operator.label) -> Any:
                return getattr(node.cop, f"{label}_{name}")

            message = np.zeros(operator.m, np.int32)
            hidden = operator.kind == "stream" and is_dynamic(operator, "destination") and place != source
            await function("load")(*((*value[:-1], None) if hidden else value))
            for _ in range(operator.c):
                if operator.kind == "barrier":
                    await function("func")()
                elif operator.kind in ("cshift", "eoshift", "prefix", "reduce", "allreduce"):
                    await function("func")(message)
                else:
                    if place == source:
                        await function("write")(message)
                    if place == to or (operator.kind == "broadcast" and place != source):
                        await function("read")()

    with Machine(plan.shape, plan.topology, engine="model", progress=False) as machine:
        watched = [ActivityWatch(images, number, machine) for number in range(nodes)]
        record = run_nodes([watch.node for watch in watched], main, machine)
    by_phase = cycles_by([span for watch in watched for span in watch.spans], "phase", nodes)
    phases = [sum(by_phase.get(p, {}).get(one, 0.0) for one in COUNTED) for p in range(len(plan.phases))]
    return phases, record.total_cycles


def assert_as_measured(plan: Plan, *, total: float, phase: float, cycles: float | None = None) -> None:
    """The whole and each phase are within these shares of what the machine takes, or ``cycles``, and 12 in a phase."""
    found = timeline(plan)
    assert found is not None
    phases, all_of_it = measured(plan)
    assert found.total == pytest.approx(all_of_it, rel=total, abs=cycles)
    for expected, is_ in zip(phases, found.phases, strict=False):
        assert is_ == pytest.approx(expected, rel=phase, abs=12)


TEXTS = {
    "one broadcast": "(broadcast 'b 0 :m 100)",
    "shifts round": "(loop 'l 4 (cshift 'c 1 :m 30) (cshift 'd -1 :m 20))",
    "source at run time": "(loop 'l 6 (broadcast 'b (runtime) :m 40))",
    "many calls": "(loop 'l 3 (broadcast 'b 1 :m 3 :c 20) (barrier 'e))",
    "rows and columns": """(loop 'l 4 (subset (make-1d 'x) (broadcast 'r (runtime) :m 9))
                                      (subset (make-1d 'y) (cshift 'c 1 :m 12)))""",
    "streams": "(loop 'l 5 (stream 's 0 3 :m 25) (stream 't 3 0 :m 5) (barrier 'b))",
    "nothing": "(subset '((0)) (broadcast 'b 0))",
}


@pytest.mark.parametrize("split", [False, True], ids=["searched", "split"])
@pytest.mark.parametrize("name", TEXTS)
def test_it_takes_about_as_long_as_the_machine(name: str, split: bool):
    plan = plan_of(TEXTS[name], mesh(2, 2), split=split)
    assert_as_measured(plan, total=0.1, phase=0.15, cycles=8)


@pytest.mark.parametrize("size", [(1, 3), (3, 2), (5, 1)])
def test_it_holds_on_meshes_of_any_shape(size: tuple[int, int]):
    plan = plan_of(TEXTS["shifts round"], mesh(*size))
    found = timeline(plan)
    assert found is not None
    assert found.total == pytest.approx(measured(plan)[1], rel=0.1)


def test_loading_phases_in_turn_is_in_it():
    text = "(loop 'l 3 (barrier 'a) (cshift 'b 1 :m 9) (cshift 'c -1 :m 9) (broadcast 'd 0 :m 9))"
    few = NodeShape(schedule_depth=64)
    plans = [plan_of(text, mesh(2, 2), split=True, shape=shape, period=16) for shape in (NodeShape(), few)]
    found = [timeline(plan) for plan in plans]
    totals = [one.total for one in found if one is not None]
    assert len(totals) == 2
    assert totals[1] > totals[0] + 50
    assert totals == pytest.approx([measured(plan)[1] for plan in plans], rel=0.05)


def test_loading_vfsms_in_turn_is_in_it():
    text = """(loop 'l 3 (broadcast 'a 2 :m 9) (cshift 'b 1 :m 9) (cshift 'c -1 :m 9) (broadcast 'd 0 :m 9)
                         (broadcast 'e 1 :m 9))"""
    plans = [plan_of(text, mesh(2, 2), split=True, shape=NodeShape(vfsms=n), period=12) for n in (32, 8)]
    found = [timeline(plan) for plan in plans]
    totals = [one.total for one in found if one is not None]
    assert len(totals) == 2
    assert totals[1] > totals[0] + 300
    assert totals == pytest.approx([measured(plan)[1] for plan in plans], rel=0.1)


def test_load_functions_that_do_not_meet_are_in_it():
    plan = plan_of("(loop 'l 6 (stream 's (runtime) (runtime) :m 9) (barrier 'e))", mesh(3, 3), split=True)
    assert plan.phases[0].operators[0].implementation.loading is Loading.LEFT_BETWEEN_USES
    found = timeline(plan)
    assert found is not None
    assert found.total == pytest.approx(measured(plan)[1], rel=0.1)


def test_going_to_a_second_schedule_and_back_is_in_it():
    plan = plan_of("(loop 'l 4 (prefix 'p 'add :m 20 :impl 'sch_prefix))", mesh(3, 3))
    assert plan.phases[0].routed.second
    found = timeline(plan)
    assert found is not None
    assert found.total == pytest.approx(measured(plan)[1], rel=0.1)


def test_run_time_values_count_alike_and_not_the_longest_way_for_all():
    """To one of three nodes of a row, the writer among them: in one of three rounds nobody moves a word."""
    plan = plan_of("(loop 'l 12 (stream 's 0 (runtime) :m 60))", mesh(3, 1))
    found = timeline(plan)
    assert found is not None
    assert found.total == pytest.approx(measured(plan)[1], rel=0.1)


def test_more_rounds_than_are_played_are_counted_in_proportion():
    few, many = (timeline(plan_of(f"(loop 'l {n} (cshift 'c 1 :m 50))", mesh(2, 2))) for n in (100, 1000))
    assert few is not None
    assert many is not None
    assert few.played < few.total / 3
    assert many.total == pytest.approx(10 * few.total, rel=0.05)


def test_the_plan_of_a_compiled_program_has_its_timeline():
    plan = plan_of(TEXTS["rows and columns"], mesh(3, 3))
    found = timeline(plan)
    assert found is not None
    assert plan.total == plan.cycles == found.total
    assert tuple(phase.cycles for phase in plan.phases) == found.phases[:-1]


ONLINE = {
    "one message for each": "(loop 'l 4 (broadcast 'b 0 :m 20 :impl 'dyn_bcast))",
    "down a tree": "(loop 'l 4 (broadcast 'b 1 :m 20 :impl 'dyn_bcast_tree))",
    "exchanged": "(loop 'l 4 (cshift 'c 1 :m 20 :impl 'dyn_shift))",
    "up and down a tree": "(loop 'l 4 (barrier 'b :impl 'dyn_barrier))",
    "far": "(loop 'l 4 (stream 's 0 3 :m 40 :impl 'dyn_stream))",
    "and other phases": "(loop 'l 4 (cshift 'a 1 :m 7) (cshift 'b 2 :m 20 :impl 'dyn_shift))",
    "and streams": "(phase (loop 'l 4 (cshift 'a 1 :m 30) (broadcast 'b 0 :m 20 :impl 'dyn_bcast_dense)))",
}


@pytest.mark.parametrize("size", [(2, 2), (4, 3)], ids=str)
@pytest.mark.parametrize("name", ONLINE)
def test_messages_that_processors_pass_on_are_in_it(name: str, size: tuple[int, int]):
    plan = plan_of(ONLINE[name], mesh(*size))
    assert any(phase.part is not None for phase in plan.phases)
    assert_as_measured(plan, total=0.05, phase=0.05)


def test_nodes_that_are_not_valid_make_no_calls():
    """They had been taken to send to node 0, too, and it to read nothing of theirs: three times the cycles."""
    plan = plan_of("(loop 'l 6 (gather 'g 0 :m 20 :valid '(0 1) :impl 'dyn_gather))", mesh(4, 2))
    found = timeline(plan)
    assert found is not None

    async def main(node: Any) -> None:
        for _ in range(6):
            await node.cop.g_load()
            if node.number == 1:
                await node.cop.g_write(np.zeros(20, np.int32))
            if node.number == 0:
                await node.cop.g_read()

    with Machine(plan.shape, plan.topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(make_images(plan), number, machine) for number in range(8)]
        record = run_nodes(nodes, main, machine)
    assert found.total == pytest.approx(record.total_cycles, rel=0.05)


def test_both_ends_of_a_message_come_alike():
    """They are drawn together: drawn apart from the same sequence they would always be as far from each other."""
    plan = plan_of("(loop 'l 12 (stream 's (runtime) (runtime) :m 40 :impl 'dyn_stream))", mesh(2, 2))
    found = timeline(plan)
    assert found is not None
    assert found.total == pytest.approx(measured(plan)[1], rel=0.1)


@pytest.mark.parametrize("source", ["0", "(runtime)"])
@pytest.mark.parametrize("size", [(2, 2), (4, 3)], ids=str)
def test_a_destination_that_only_the_writer_knows_is_where_the_message_is_read(size: tuple[int, int], source: str):
    plan = plan_of(f"(loop 'l 12 (stream 's {source} (runtime :dynamic t) :m 40))", mesh(*size))
    found = timeline(plan)
    assert found is not None
    assert found.total == pytest.approx(measured(plan)[1], rel=0.1)


def test_what_continues_over_phases_is_in_it():
    text = """(parallel (stream 's 0 3 :m 20)
                        (loop 'l 4 (sequential (cshift 'a 1 :m 9) (broadcast 'b 1 :m 12) (cshift 'd -1 :m 5))))"""
    program = compile_text(text, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    plan = make_plan(program, NodeShape(vfsms=64, registers=32), name="test", structures=[structure])
    assert plan.continuing
    assert len(plan.phases) == 3
    assert_as_measured(plan, total=0.05, phase=0.1)


def test_visits_that_move_no_word_take_no_step_and_no_cycle(monkeypatch: pytest.MonkeyPatch):
    streams = " ".join(f"(stream 's{i} {i} {i + 1} :m {5 + i})" for i in range(4))
    text = f"(loop 'l 9 {streams} (optional (subset '((1 2)) (broadcast 'b (runtime) :m 3))) (barrier 'w))"
    plan = plan_of(text, mesh(3, 2), options=PlanOptions(first=True))
    written, idle = 0, StepWriter._is_idle

    def told(*visit: Any) -> bool:
        nonlocal written
        found = idle(*visit)
        written += found
        return found

    monkeypatch.setattr(StepWriter, "_is_idle", told)
    short = timeline(plan)
    assert written > 20
    monkeypatch.setattr(StepWriter, "_is_idle", lambda *visit: False)
    assert timeline(plan) == short


@pytest.mark.parametrize("period", [4, 5, 7, 9, 16])
@pytest.mark.parametrize("size", [(2, 1), (3, 1), (3, 3)])
def test_a_gate_opens_when_its_command_has_taken_effect(size: tuple[int, ...], period: int) -> None:
    # A cycle more or less is a whole period more or less where the word has to wait for the next slot of the gate.
    plan = plan_of("(loop 'l 4 (barrier 'b :impl 'str_barrier))", mesh(*size), period=period)
    found = timeline(plan)
    assert found is not None, "it is played to its end"
    assert found.total == pytest.approx(measured(plan)[1], abs=2 * period)


@pytest.mark.parametrize(
    "operator",
    [
        "(reduce 'b 'add 0 :m 5 :valid '(0 1) :impl 'dyn_reduce)",
        "(reduce 'b 'add 1 :m 5 :valid '(0 1 5) :impl 'dyn_reduce)",
        "(allreduce 'b 'add :m 5 :valid '(1 2) :impl 'dyn_allreduce)",
        "(prefix 'b 'add :m 9 :valid '(1 2 5) :impl 'dyn_prefix)",
    ],
)
def test_messages_of_some_nodes_are_played(operator: str) -> None:
    plan = plan_of(f"(loop 'l 3 {operator})", mesh(3, 2))
    found = timeline(plan)
    assert found is not None
    assert found.total == pytest.approx(measured(plan)[1], rel=0.1)


def test_a_plan_that_cannot_be_played_keeps_its_estimate(monkeypatch: pytest.MonkeyPatch):
    plan = plan_of("(reduce 'b 'add 0 :m 5 :impl 'dyn_reduce)", mesh(2, 2))
    monkeypatch.setattr(module, "_is_playable", lambda plan: False)
    assert timeline(plan) is None
    assert timed(plan) is plan
    assert plan.cycles > 0


def test_a_game_that_would_take_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch):
    plan = plan_of("(cshift 'c 1 :m 500)", mesh(2, 2))
    monkeypatch.setattr(module, "LIMIT", 400)
    assert timeline(plan) is None


@pytest.mark.long
def test_random_programs_are_predicted_within_a_tenth(random_plans: list[Plan]):
    errors = []
    for plan in random_plans:
        found = timeline(plan)
        if found is not None:
            errors.append(abs(found.total / measured(plan)[1] - 1))
    assert len(errors) >= 5
    assert statistics.median(errors) < 0.05


@pytest.fixture
def random_plans() -> list[Plan]:
    """Programs of shifts, broadcasts and barriers over rows, columns and all nodes."""
    chance = np.random.default_rng(7)
    plans = []
    for _ in range(6):
        parts = []
        for i in range(int(chance.integers(2, 5))):
            where = chance.choice(["", "x", "y"])
            what = chance.choice(
                [f"(broadcast 'o{i} 1 :m 9)", f"(cshift 'o{i} 1 :m 17)", f"(barrier 'o{i} :impl 'str_barrier_tree)"]
            )
            parts.append(f"(subset (make-1d '{where}) {what})" if where else what)
        plans.append(plan_of(f"(loop 'l 4 {' '.join(parts)})", mesh(2, 2)))
    return plans


def test_a_plan_that_is_sure_to_take_too_long_is_played_no_further():
    plan = plan_of("(cshift 'c (runtime) :m 40)", mesh(3, 3))
    whole = timeline(plan)
    assert whole is not None
    for share in (0.1, 0.3, 0.6):
        found = timeline(plan, most=share * whole.total)
        assert found is not None
        assert share * whole.total < found.total <= whole.total
        assert found.played < whole.played
    assert timeline(plan, most=whole.total) == whole


@pytest.mark.parametrize("words", [8, 20])
def test_a_ring_of_messages_that_routers_cannot_hold_is_played_with_nodes_that_read_while_they_write(
    words: int,
) -> None:
    """Where all write first they wait for each other for ever; so these plans kept their estimates, half of the cycles."""
    plan = make_plan(
        compile_text(
            f"(doall ((i (all *nodes*))) (stream 's i (mod (+ i 1) *nodes*) :m {words}))", topology=mesh(4, 4)
        ),
        NodeShape(),
        name="ring",
    )

    async def main(node: Any) -> None:
        await node.cop.s_load()
        await node.together(node.cop.s_write(np.zeros(words, np.int32)), node.cop.s_read())

    images = make_images(plan)
    with Machine(plan.shape, plan.topology, engine="model", progress=False) as machine:
        record = run_nodes([numesh_node(images, number, machine) for number in range(16)], main, machine)
    assert plan.total is not None
    assert plan.total == pytest.approx(record.total_cycles, rel=0.08)
