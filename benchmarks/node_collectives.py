"""Collectives on the scheduled node beside their bound: all-reduce, reduce-scatter and all-gather of 1, 64 and 4,096 words.

Prints one JSON object. Each case is `examples/collectives` planned, judged and run, its answer compared with NumPy's. ``cycles``:
of the slowest node from reset to its end, loading included. ``under_way``: from the first call of an I/O function to the end of
the last, which is the time that the bound bounds. ``predicted``: by the compiler before it ran. ``bound``: of the collective
itself, as `run` tells it (`pointsman.plan.cost.lower_bound`), whatever operators it is made of: an all-gather as broadcasts from
all nodes, a reduce-scatter as reductions to all. ``lockstep``: the RTL took as many cycles as the cycle model (null: not tried).

    nice python benchmarks/node_collectives.py [--words 1 64 4096] [--rtl 64] > benchmarks/results/node_collectives.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from cosim.numesh.machine import EngineName, Machine
from cosim.numesh.session import Run, run_application
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop.compile import compile_text
from pointsman.network import Topology, mesh
from pointsman.plan.cost.lower_bound import Cuts, LowerBound, demand, lower_bound, scheduled
from pointsman.plan.make_plan import make_plan
from pointsman.runtime.api.application import compile_application, load_application, parse_options
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

ROOT = Path(__file__).resolve().parent.parent
APPLICATION = ROOT / "examples/collectives/collectives.py"
KINDS = ("all-reduce", "reduce-scatter", "all-gather")


def own_bound(kind: str, words: int, topology: Topology) -> LowerBound:
    """The least cycles of the collective itself."""
    nodes = range(topology.nodes)
    text = {
        "all-reduce": f"(allreduce 'r 'add :m {words})",
        "reduce-scatter": " ".join(f"(reduce 'r{k} 'add {k} :m {words})" for k in nodes),
        "all-gather": " ".join(f"(broadcast 'b{k} {k} :m {words})" for k in nodes),
    }[kind]
    cuts = Cuts(topology)
    needs = [demand(operator, cuts) for operator in compile_text(text, topology=topology).operators()]
    return lower_bound([(need, 1.0) for need in needs if need is not None], cuts, scheduled(NodeShape()))


def ran(application: Any, images: Images, topology: Topology, engine: EngineName) -> Run:
    with Machine(NodeShape(), topology, engine=engine) as machine:
        done = run_application(images, application, machine)
    assert done.correct, done.answer
    return done


def case(kind: str, words: int, topology: Topology, rtl: bool) -> dict[str, Any]:
    made = load_application(APPLICATION)
    options = parse_options(made, APPLICATION, ("--kind", kind, "--words", str(words)))
    application = made(options, topology)
    program, _ = compile_application(application, APPLICATION, topology, parameters=dict(application.parameters()))
    began = time.process_time()
    plan = make_plan(program, NodeShape(), name=kind)
    planned = time.process_time() - began
    images = make_images(plan)
    report = check_images(images)
    assert report.ok, report.render()
    done = ran(application, images, topology, "model")
    moving = [call for call in done.calls if call.what != "load"]
    cycles = done.record.finished.max()
    lockstep = bool(cycles == ran(application, images, topology, "verilated").record.finished.max()) if rtl else None
    bound = own_bound(kind, words, topology)
    under_way = max(call.end for call in moving) - min(call.start for call in moving)
    return {
        "kind": kind,
        "mesh": "x".join(map(str, topology.size)),
        "words": words,
        "cycles": int(cycles),
        "under_way": int(under_way),
        "predicted": round(plan.cycles),
        "bound": bound.cycles,
        "bound_kind": bound.kind,
        "bound_text": bound.text,
        "over_bound": round(under_way / bound.cycles, 3),
        "lockstep": lockstep,
        "plan_seconds": round(planned, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--sizes", nargs="+", default=["4x4", "8x8"])
    parser.add_argument("--words", nargs="+", type=int, default=[1, 64, 4096])
    parser.add_argument("--rtl", nargs="*", type=int, default=[], help="words of which the RTL runs, too")
    options = parser.parse_args()
    found = []
    for size in options.sizes:
        topology = mesh(*map(int, size.split("x")))
        for kind in options.kinds:
            for words in options.words:
                found.append(case(kind, words, topology, words in options.rtl))
                print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    print(json.dumps({"cases": found}, indent=1))


if __name__ == "__main__":
    main()
