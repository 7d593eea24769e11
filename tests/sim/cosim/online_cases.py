"""Programs whose operators are routed online, with what each node does in them; the reference machine says what is right.

A case is one operator of any kind with run-time values of any sort, in a loop. On the mesh nodes give only what they know of
distributed values; the reference machine is given the values themselves.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosim.engines.processors import close_programs
from cosim.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.cop.program import Operator, Program, Runtime
from pointsman.images.image import Images
from pointsman.network import Topology
from pointsman.operators.implementation import taking_part
from pointsman.plan.build import make_plan
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.streams.check import check_images
from pointsman.targets.numesh import make_images

TYPES = ("int32*", "float32*", "int64*", "float64*")
SHAPE = NodeShape(neighbours=6)


@dataclass(frozen=True)
class Case:
    """``values``: for each round and run-time operand its true value."""

    text: str
    topology: Topology
    values: tuple[tuple[Any, ...], ...]
    pauses: int = 0
    """Seed of random computation between calls; 0: none."""
    shape: NodeShape = SHAPE

    @property
    def program(self) -> Program:
        return compile_text(self.text, topology=self.topology)

    def images(self, **options: Any) -> Images:
        plan = make_plan(self.program, self.shape, name="case", **{"period": 24, **options})
        images = make_images(plan)
        report = check_images(images)
        assert report.ok, str(report)
        return images


def message(operator: Operator, node: int, round_: int, call: int) -> np.ndarray:
    """What a node writes: told apart by all three numbers, small enough to be added and multiplied exactly."""
    dtype = np.dtype(operator.type.name)
    items = operator.m // operator.type.words
    return ((np.arange(items) * 7 + node * 13 + round_ * 5 + call) % 101).astype(dtype)


def partial(operator: Operator, name: str) -> Runtime | None:
    value = dict(operator.instances[0].operands)[name]
    return value if isinstance(value, Runtime) and (value.distributed or value.dynamic) else None


def given(operator: Operator, values: tuple[Any, ...], position: int, known: bool) -> tuple[Any, ...]:
    """What a node gives to load; ``known``: the values themselves, as the reference machine wants them."""
    names = [name for name, value in operator.instances[0].operands if isinstance(value, Runtime)]
    if known:
        return values
    found = []
    for name, value in zip(names, values, strict=True):
        runtime = partial(operator, name)
        if runtime is None:
            found.append(value)
        elif name == "permutation":
            found.append(value[position])
        elif operator.kind == "stream":
            source = dict(zip(names, values, strict=True)).get("source", operator.instances[0].operand("source"))
            found.append(value if position == source else None)
        else:
            found.append(position == value)
    return tuple(found)


def main_of(case: Case, known: bool) -> Callable[[Node], Coroutine[Any, Any, list[Any]]]:
    """What every node does: load and call once a round; gives all that it read."""
    (operator,) = case.program.operators()
    mine = {node: i for i, one in enumerate(operator.instances) for node in one.nodes}

    async def main(node: Node) -> list[Any]:
        if node.number not in mine:
            return []
        nodes = operator.instances[mine[node.number]].nodes
        position = nodes.index(node.number)
        rng = random.Random(case.pauses * 1000 + node.number)
        got: list[Any] = []
        for round_, values in enumerate(case.values):
            await getattr(node.cop, f"{operator.label}_load")(*given(operator, values, position, known))
            await calls(node, operator, mine[node.number], position, values, round_, got)
            if case.pauses:
                await node.compute(rng.randrange(150))
        return got

    return main


async def calls(
    node: Node, operator: Operator, instance: int, position: int, values: tuple[Any, ...], round_: int, got: list[Any]
) -> None:
    """The I/O functions of a round, as often as the operator wants them."""
    cop, label = node.cop, operator.label
    names = [name for name, value in operator.instances[0].operands if isinstance(value, Runtime)]
    operands = dict(operator.instances[instance].operands)
    operands.update(zip(names, values, strict=True))
    members = taking_part(operator, instance)
    others = [k for k in members if k != operands.get("source", operands.get("destination"))]

    async def write(times: int = 1) -> None:
        for call in range(times):
            await getattr(cop, f"{label}_write")(message(operator, node.number, round_, call))

    async def read(times: int = 1) -> None:
        for _ in range(times):
            got.append(await getattr(cop, f"{label}_read")())

    match operator.kind:
        case "broadcast":
            await (write() if position == operands["source"] else read())
        case "stream":
            if position == operands["source"]:
                await write()
            if position == operands["destination"]:
                await read()
        case "collect":
            writer = members[round_ % len(members)]
            if position == writer:
                await write()
            if position == operands["destination"]:
                await read()
        case "spread":
            await (write(len(others)) if position == operands["source"] else read())
        case "gather":
            await (read(len(others)) if position == operands["destination"] else write())
        case "seqread":
            if position in operands["sources"]:
                await write()
            if position == operands["destination"]:
                await read(len(operands["sources"]))
        case "seqwrite":
            if position == operands["source"]:
                await write(len(operands["destinations"]))
            if position in operands["destinations"]:
                await read()
        case "barrier":
            await getattr(cop, f"{label}_func")()
        case _:
            got.append(await getattr(cop, f"{label}_func")(message(operator, node.number, round_, 0)))


def expected(case: Case) -> list[Any]:
    """What every node reads, by the reference machine."""
    dry = ReferenceMachine(case.program).run(main_of(case, True))
    assert not dry.unread
    return dry.results


def run_case(case: Case, images: Images | None = None, engine: Any = "model") -> Any:
    """Run a case on the mesh and compare. Gives the record."""
    images = images or case.images()
    with Machine(case.shape, case.topology, engine=engine) as machine:
        nodes = [numesh_node(images, number, machine, preloaded=False) for number in range(case.topology.nodes)]
        record = run_nodes(nodes, main_of(case, False), machine, max_cycles=2_000_000)
    right = expected(case)
    for number, (found, wanted) in enumerate(zip(record.results, right, strict=True)):
        assert len(found) == len(wanted)
        for k, (a, b) in enumerate(zip(found, wanted, strict=True)):
            same = (a is None) == (b is None) and (a is None or np.array_equal(a, b))
            assert same, f"{case.text}: node {number} read {a} in place of {b} (number {k})"
    return record


__all__ = ["Case", "close_programs", "expected", "run_case"]
