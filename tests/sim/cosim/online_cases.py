"""Programs whose operators are routed online, with what each node does in them; the reference machine says what is right.

A case has operators of any kind with run-time values of any sort, called once a round in the order of the text. On the mesh nodes
give only what they know of distributed values; the reference machine is given the values themselves.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.api.judged import judged
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import Topology, graph, mesh, torus
from pointsman.operators import IMPLEMENTATIONS
from pointsman.operators.api.operands import taking_part
from pointsman.operators.messages.online import ONLINE
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Operator, Program, Runtime
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images

RING = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3))
TYPES = ("int32*", "float32*", "int64*", "float64*")
SHAPE = NodeShape(neighbours=6)


@dataclass(frozen=True)
class Case:
    """``values``: for each round, operator and run-time operand its true value; of a single operator the level of operators
    may be left out."""

    text: str
    topology: Topology
    values: tuple[tuple[Any, ...], ...]
    several: bool = False
    parallel: bool = False
    """All operators are loaded before any is called."""
    pauses: int = 0
    """Seed of random computation between calls; 0: none."""
    shape: NodeShape = SHAPE
    only: bool = True
    """Do everything online; otherwise the compiler chooses."""

    @property
    def program(self) -> Program:
        return compile_text(self.text, topology=self.topology)

    def images(self, **options: Any) -> Images:
        options = {"period": 24, "implementations": ONLINE if self.only else IMPLEMENTATIONS, **options}
        plan = make_plan(self.program, self.shape, name="case", **options)
        images = make_images(plan)
        report = judged(images)
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
    operators = list(case.program.operators())
    instance_of = [{node: i for i, one in enumerate(op.instances) for node in one.nodes} for op in operators]

    async def main(node: Node) -> list[Any]:
        rng = random.Random(case.pauses * 1000 + node.number)
        got: list[Any] = []
        mine = [k for k in range(len(operators)) if node.number in instance_of[k]]

        def place(k: int) -> tuple[int, int]:
            instance = instance_of[k][node.number]
            return instance, operators[k].instances[instance].nodes.index(node.number)

        async def load(k: int, values: tuple[Any, ...]) -> None:
            told = given(operators[k], values, place(k)[1], known)
            await getattr(node.cop, f"{operators[k].label}_load")(*told)

        for round_, given_values in enumerate(case.values):
            values = given_values if case.several else (given_values,)
            if case.parallel:
                for k in mine:
                    await load(k, values[k])
            for k in mine:
                if not case.parallel:
                    await load(k, values[k])
                await calls(node, operators[k], *place(k), values[k], round_, got)
                if case.pauses:
                    await node.compute(rng.choice((0, 3, rng.randrange(200))))
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
            # One node may write at a time (docs/language/broadcast.md), so it is the same in all rounds.
            writer = members[sum(map(ord, label)) % len(members)]
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
    partly = ReferenceMachine(case.program).run(main_of(case, False))  # every node gives what it knows
    assert not partly.unread
    assert all(
        _same(a, b)
        for one, other in zip(dry.results, partly.results, strict=True)
        for a, b in zip(one, other, strict=True)
    )
    return dry.results


def _same(a: Any, b: Any) -> bool:
    return (a is None) == (b is None) and (a is None or np.array_equal(a, b))


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
            assert _same(a, b), f"{case.text}: node {number} read {a} in place of {b} (number {k})"
    return record


# -- random cases ------------------------------------------------------------------------------------------------

NETWORKS = (mesh(1, 1), mesh(1, 2), mesh(2, 2), mesh(3, 5), mesh(4, 4), mesh(2, 2, 2), torus(3, 4), graph(5, RING))
KINDS = (
    *("stream", "stream", "broadcast", "broadcast", "permute", "cshift", "eoshift", "collect", "reduce"),
    *("allreduce", "prefix", "barrier", "spread", "gather", "seqread", "seqwrite"),
)


def random_case(seed: int, networks: Sequence[Topology] = NETWORKS) -> Case:
    """A program of one to three operators with run-time values, most of them such that only online routing can do them."""
    rng = random.Random(seed)
    topology = rng.choice(networks)
    rounds = rng.randint(1, 4)
    parallel = rng.random() < 0.3
    parts, values = [], []
    count = rng.randint(1, 2 if parallel else 3)
    if not parallel and count > 1 and rounds > 1:
        sparse = False  # who only lets messages pass cannot know how often a loop comes back to a phase
    else:
        sparse = rng.random() < 0.5
    for k in range(count):
        text, own = _random_operator(rng, f"o{k}", topology, rounds, sparse)
        parts.append(text)
        values.append(own)
    group = "parallel" if parallel and len(parts) > 1 else "sequential"
    text = f"({group} {' '.join(parts)})"
    if rounds > 1:
        text = f"(loop 'l {rounds} {text})"
    by_round = tuple(tuple(own[r] for own in values) for r in range(rounds))
    only = rng.random() < 0.7
    return Case(text, topology, by_round, True, group == "parallel", pauses=rng.choice((0, seed + 1)), only=only)


def _random_operator(
    rng: random.Random, label: str, topology: Topology, rounds: int, sparse: bool
) -> tuple[str, list[tuple[Any, ...]]]:
    kind = rng.choice(KINDS)
    nodes = rng.sample(range(topology.nodes), rng.randint(1, topology.nodes)) if sparse else None
    size = len(nodes) if nodes is not None else topology.nodes
    if size == 1 and kind in ("spread", "gather", "seqread", "seqwrite"):
        kind = "broadcast"
    operands: list[str] = []
    choices: list[Callable[[], Any]] = []

    def node(*sorts: str) -> None:
        """A node, constant or given at run time."""
        sort = rng.choice(("constant", "plain", "values", *sorts)) if sorts != ("never",) else "constant"
        if sort == "constant":
            operands.append(str(rng.randrange(size)))
            return
        legal: list[int] = list(range(size))
        options = ""
        if sort == "values":
            legal = sorted(rng.sample(legal, rng.randint(1, size)))
            options = f" :values '({' '.join(map(str, legal))})"
        elif sort != "plain":
            options = f" :{sort} t"
        operands.append(f"(runtime{options})")
        choices.append(lambda: rng.choice(legal))

    match kind:
        case "stream":
            node()
            node("dynamic")
        case "broadcast":
            node("distributed", "dynamic")
        case "collect":
            node("distributed")
        case "reduce":
            operands.append(rng.choice(("'add", "'max")))
            node("distributed")
        case "allreduce" | "prefix":
            operands.append(rng.choice(("'add", "'max", "'min")))
        case "cshift" | "eoshift":
            least = 1 - size if kind == "cshift" else -size
            operands.append("(runtime)")
            choices.append(lambda: rng.randint(least, -least))
        case "permute":
            operands.append(rng.choice(("(runtime)", "(runtime :distributed t)")))
            choices.append(lambda: tuple(rng.sample(range(size), size)))
        case "spread" | "gather":
            node("never")
        case "seqread" | "seqwrite":
            end = rng.randrange(size)
            chain = rng.sample([k for k in range(size) if k != end], rng.randint(1, size - 1))
            ends = [f"'({' '.join(map(str, chain))})", str(end)]
            operands += ends if kind == "seqread" else reversed(ends)
    type_ = rng.choice(TYPES)
    m = rng.choice((1, 2, 3, 5)) * (2 if "64" in type_ else 1)
    text = f"({kind} '{label} {' '.join(operands)} :type '{type_} :m {m})"
    if kind == "barrier":
        text = f"(barrier '{label})"
    if nodes is not None:
        text = f"(subset '(({' '.join(map(str, nodes))})) {text})"
    return text, [tuple(choice() for choice in choices) for _ in range(rounds)]


__all__ = ["Case", "expected", "random_case", "run_case"]
