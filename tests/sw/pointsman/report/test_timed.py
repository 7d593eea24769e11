"""What was compiled, as the time table needs it: on messages, bounds are not above runs, and predictions are what is taken."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import pointsman
from cosim.numesh.activities import cycles_by
from cosim.packet.prediction import predicted as packet_predicted
from cosim.packet.session import packet_machine, run_packet_application
from cosim.playing import Player, functions_of
from cosim.tdm.model import switch_machine
from cosim.tdm.prediction import predicted as switch_predicted
from cosim.tdm.session import run_tdm_application
from numesh.shape import NodeShape
from packet_router.shape import RouterShape
from pointsman import cop
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Program
from pointsman.report.time_table import time_json
from pointsman.report.timed import Timed, measured_phases, numesh_timed, packet_timed, tdm_timed
from pointsman.runtime import Application, Node
from pointsman.targets.numesh import make_images
from pointsman.targets.packet import make_packet_program
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape

CASES = [
    ("(loop 'l 4 (cshift 'a 1 :m 20))", (3, 2)),
    ("(broadcast 'b 0 :m 30)", (4, 1)),
    ("(broadcast 'b (runtime) :m 9)", (2, 2)),
    ("(loop 'l 3 (reduce 'r 'add 1 :m 12) (gather 'g 0 :m 7))", (2, 2)),
    ("(allreduce 'r 'add :m 12) (prefix 'p 'add :m 5)", (3, 1)),
    ("(spread 's 0 :m 6) (stream 't 0 2 :m 11)", (3, 1)),
    ("(cshift 'a 1 :m 4)", (1, 1)),
]


def walking(program: Program) -> type[Application]:
    """An application that calls every operator in the order of the text, without computing."""

    class Walk(Application):
        functions = functions_of(program.operators())

        async def main(self, node: Node) -> Any:
            return await Player(program, {one.label: one for one in program.operators()}, MACHINES[-1]).main(node)

        def check(self, results: list[Any]) -> str:
            return "done"

    return Walk


MACHINES: list[Any] = []
"""The machine that runs now."""


def times(timed: Timed, done: Any) -> dict[str, Any]:
    by_operator = cycles_by(done.spans, "operator", timed.cuts.topology.nodes)
    return time_json(
        timed,
        done.calls,
        by_operator=by_operator,
        by_phase=measured_phases(timed, by_operator),  # type: ignore[arg-type]
    )


def check(plain: dict[str, Any], total: int) -> None:
    assert plain["predicted_cycles"] == pytest.approx(total, rel=0.02, abs=3)
    for entry in (*plain["operators"].values(), *plain["phases"]):
        assert set(entry) >= {"predicted", "measured", "under_way", "bound", "reached", "pace"}
        assert entry["predicted"] == pytest.approx(entry["measured"], rel=0.05, abs=1)
        if entry["bound"] is not None and entry["under_way"] is not None:
            assert entry["bound"]["cycles"] <= entry["under_way"], entry
    assert [one for one in plain["waits"] if not one["cause"]] == []


@pytest.mark.parametrize(("text", "size"), CASES)
def test_packet_routers(text: str, size: tuple[int, ...]) -> None:
    program = compile_text(f"(sequential {text})", topology=mesh(*size))
    made = make_packet_program(program, RouterShape(size=size), name="it")
    with packet_machine(made, "model") as machine:
        MACHINES.append(machine)
        done = run_packet_application(made, walking(program)([], program.topology), machine)
    check(times(packet_timed(made, packet_predicted(made, program)), done), done.record.total_cycles)


@pytest.mark.parametrize(("text", "size"), CASES)
def test_the_switch(text: str, size: tuple[int, ...]) -> None:
    program = compile_text(f"(sequential {text})", topology=mesh(*size))
    ports = max(2, program.topology.nodes)
    tables = make_tables(program, SwitchShape(ports=ports), mode="preload")
    with switch_machine(tables.shape, "model", progress=False) as machine:
        MACHINES.append(machine)
        done = run_tdm_application(tables, walking(program)([], program.topology), machine)
    plain = times(tdm_timed(tables, switch_predicted(tables, program)), done)
    check(plain, done.record.total_cycles)
    assert times(tdm_timed(tables, None), done)["predicted_cycles"] is None


def test_pace_is_that_of_the_slots_or_of_the_window() -> None:
    program = compile_text("(cshift 'a 1 :m 60)", topology=mesh(2, 1))
    plan = make_plan(program, NodeShape(), name="it")
    pace = numesh_timed(program, plan, make_images(plan)).paces["a"]
    slots = plan.phases[0].operators[0]
    assert slots.implementation.name in ("str_shift", "par_shift")
    if pace.kind == "window":
        assert pace.words_per_cycle < 0.6
        assert "before it reads" in pace.text
    else:
        assert "slots" in pace.text


def add(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[:] = a + b


@pytest.mark.parametrize("function", [add, np.add])
@pytest.mark.parametrize("target", ["numesh", "tdm", "packet"])
def test_a_function_with_the_name_of_a_built_in_one_is_predicted_as_it_combines(target: str, function: Any) -> None:
    """On scheduled routers a function that may combine several items has whole messages pass from node to node."""

    class Sums(Application):
        functions: ClassVar = {"add": function}

        def program(self, net: cop.Network) -> cop.Parts:
            return [cop.prefix("p", "add", m=50), cop.allreduce("q", "add", m=50)]

        async def main(self, node: Node) -> None:
            for label in "pq":
                await getattr(node.cop, f"{label}_load")()
                await getattr(node.cop, f"{label}_func")(np.arange(50, dtype=np.int32))

    done = pointsman.run(Sums, "4x1", target=target, engine="model")
    assert done.values["predicted_cycles"] == pytest.approx(done.total_cycles, abs=10)
    for entry in (done.values["operators"][label] for label in "pq"):
        assert entry["predicted"] == pytest.approx(entry["measured"], abs=5)
    said = [
        one
        for one in done.values.get("remarks", [])
        if "'p' combines whole messages, as the application's own 'add'" in one
    ]
    assert len(said) == (target == "numesh" and function is add)
