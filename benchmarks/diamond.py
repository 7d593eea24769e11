"""Random traffic on the diamond lattice of 455 nodes: scheduled routes against a dynamic router (Metcalf 1997, Figure 1-4).

The dynamic router is ``evaluation/lattice.py``: messages of four words and a header. Scheduled are streams of a random sample of
the traffic, a word each in a period; the judge proves the routes. As in the thesis, what they carry follows from their bandwidth:
a node may offer up to (streams of a node) / period words a cycle, and a message waits for the messages before it in its stream
(Poisson arrivals, constant service).

    python benchmarks/diamond.py [--quick] [--into results.json]
    python benchmarks/diamond.py --plots docs/pictures        # from results/diamond.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from evaluation.lattice import Router, lattice, simulate

from pointsman.files import write_whole

RESULTS = Path(__file__).parent / "results"
SIZE = 7
WORDS = 4
"""Of a message, without header."""
RATES = (0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.04, 0.05, 0.06, 0.07, 0.08)
ROUTERS = (Router(1, 8), Router(4, 8))
SAMPLES = ((4, False), (16, False), (16, True))
"""Streams from each node (random permutations), and whether words may wait in nodes on their way."""
Row = dict[str, Any]


def dynamic(router: Router, quick: bool) -> Row:
    """Accepted messages and latencies, by offered rate."""
    net = lattice(SIZE)
    began = time.process_time()
    rows = []
    for rate in RATES[1::4] if quick else RATES:
        flow = simulate(net, rate, router)
        rows.append({"offered": rate, "accepted": round(flow.accepted, 5), "latency": round(flow.latency, 1)})
    busiest = float(net.loads().max())
    return {
        "channels": router.channels,
        "buffer": router.buffer,
        "most": max(row["accepted"] for row in rows),
        "limit of the busiest link": round(1 / (WORDS + 1) / busiest, 4),
        "rows": rows,
        "seconds": round(time.process_time() - began, 1),
    }


def scheduled(sample: tuple[int, bool]) -> Row:
    """The messages a node and cycle that routes of a sample carry."""
    from pointsman.api.judged import judge_route
    from pointsman.artifacts.routes.file import RouteStream, make_problem
    from pointsman.network.lattice import diamond
    from pointsman.routing.ideal_router.router import route_ideal

    permutations, buffers = sample
    topology = diamond(SIZE)
    chance = np.random.default_rng(1)
    streams = [
        RouteStream(node, (int(end),))
        for _ in range(permutations)
        for node, end in enumerate(chance.permutation(topology.nodes))
        if node != end
    ]
    began = time.process_time()
    problem = make_problem(topology, streams, buffers=buffers)
    result = route_ideal(problem)
    judge_route(problem, result)
    assert result.bound is not None
    hops = float(np.mean([sum(move[2] is not None for move in words) for one in result.streams for words in one.words]))
    each = len(streams) / topology.nodes
    return {
        "streams of a node": round(each, 2),
        "words wait": buffers,
        "period": result.period,
        "bound": result.bound.value,
        "hops": round(hops, 2),
        "most": round(each / result.period / WORDS, 5),
        "no schedule carries more than": round(each / result.bound.value / WORDS, 5),
        "seconds": round(time.process_time() - began, 1),
    }


def latency(row: Row, rate: float) -> float | None:
    """Cycles from a message's making to its last word; None beyond what the routes carry."""
    busy = rate / row["most"]
    service = WORDS * row["period"]
    return None if busy >= 1 else row["hops"] + service + service * busy / (2 * (1 - busy))


def draw(results: Row, folder: Path) -> Path:
    """Accepted against offered messages, and latency."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pyplot.rcParams["svg.hashsalt"] = "pointsman"
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.8))
    for row, style in zip(results["dynamic"], ("o-", "s-"), strict=True):
        label = f"dynamic, {4 * row['channels']} virtual channels"
        offered = [one["offered"] for one in row["rows"]]
        left.plot(offered, [one["accepted"] for one in row["rows"]], style, label=label, markersize=4)
        right.plot(offered, [one["latency"] for one in row["rows"]], style, label=label, markersize=4)
    best = max(results["scheduled"], key=lambda row: row["most"])
    fine = np.linspace(0.001, RATES[-1], 120)
    left.plot(
        fine, np.minimum(fine, best["most"]), "--", label=f"scheduled, {best['streams of a node']:.0f} streams a node"
    )
    kept = [(rate, found) for rate in fine if (found := latency(best, float(rate))) is not None]
    right.plot(*zip(*kept, strict=True), "--", label="scheduled")
    limit = results["dynamic"][0]["limit of the busiest link"]
    left.axhline(limit, color="grey", linewidth=0.8, linestyle=":", label="busiest link of dimension order")
    left.set_ylabel("accepted, messages a node and cycle")
    right.set_ylabel("latency, cycles")
    right.set_yscale("log")
    for axis in (left, right):
        axis.set_xlabel("offered, messages a node and cycle")
        axis.grid(alpha=0.3)
    left.legend(fontsize=8)
    figure.tight_layout()
    path = folder / "diamond.svg"
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few rates, the smallest sample")
    parser.add_argument("--into", type=Path, help="file: add to the results there, in place of printing them")
    parser.add_argument("--plots", type=Path, help="folder: redraw the picture from the results that are there")
    options = parser.parse_args()
    if options.plots is not None:
        print(draw(json.loads((RESULTS / "diamond.json").read_text()), options.plots))
        return 0
    answer: Row = {"benchmark": "diamond", "nodes": lattice(SIZE).nodes, "dynamic": [], "scheduled": []}
    if options.into is not None and options.into.exists():
        answer = json.loads(options.into.read_text())
    for name, steps, make in (
        ("dynamic", ROUTERS, lambda router: dynamic(router, options.quick)),
        ("scheduled", SAMPLES[:1] if options.quick else SAMPLES, scheduled),
    ):
        for step in steps[len(answer[name]) :]:
            answer[name].append(make(step))
            print(json.dumps(answer[name][-1]), file=sys.stderr, flush=True)
            if options.into is not None:
                write_whole(options.into, json.dumps(answer, indent=1) + "\n")
    if options.into is None:
        print(json.dumps(answer, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
