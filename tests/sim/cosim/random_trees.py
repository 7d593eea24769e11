"""Random COP programs of nested groups over all kinds of subsets, of few kinds of operators; `walker.Walker` runs them.

`everything` has all operators on all networks. The programs here are those in which phases change often: see `soak_programs`.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from pointsman.cop import compile_text
from pointsman.network import Topology

sys.path.insert(0, str(Path(__file__).parent))

from walker import Walker

KINDS = ("broadcast", "broadcast", "stream", "cshift", "eoshift", "barrier")
MOST_ROUNDS = 3


def random_text(
    seed: int,
    topology: Topology,
    *,
    depth: int = 2,
    operators: int = 5,
    rounds: int = MOST_ROUNDS,
    threads: float = 0.0,
    continuing: float = 0.0,
    online: float = 0.0,
) -> str:
    """A program; the same for the same arguments. Loops are run at most ``rounds`` times.

    Parameters
    ----------
    threads : float
        Share of the groups that are sequences side by side on parts of the mesh.
    continuing : float
        Share of the groups that are operators beside a sequence.
    online : float
        Share of these in which one of the operators is done by messages.
    """
    rng = random.Random(seed)
    labels = iter(f"o{i}" for i in range(1000))
    left = operators
    everything = list(range(topology.nodes))
    region = everything
    together = False
    calm = False
    """No load function rewrites the router, as beside messages it cannot."""

    def subset() -> list[list[int]]:
        nodes = list(region)
        if together and rng.random() < 0.85:
            return [nodes]
        # Beside others, operators on a few nodes mostly leave a program that has to be in one phase.
        common = ["all"] * 6 if threads + continuing > 0 else []
        how = rng.choice([*common, "all", "rows", "columns", "some", "parts", "pairs"])
        if how in ("rows", "columns"):
            axis = how == "columns"
            lines: dict[int, list[int]] = {}
            for node in nodes:
                lines.setdefault(topology.coordinates(node)[0 if axis else 1], []).append(node)
            return list(lines.values())
        if how == "all":
            return [nodes]
        rng.shuffle(nodes)
        if how == "some":
            return [nodes[: rng.randint(1, len(nodes))]]
        length = min(2, len(nodes)) if how == "pairs" else max(1, len(nodes) // rng.randint(1, 3))
        parts = [nodes[i : i + length] for i in range(0, len(nodes) - length + 1, length)]
        return parts[: rng.randint(1, len(parts))]

    def messages() -> str:
        """An operator done by messages, of all nodes."""
        nonlocal left
        left -= 1
        kind, operands, ways = rng.choice(
            [
                ("broadcast", "(runtime)", ["dyn_bcast"]),
                ("broadcast", str(rng.randrange(len(region))), ["dyn_bcast_tree"]),
                ("stream", "(runtime) (runtime)", ["dyn_stream"]),
                ("cshift", str(rng.randrange(len(region))), ["dyn_shift"]),
            ]
        )
        nodes = " ".join(map(str, region))
        how = f"{operands} :m {rng.choice([1, 5, 30])} :impl '{rng.choice(ways)}"
        return f"(subset '(({nodes})) ({kind} '{next(labels)} {how}))"

    def operator(*, settled: bool = False) -> str:
        nonlocal left
        left -= 1
        parts = [list(region)] if settled and rng.random() < 0.9 else subset()
        count = len(parts[0])
        kind = rng.choice(KINDS)
        words = rng.choice([1, 2, 3, 7, 20])
        operands = {
            "broadcast": lambda: rng.choice(
                [str(rng.randrange(count)) if settled or calm else "(runtime)", str(rng.randrange(count))]
            ),
            "stream": lambda: f"{rng.randrange(count)} {rng.randrange(count)}",
            "cshift": lambda: str(rng.randint(1 - count, count - 1)),
            "eoshift": lambda: str(rng.randint(1 - count, count - 1)),
            "barrier": lambda: "",
        }[kind]()
        length = "" if kind == "barrier" else f":m {words}"
        lists = " ".join(f"({' '.join(map(str, part))})" for part in parts)
        return f"(subset '({lists}) ({kind} '{next(labels)} {operands} {length}))"

    def halves(nodes: list[int]) -> list[list[int]]:
        """Two boxes that a box of nodes falls into."""
        axis = rng.randrange(2)
        places = sorted({topology.coordinates(node)[axis] for node in nodes})
        if len(places) < 2:
            axis = 1 - axis
            places = sorted({topology.coordinates(node)[axis] for node in nodes})
        if len(places) < 2:
            return [nodes]
        cut = rng.choice(places[1:])
        return [[n for n in nodes if (topology.coordinates(n)[axis] < cut) == low] for low in (True, False)]

    def sequence(depth: int, most: int) -> str:
        head = rng.choice(["sequential", f"loop '{next(labels)}_loop {rng.randint(1, MOST_ROUNDS)}", "sequential"])
        return f"({head} {' '.join(part(depth - 1) for _ in range(rng.randint(2, most)))})"

    def apart(depth: int) -> str:
        nonlocal region
        before, children = region, []
        for half in halves(before):
            region = half
            children.append(sequence(depth, 4))
        region = before
        return f"(parallel {' '.join(children)})"

    def beside(depth: int) -> str:
        nonlocal together, calm
        operators = [operator(settled=True) for _ in range(rng.choice([1, 1, 2]))]
        passing = len(region) > 1 and rng.random() < online
        if passing:
            operators[0] = messages()
        before, together = together, True
        was, calm = calm, calm or passing
        inner = apart(depth) if len(region) > 2 and not passing and rng.random() < threads else sequence(depth, 3)
        together, calm = before, was
        return f"(parallel {' '.join(operators)} {inner})"

    def part(depth: int) -> str:
        if depth and threads + continuing > 0:
            how = rng.random()
            if how < threads and len(region) > 2:
                return apart(depth)
            if how < threads + continuing:
                return beside(depth)
        if depth == 0 or left <= 1 or rng.random() < 0.3:
            return operator()
        kind = rng.choice(["sequential", "loop", "loop", "optional", "parallel"])
        if kind == "parallel":
            return f"(parallel {operator()} {operator()})"
        head = f"loop '{next(labels)}_loop {rng.randint(1, rounds)}" if kind == "loop" else kind
        return f"({head} {' '.join(part(depth - 1) for _ in range(rng.randint(1, 3)))})"

    return "\n".join(part(depth) for _ in range(rng.randint(1, 2) if continuing else rng.randint(2, 3)))


def walker_of(text: str, topology: Topology, seed: int, *, slowest: int = 0) -> Walker:
    """Who walks through a program."""
    return Walker(compile_text(text, topology=topology), seed, slowest=slowest)
