"""Short messages of several operators: legal by the replay of the router's tests, quicker on the cycle model."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop.compile import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.network.lattice import diamond
from pointsman.operators import Context
from pointsman.operators.scheduled.broadcast import StrBcast
from pointsman.operators.scheduled.shift import StrShift
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.make_plan import make_plan
from pointsman.routing.phase_router import router
from pointsman.routing.phase_router.in_order import in_better_order
from pointsman.routing.phase_router.in_turn import in_turn
from pointsman.routing.phase_router.problem import NodeLimits, split
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.phase_router.turn_order import in_order
from pointsman.routing.streams import RoutedPhase, Stream
from pointsman.runtime import numesh_node
from pointsman.targets.numesh import make_images

ROUNDS = 30


def streams_of(text: str, topology: Topology) -> list[Stream]:
    ways = {"cshift": StrShift(), "broadcast": StrBcast()}
    operators = compile_text(text, topology=topology).operators()
    context = Context(topology, NodeShape(neighbours=8))
    return [stream for one in operators for stream in ways[one.kind].streams(one, context)]


def routed(text: str, topology: Topology, period: int, **conditions: Any) -> RoutedPhase:
    shape = NodeShape(neighbours=8)
    return route_phase(
        streams_of(text, topology), topology, shape, period=period, conditions=PhaseConditions(**conditions)
    )


@pytest.mark.parametrize("topology", [mesh(1, 4), mesh(3, 5), torus(3, 3), mesh(2, 2, 2), diamond(2)], ids=str)
@pytest.mark.parametrize("words", [1, 2, 4])
@pytest.mark.parametrize("period", [12, 17, 24])
def test_routes_are_legal_and_every_message_has_its_words(
    replay: ModuleType, topology: Topology, words: int, period: int
) -> None:
    found = routed(f"(broadcast 'a 0 :m {words}) (cshift 'b 1 :m {words}) (broadcast 'c 1 :m 1)", topology, period)
    assert replay.findings(found) == []
    assert all(found.words(k) >= 1 for k in range(len(found.streams)))


def test_link_writes_that_are_forbidden_are_left_alone(replay: ModuleType) -> None:
    topology = mesh(3, 3)
    forbidden = {(node, port, slot) for node in range(9) for port in topology.at_port[node] for slot in (0, 5)}
    found = routed("(cshift 'a 1 :m 1) (broadcast 'b 4 :m 1)", topology, 16, forbidden=forbidden)
    assert replay.findings(found) == []
    assert not link_writes(found) & forbidden


@pytest.mark.parametrize(
    ("text", "calls", "gain"),
    [
        (
            "(cshift 'a 1 :m 1) (cshift 'b -1 :m 1) (cshift 'c 4 :m 1) (cshift 'd -4 :m 1)",
            [("a", 1), ("b", -1), ("c", 4), ("d", -4)],
            1.2,
        ),
        ("(cshift 'a 1 :m 1) (cshift 'b -1 :m 1)", [("a", 1), ("b", -1)], 1.0),
    ],
)
def test_rounds_take_fewer_cycles_on_the_cycle_model(
    text: str, calls: list[tuple[str, int]], gain: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounds of shifts by one word, as in a stencil on a ring; each node gets the word of its neighbour."""
    program = compile_text(f"(loop 'l {ROUNDS} {text})", topology=mesh(4, 4))

    async def main(node: Any) -> list[int]:
        await node.cop.l_load()
        for label, _ in calls:
            await getattr(node.cop, f"{label}_load")()
        got = []
        for k in range(ROUNDS):
            got += [(await getattr(node.cop, f"{label}_func")([16 * k + node.number]))[0] for label, _ in calls]
        return list(map(int, got))

    def cycles() -> int:
        images = make_images(make_plan(program, NodeShape(), name="rounds"))
        with Machine(images.shape, program.topology, engine="model", progress=False) as machine:
            nodes = [numesh_node(images, number, machine) for number in range(16)]
            done = run_nodes(nodes, main, machine, max_cycles=20_000)
        for node, got in enumerate(done.results):
            assert got == [16 * k + (node - by) % 16 for k in range(ROUNDS) for _, by in calls]
        return int(done.finished.max())

    ordered = cycles()
    monkeypatch.setattr(router, "in_order", lambda streams: None)
    monkeypatch.setattr("pointsman.routing.phase_router.in_turn.in_order", lambda streams: None)
    assert cycles() > gain * ordered


def test_slots_that_are_no_better_are_left() -> None:
    """Found once more beside themselves they are no better; beside the same routes in other slots they are."""
    limits = NodeLimits(2, 32, 16, phase_change=True)
    ordered = in_order(streams_of("(cshift 'a 1 :m 1) (cshift 'b -2 :m 2) (broadcast 'c 3 :m 1)", mesh(3, 3)))
    assert ordered is not None
    placed = in_turn(ordered, split(ordered, mesh(3, 3), NodeShape(), ()), limits, 16, 0)
    assert placed is not None
    assert in_better_order(ordered, placed, limits, 16, 0) is None
    later = [
        (site, part, [replace(one, starts=tuple((at + 7 * one.demand) % 16 for at in one.starts)) for one in chains])
        for site, part, chains in placed
    ]
    assert in_better_order(ordered, later, limits, 16, 0) is not None
