"""Each way of ending a phase, and faults planted in each rule of it: the judge finds them, and so does a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, LaneImage, Role
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.plan import polish
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates import candidates
from pointsman.plan.make_plan import make_plan
from pointsman.plan.phases import closing as phase_ends
from pointsman.plan.phases import phase_set as planner
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import breaks, fold
from pointsman.plan.structure.structure import Structure, divided, outline
from pointsman.plan.termination import hijack
from pointsman.plan.termination.marked_graph import Termination
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import allocation, make_images
from pointsman.verify.images import check_images

NODES = 4
ROUNDS = 4


def compiled(text: str, *names: str, split: bool = True, monkeypatch: pytest.MonkeyPatch) -> Images:
    """Images of a program on a line of nodes, with these implementations; ``split``: a phase for each operator."""

    def only(analysis: ProgramAnalysis, *_: object, **__: object) -> list[Structure]:
        return [outline(analysis.program)]

    if split:
        monkeypatch.setattr(candidates, "divisions", only)
        monkeypatch.setattr(polish.Polish, "run", lambda _: None)
    chosen = [one for one in IMPLEMENTATIONS if not names or one.name in (*names, "str_barrier_tree")]
    program = compile_text(text, topology=mesh(NODES))
    return make_images(make_plan(program, NodeShape(), name="test", period=16, implementations=chosen))


def broadcasts(first: int, second: int) -> str:
    return f"(loop 'l {ROUNDS} (broadcast 'a 0 :m {first}) (broadcast 'b 3 :m {second}))"


def went_well(made: Images, first: int, second: int, slow: tuple[int, ...], other: int = NODES - 1) -> bool:
    """Does every node get what the sources of both broadcasts send, with some nodes slow?"""

    async def main(node: Node) -> list[int]:
        got: list[int] = []
        await node.cop.l_load()
        for k in range(ROUNDS):
            for label, source, words in (("a", 0, first), ("b", other, second)):
                cop = node.cop
                await getattr(cop, f"{label}_load")()
                if node.number in slow:
                    await node.compute(400)
                if node.number == source:
                    await getattr(cop, f"{label}_write")(np.arange(words) + 1000 * k)
                else:
                    got += [int(word) for word in await getattr(cop, f"{label}_read")()]
        return got

    def wanted(node: int) -> list[int]:
        return [
            1000 * k + i
            for k in range(ROUNDS)
            for source, words in ((0, first), (other, second))
            if node != source
            for i in range(words)
        ]

    with Machine(made.shape, made.topology, engine="model") as machine:
        nodes = [numesh_node(made, number, machine) for number in range(NODES)]
        try:
            record = run_nodes(nodes, main, machine)
        except PointsmanError:
            return False
        left = machine.state()["full"].any()
    return record.results == [wanted(node) for node in range(NODES)] and not left


SLOW = ((), (1,), (3,), (0, 2), (1, 2, 3))


def runs(made: Images, first: int, second: int, other: int = NODES - 1) -> bool:
    return all(went_well(made, first, second, slow, other) for slow in SLOW)


def techniques(made: Images) -> list[str]:
    return [phase.technique for phase in made.phases]


def judged(made: Images) -> set[str]:
    return {finding.rule for finding in check_images(made).findings}


def with_roles(made: Images, operator: int, change: Callable[[Role], Role]) -> Images:
    """Images with all roles of an operator changed."""
    nodes = tuple(
        replace(
            node,
            operators=tuple(
                (i, replace(view, roles=tuple(map(change, view.roles))) if i == operator else view)
                for i, view in node.operators
            ),
        )
        for node in made.nodes
    )
    return replace(made, nodes=nodes)


THROUGH = "(subset '(0 3) (stream 'a 0 1 :m 3)) (cshift 'b 1 :m 2)"
"""A stream through nodes that have no part in it, and something for all."""


def passed_through(made: Images) -> bool:
    """Does ``THROUGH`` do what it should, with a reader that is late?"""

    async def main(node: Node) -> list[int]:
        got: list[int] = []
        if node.number in (0, NODES - 1):
            await node.cop.a_load()
            if node.number == 0:
                await node.cop.a_write(np.arange(3))
            else:
                await node.compute(500)
                got += [int(word) for word in await node.cop.a_read()]
        await node.cop.b_load()
        got += [int(word) for word in await node.cop.b_func(np.arange(2) + 100 * node.number)]
        return got

    def wanted(node: int) -> list[int]:
        before = 100 * ((node - 1) % NODES)
        return [*(range(3) if node == NODES - 1 else ()), before, before + 1]

    with Machine(made.shape, made.topology, engine="model") as machine:
        nodes = [numesh_node(made, number, machine) for number in range(NODES)]
        try:
            record = run_nodes(nodes, main, machine)
        except PointsmanError:
            return False
    return record.results == [wanted(node) for node in range(NODES)]


# -- each technique does its work ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "words", "technique"),
    [
        (("str_bcast",), (40, 40), "msg-sync"),
        (("str_bcast_bind",), (1, 1), "no-op"),
        (("str_bcast",), (1, 2), "hijack"),
    ],
)
def test_a_phase_ends_by(
    names: tuple[str, ...], words: tuple[int, int], technique: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With free wires: the technique that the phases' own messages allow.
    monkeypatch.setattr(phase_ends, "HIJACKED", 100.0)
    made = compiled(broadcasts(*words), *names, monkeypatch=monkeypatch)
    assert technique in techniques(made)
    assert not judged(made)
    assert runs(made, *words)


def test_what_comes_last_may_speak_for_what_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    # The broadcasts are too short to tell anything, but nobody is through with the barrier before all are in it.
    text = f"(loop 'l {ROUNDS} (broadcast 'a 0 :m 2) (broadcast 'b 3 :m 2) (barrier 'c) (cshift 'd 1 :m 4))"
    program = compile_text(text, topology=mesh(NODES))
    root = disjoint_tree(program)
    for place in breaks(root):
        structure = divided(program, root, fold(root, lambda part, i, place=place: (part, i) == place))
        labels = [[operator.label for operator in phase.operators] for phase in structure.phases]
        if labels == [["a", "b", "c"], ["d"]]:
            break
    else:
        pytest.fail("the phases cannot be divided so")
    monkeypatch.setattr(candidates, "divisions", lambda *_, **__: [structure])
    monkeypatch.setattr(polish.Polish, "run", lambda _: None)
    made = make_images(make_plan(program, NodeShape(), name="test", period=16))
    assert techniques(made)[0] in ("no-op", "barrier", "hijack")
    assert [made.operators[i].label for i in made.phases[0].last] == ["c"]
    assert "can be buffered" not in made.phases[0].reason
    assert not judged(made)


# -- faults --------------------------------------------------------------------------------------------------


def test_fault_words_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    """PHT-07: a message too short to tell anything ends its phase."""
    monkeypatch.setattr(phase_ends, "why_not_loose", lambda *_: None)
    monkeypatch.setattr(planner, "collisions", lambda *_, **__: [])
    made = compiled(THROUGH, monkeypatch=monkeypatch)
    assert "message-ends" in judged(made)
    assert not passed_through(made)


def test_fault_no_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    """PHT-02: a source leaves as soon as its last word is in the interface."""
    made = compiled(broadcasts(40, 40), "str_bcast", monkeypatch=monkeypatch)
    assert "msg-sync" in techniques(made)
    for operator in range(2):
        made = with_roles(made, operator, lambda role: replace(role, delay=0))
    assert "message-ends" in judged(made)


def test_fault_a_hijacked_message_that_is_too_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """PHT-08: the message that closes the phase fits into the buffers on its way."""
    monkeypatch.setattr(phase_ends, "HIJACKED", 100.0)
    monkeypatch.setattr(hijack, "LENGTHS", (1,))
    bound = hijack.termination

    def claims(*arguments: object, spread: bool) -> Termination:
        found = bound(*arguments, spread=spread)  # type: ignore[arg-type]
        return replace(found, message_bound=True, delays=dict.fromkeys(range(NODES), 0))

    monkeypatch.setattr(hijack, "termination", claims)
    made = compiled(broadcasts(3, 3), "str_bcast", monkeypatch=monkeypatch)
    assert "hijack" in techniques(made)
    assert "message-ends" in judged(made)
    assert not runs(made, 3, 3)


def test_fault_a_barrier_that_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """PHT-09: the root of the barrier lets the others go before it has heard of them."""
    monkeypatch.setattr(phase_ends, "hijack", lambda *_: None)
    made = compiled(THROUGH, monkeypatch=monkeypatch)
    assert passed_through(made)
    phase = next(phase for phase in made.phases if phase.technique == "barrier")
    assert phase.barrier is not None
    assert not judged(made)

    def hasty(lane: LaneImage) -> LaneImage:
        return replace(lane, step=0)

    faulty = with_roles(made, phase.barrier, lambda role: replace(role, lanes=tuple(map(hasty, role.lanes))))
    assert "message-ends" in judged(faulty)
    assert not passed_through(faulty)


def test_fault_nobody_looks_at_the_wires(monkeypatch: pytest.MonkeyPatch) -> None:
    """WIR-01: a phase uses wires on which a neighbour may still take words for the phase before."""
    monkeypatch.setattr(planner, "collisions", lambda *_, **__: [])
    monkeypatch.setattr(planner, "reroute", lambda *_, **__: {})
    text = f"(loop 'l {ROUNDS} (broadcast 'a 0 :m 2) (broadcast 'b 3 :m 2))".replace("'b 3", "'b 0")
    made = compiled(text, "str_bcast_bind", monkeypatch=monkeypatch)
    assert techniques(made) == ["no-op", "no-op"]
    assert judged(made) == {"wires", "forks"}  # a word for both legs of one broadcast meets the second leg of the other
    assert not runs(made, 2, 2, 0)


def test_fault_registers_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """WIR-01: a phase that nodes leave each for itself shares its registers with another."""
    with monkeypatch.context() as patch:
        patch.setattr(allocation.Allocation, "_register_bases", shared_registers)
        made = compiled(broadcasts(1, 1), "str_bcast_bind", monkeypatch=monkeypatch)
    assert set(techniques(made)) == {"no-op"}
    assert judged(made) == {"registers"}


def shared_registers(allocator: allocation.Allocation) -> list[dict[int, int]]:
    """Every phase begins with the same register."""
    first = allocator.plan.shape.pipelines
    return [dict.fromkeys(phase.wiring.registers_used, first) for phase in allocator.plan.phases]


def test_a_program_goes_on_though_neighbours_are_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, with other wires instead (Table 5.2): the later phase is routed around the earlier one's."""
    made = compiled(broadcasts(1, 1).replace("'b 3", "'b 0"), "str_bcast_bind", monkeypatch=monkeypatch)
    assert techniques(made) == ["no-op", "no-op"]
    assert not judged(made)
    assert runs(made, 1, 1, 0)
