"""A fault in each rule of how phases end and how wires are used again: the judge names the rule, and a run goes wrong.

Each row of ``FAULTS`` (seeded_faults.py) compiles a program as it should be, and again with its fault. The run
is on the cycle model, with one node after the other stalled for long at every place of the program; it goes wrong if any word is
lost, doubled, crossed or left over, or nothing moves any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from loading import module_at
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import breaks, fold
from pointsman.plan.structure.structure import Structure, divided, outline
from pointsman.program.program import Group, Operator, Program, Runtime
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

FAULTS = module_at(Path(__file__).with_name("seeded_faults.py")).FAULTS
STALL = 700
"""Cycles for which a node stands still."""
MOST_CYCLES = 40_000
Stalled = tuple[frozenset[int], int]


# -- compiling and running -----------------------------------------------------------------------------------


def structure_of(program: Program, phases: Sequence[Sequence[str]] | None) -> Structure:
    if phases is None:
        return outline(program)
    root = disjoint_tree(program)
    everything = divided(program, root, fold(root, lambda part, i: True))
    several = [
        divided(program, root, fold(root, lambda part, i, place=place: (part, i) == place)) for place in breaks(root)
    ]
    for one in (everything, *several):
        if [[o.label for o in phase.operators] for phase in one.phases] == [list(labels) for labels in phases]:
            return one
    raise AssertionError("the phases cannot be divided so")


def compiled(fault: Any) -> Images:
    program = compile_text(fault.text, topology=mesh(*fault.size))
    chosen = [one for one in IMPLEMENTATIONS if not fault.names or one.name in (*fault.names, "str_barrier_tree")]
    structure = structure_of(program, fault.phases)
    plan = make_plan(
        program,
        NodeShape(registers=32),
        name="test",
        period=fault.period,
        structures=[structure],
        implementations=chosen,
    )
    return make_images(plan)


class Application:
    """Uses every operator of a program in its order. ``stalled``: nodes and the number of the step before which they stall."""

    def __init__(self, program: Program, stalled: Stalled | None, rounds: int | None = None) -> None:
        self.program, self.stalled, self.rounds = program, stalled, rounds

    async def main(self, node: Node) -> list[tuple[str, list[int]]]:
        received: list[tuple[str, list[int]]] = []
        steps = 0

        async def step() -> None:
            nonlocal steps
            if self.stalled is not None and node.number in self.stalled[0] and steps == self.stalled[1]:
                await node.compute(STALL)
            steps += 1

        async def use(operator: Operator, turn: tuple[int, ...], *, reads: bool = True, writes: bool = True) -> None:
            instance = next((i for i in operator.instances if node.number in i.nodes), None)
            if instance is None:
                return
            place, label = instance.nodes.index(node.number), operator.label
            asked = [name for name, value in instance.operands if isinstance(value, Runtime)]
            values = {name: self.value(operator, name, turn) for name in asked}
            operands = {**dict(instance.operands), **values}
            await step()
            await getattr(node.cop, f"{label}_load")(*values.values())
            await step()
            words = (
                np.arange(operator.m) + 1000 * (node.number + 10 * len(turn) + 100 * sum(turn)) + ord(label[0])
            ).astype(np.int32)
            if operator.kind in ("allreduce", "cshift"):
                got = await getattr(node.cop, f"{label}_func")(words)
                received.append((label, [int(word) for word in got]))
            elif operator.kind == "barrier":
                await getattr(node.cop, f"{label}_func")()
            elif place == operands["source"]:
                if writes:
                    await getattr(node.cop, f"{label}_write")(words)
            elif reads and (operator.kind == "broadcast" or place == operands["destination"]):
                got = await getattr(node.cop, f"{label}_read")()
                received.append((label, [int(word) for word in got]))

        async def walk(part: Group | Operator, turn: tuple[int, ...]) -> None:
            if isinstance(part, Operator):
                await use(part, turn)
                return
            beside = (
                [child for child in part.children if isinstance(child, Operator)] if part.kind == "parallel" else []
            )
            for child in beside:  # its words wait in routers while the phases beside it change
                await use(child, turn, reads=False)
            if part.kind == "loop":
                await getattr(node.cop, f"{part.label}_load")()
            rounds = part.count if self.rounds is None else self.rounds
            for k in range(rounds if part.kind == "loop" else 1):
                for child in part.children:
                    if child not in beside:
                        await walk(child, (*turn, k) if part.kind == "loop" else turn)
            for child in beside:
                await use(child, turn, writes=False)

        await walk(self.program.root, ())
        await step()
        return received

    @staticmethod
    def value(operator: Operator, name: str, turn: tuple[int, ...]) -> int:
        """Another one each time round."""
        count = len(operator.instances[0].nodes)
        return (sum(turn) * (1 if name == "source" else 3) + (0 if name == "source" else 1)) % count


def add(one: np.ndarray, other: np.ndarray, out: np.ndarray) -> None:
    out[:] = one + other


def goes_well(images: Images, program: Program, stalled: Stalled | None, rounds: int | None = None) -> bool:
    application = Application(program, stalled, rounds)
    expected = ReferenceMachine(program, "random", {"add": add}).run(Application(program, None, rounds).main).results
    with Machine(images.shape, images.topology, engine="model", progress=False) as machine:
        nodes = [
            numesh_node(images, number, machine, functions={"add": add}) for number in range(images.topology.nodes)
        ]
        try:
            record = run_nodes(nodes, application.main, machine, max_cycles=MOST_CYCLES)
        except PointsmanError:
            return False
        state = machine.state()
    return record.results == expected and not state["full"].any() and not state["held"].any()


def stalls(nodes: int) -> Iterator[Stalled | None]:
    """Nobody, then each node, and half of them, before each of its first steps."""
    yield None
    for at in range(2, 7):
        for some in (*((node,) for node in range(nodes)), range(nodes // 2, nodes)):
            yield frozenset(some), at


def goes_wrong(images: Images, program: Program, rounds: int | None = None) -> bool:
    return any(not goes_well(images, program, stalled, rounds) for stalled in stalls(images.topology.nodes))


def ids(fault: Any) -> str:
    return fault.name.replace(" ", "-")


@pytest.mark.parametrize("fault", FAULTS, ids=ids)
def test_fault_is_seen_by_the_judge_and_in_a_run(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_text(fault.text, topology=mesh(*fault.size))
    if fault.prepare is not None:
        fault.prepare(monkeypatch)
    right = compiled(fault)
    report = check_images(right)
    assert report.ok, report.render()
    assert not goes_wrong(right, program, fault.rounds)
    if fault.patch is not None:
        fault.patch(monkeypatch)
    wrong = compiled(fault) if fault.patch is not None else right
    wrong = fault.change(wrong) if fault.change is not None else wrong
    assert wrong != right
    assert fault.judged in check_images(wrong).rules, check_images(wrong).render()
    assert goes_wrong(wrong, program, fault.rounds) == (not fault.conservative)


def test_the_documentation_lists_these_faults() -> None:
    text = (Path(__file__).parents[3] / "docs" / "phase_rules.md").read_text()
    for fault in FAULTS:
        seen = "yes" if not fault.conservative else f"no: {fault.conservative}"
        assert f"| {fault.rule} | {fault.what} | *{fault.judged}* | {seen} |" in text
