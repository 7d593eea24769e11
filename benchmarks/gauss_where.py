"""Where the input and output cycles of Gaussian elimination are: waiting that no network can avoid, barriers, transfers.

For each operator, mean cycles of a node a round: `leave` the psync cycles before it (of which `least` are those of the node
that waits least; all others wait for somebody), `call` its I/O functions, and `longest` the longest of a node in a round.
`ideal` is the waiting that is left on a network that takes no time: for those who have not computed yet.

    python benchmarks/gauss_where.py 3 [--size 60] [--division r0+b1,s2+b3,s4,b5] [--schedlen 16]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from argparse import Namespace
from collections import defaultdict
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import numpy as np

from cosim.numesh.machine import Machine
from cosim.numesh.session import run_application
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import breaks, fold
from pointsman.plan.structure.structure import Structure, divided
from pointsman.program.program import Program
from pointsman.runtime import Category
from pointsman.runtime.api.application import compile_application
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

ROOT = Path(__file__).parent.parent
APPLICATION = ROOT / "examples/gauss/gauss.py"
sys.path.insert(0, str(APPLICATION.parent))

from gauss import ELEMENT, STEP, Gauss  # type: ignore[import-not-found]  # noqa: E402

IO = [int(Category.WRITE), int(Category.READ), int(Category.PSYNC)]


def structure_of(program: Program, division: str) -> Structure:
    """The division with these phases, such as ``r0+b1,s2,b3,s4,b5``."""
    wanted = [phase.split("+") for phase in division.split(",")]
    root = disjoint_tree(program)
    places = list(breaks(root))
    for cut in chain.from_iterable(combinations(places, n) for n in range(len(places) + 1)):
        found = divided(program, root, fold(root, lambda part, i, cut=cut: (part, i) in cut))
        if [[operator.label for operator in phase.operators] for phase in found.phases] == wanted:
            return found
    raise SystemExit(f"no division {division}")


def ideal(app: Gauss) -> dict[str, float]:
    """Mean cycles that a node waits on a network that takes no time, by operator: a recurrence of maxima over who waits for
    whom, with what a node computes in between."""
    n, across = app.n, app.across
    clock = np.zeros((across, across))  # [y, x]
    waits: dict[str, float] = defaultdict(float)
    a = np.column_stack([app.a, app.b])

    def meet(label: str, later: np.ndarray) -> None:
        waits[label] += float((later - clock).mean())
        clock[:] = later

    y, x = np.mgrid[:across, :across]
    for i in range(n):
        p = i + int(np.argmax(np.abs(a[i:, i])))
        meet("r0", np.broadcast_to(clock.max(axis=0), clock.shape).copy())
        meet("b1", np.maximum(clock, clock[:, [i % across]]))
        if p != i:
            later = clock.copy()
            later[p % across] = np.maximum(clock[p % across], clock[i % across])
            meet("s2", later)
            a[[i, p]] = a[[p, i]]
        meet("b3", np.maximum(clock, clock[[p % across]]))
        a[i + 1 :, i:] -= np.outer(a[i + 1 :, i] / a[i, i], a[i, i:])
        rows = (n - 1 - y) // across + 1 - ((i - y) // across + 1)
        columns = (n - 1 - x) // across + 1 - ((i - x) // across + 1) + (x == 0)
        clock += np.round(ELEMENT * rows * columns + STEP)
    for i in reversed(range(n)):
        later = clock.copy()
        later[:, 0] = np.maximum(clock[:, 0], clock[:, i % across])
        meet("s4", later)
        later = clock.copy()
        later[:, 0] = np.maximum(clock[:, 0], clock[i % across, 0])
        meet("b5", later)
        clock[:, 0] += np.round(ELEMENT * ((i - y[:, 0] - 1) // across + 1))
    return dict(waits)


def measure(plan: Plan, images: Images, app: Gauss, engine: Any) -> dict[str, Any]:
    shape, topology = plan.shape, plan.program.topology
    with Machine(shape, topology, engine=engine) as machine:
        run = run_application(images, app, machine)
    if not run.correct:
        raise SystemExit(run.answer)
    nodes = topology.nodes
    psync = int(Category.PSYNC)
    leave: dict[str, np.ndarray] = {}
    calls: dict[str, np.ndarray] = {}
    rounds: dict[tuple[int, str], int] = {}
    before: dict[int, str | None] = {}
    for span in sorted(run.spans, key=lambda span: (span.node, span.start)):
        label = span.operator
        if label is None:
            before[span.node] = None
            continue
        if label not in leave:
            leave[label], calls[label] = np.zeros((app.n + 1, nodes)), np.zeros((app.n + 1, nodes))
        key = span.node, label
        loads = span.activity.endswith("_load")
        if loads or before.get(span.node) != label:  # spans that take no time are not there
            rounds[key] = min(rounds.get(key, -1) + 1, app.n)
        before[span.node] = label
        if loads:
            leave[label][rounds[key], span.node] += span.cycles[psync]
        else:
            calls[label][rounds[key], span.node] += sum(span.cycles[c] for c in IO)
    waits = ideal(app)
    found: dict[str, Any] = {}
    for label in leave:
        count = max(rounds.get((node, label), -1) for node in range(nodes)) + 1
        found[label] = {
            "rounds": count,
            "leave": leave[label].sum() / nodes,
            "least": float(leave[label][:count].min(axis=1).sum()),
            "call": calls[label].sum() / nodes,
            "longest": float(calls[label].max(axis=1).sum()),
            "ideal": waits.get(label, 0.0),
        }
    cycles = run.record.cycles.mean(axis=0)
    total = {category.name.lower(): float(cycles[category]) for category in Category}
    return {"operators": found, "categories": total, "io": float(cycles[IO].sum()), "cycles": run.record.total_cycles}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("across", type=int)
    parser.add_argument("--size", type=int, default=60)
    parser.add_argument("--engine", default="verilated")
    parser.add_argument("--division")
    parser.add_argument("--schedlen", type=int)
    parser.add_argument("--program", type=Path, help="another text of the program")
    parser.add_argument("--effort", type=float, default=1.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    topology = mesh(options.across, options.across)
    app = Gauss(Namespace(size=options.size, values=1), topology)
    if options.program is not None:
        Gauss.program = str(options.program.absolute())
    program, name = compile_application(app, APPLICATION, topology, parameters={"n": options.size})
    structures = None if options.division is None else [structure_of(program, options.division)]
    began = time.process_time()
    plan = make_plan(
        program, NodeShape(), name=name, period=options.schedlen, effort=options.effort, structures=structures
    )
    took = time.process_time() - began
    images = make_images(plan)
    for finding in check_images(images).findings:
        print("judge:", finding)
    for phase in plan.phases:
        words = {one.operator.label: [phase.routed.words(s) for s in one.streams][:3] for one in phase.operators}
        ways = ", ".join(f"{one.operator.label} {one.implementation.name}" for one in phase.operators)
        print(
            f"{phase.name:12} {phase.technique:9} {phase.cycles:9.0f} predicted; settle {phase.settle}; {ways}; {words}"
        )
        print(f"             {phase.reason}")
    answer = measure(plan, images, app, options.engine)
    per_round = options.size
    print(f"{options.across}x{options.across}, {options.size} equations, {plan.period} slots; planned in {took:.1f} s")
    print("operator    leave  least   call longest  ideal   (cycles of a node, mean, by round)")
    for label, one in answer["operators"].items():
        values = " ".join(f"{one[key] / per_round:7.0f}" for key in ("leave", "least", "call", "longest", "ideal"))
        print(f"{label:8} {values}")
    c = answer["categories"]
    print({k: round(v) for k, v in c.items()}, "I/O", round(answer["io"]), "ideal", round(sum(ideal(app).values())))
    if options.json:
        options.json.write_text(json.dumps(answer, indent=1))


if __name__ == "__main__":
    main()
