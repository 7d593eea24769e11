"""Stream routing against its marks: bound, peers and our figure side by side.

Peers' figures and their source are in ``routing_peers.json``. Times are processor time of routing alone (kernels are
compiled before); bounds are timed apart. A section is a function that yields rows; ``--sections`` picks some.

    python benchmarks/routing.py [--sections all_to_all,random_sets] [--quick]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.api.judged import judge_route
from pointsman.artifacts.routes.file import RouteProblem, RouteStream, make_problem
from pointsman.network import Topology, mesh, torus
from pointsman.network.lattice import diamond
from pointsman.routing.ideal_router.router import prepare, route_ideal
from pointsman.routing.options import RouteOptions

PEERS = json.loads((Path(__file__).parent / "routing_peers.json").read_text())
KINDS: dict[str, Callable[..., Topology]] = {"torus": torus, "mesh": mesh}
Row = dict[str, Any]


def all_to_all(quick: bool) -> Iterator[Row]:
    """A word for every ordered pair of nodes, ideal model: the period."""
    for kind, make in KINDS.items():
        for index, side in enumerate(range(3, 7 if quick else 11)):
            nodes = side * side
            streams = [RouteStream(a, (b,)) for a in range(nodes) for b in range(nodes) if a != b]
            row = _route(make_problem(make(side, side), streams))
            row |= {"case": f"{kind} {side}x{side}", "peers": PEERS["all_to_all"][kind][index]}
            row["met"] = row["period"] <= row["bound"] + 1 and row["seconds"] <= 30
            yield row


def random_sets(quick: bool) -> Iterator[Row]:
    """Random pairs of nodes with 1 to 5 words each, ideal model: the period over the bound, and its mean."""
    ratios = []
    for kind, make in KINDS.items():
        for side in (3, 5) if quick else range(3, 9):
            for density in (0.1, 0.5, 0.9) if quick else (0.1, 0.3, 0.5, 0.7, 0.9):
                row = _route(random_set(make(side, side), density, seed=1))
                ratios.append(row["period"] / row["bound"])
                yield row | {"case": f"{kind} {side}x{side}, density {density}"}
    mean = float(np.mean(ratios))
    yield {"case": "mean over the bound", "period": mean, "peers": PEERS["random_sets"], "met": mean <= 1.03}


def random_set(topology: Topology, density: float, seed: int) -> RouteProblem:
    chance = np.random.default_rng([seed, topology.nodes, int(100 * density), len(topology.links)])
    streams = []
    for source in range(topology.nodes):
        for end in range(topology.nodes):
            if source != end and chance.random() < density:
                streams.append(RouteStream(source, (end,), words=int(chance.integers(1, 6))))
    return make_problem(topology, streams or [RouteStream(0, (1,))])


def permutations(quick: bool) -> Iterator[Row]:
    """Permutations on the NuMesh node: the smallest bandwidth over the bound at the period chosen (ours: words per 64 slots)."""
    yield from _permutation("bit reversal", mesh(4, 4), reversal(16), 0.95)
    yield from _permutation("bit reversal", mesh(8, 8), reversal(64), 0.90)
    yield from _permutation("transpose", mesh(8, 8), [x * 8 + y for y in range(8) for x in range(8)], 0.85)
    for seed in (1,) if quick else (1, 2, 3):
        yield from _permutation(f"random {seed}", mesh(4, 4), shuffled(16, seed), 0.90)
        yield from _permutation(f"random {seed}", mesh(8, 8), shuffled(64, seed), 0.85)
    yield from _permutation("bit reversal", mesh(4, 4, 4), reversal(64), 0.80)
    if quick:
        return
    yield from _permutation("bit reversal", mesh(16, 16), reversal(256), 0.80)
    yield from _permutation("random 1", mesh(16, 16), shuffled(256, 1), 0.78)
    yield from _permutation("bit reversal", mesh(8, 8, 8), reversal(512), None)
    yield from _permutation("random 1", diamond(7), shuffled(455, 1), None)


def operators(quick: bool) -> Iterator[Row]:
    """Streams of matrix multiplication on the node (Metcalf 1997, Table 8.2: broadcast .500 to .250, shift .500 to .333)."""
    for nodes in (2, 5, 10) if quick else (2, 3, 4, 5, 6, 10):
        row = [RouteStream(0, tuple(range(1, nodes)))]
        yield from _operator(f"row broadcast, {nodes} nodes", make_problem(mesh(nodes, 1), row))
        ring = [RouteStream(node, ((node + 1) % nodes,)) for node in range(nodes)]
        yield from _operator(f"column shift, {nodes} nodes", make_problem(mesh(nodes, 1), ring))


def growth(quick: bool) -> Iterator[Row]:
    """How routing time grows with the hops of all words of a random permutation (NuMesh node); the last row is the exponent."""
    from pointsman.routing.network_router.router import route_streams

    points = []
    for side in (4, 8) if quick else (4, 8, 16, 32):
        problem = permutation(mesh(side, side), shuffled(side * side, 1))
        began = time.process_time()
        result = route_streams(problem, RouteOptions(bounds=False))
        spent = time.process_time() - began
        judge_route(problem, result)
        hops = sum(sum(move[2] is not None for move in word[1:]) for s in result.streams for word in s.words[:1])
        points.append((hops, result.seconds))
        share = 64 * min(stream.bandwidth for stream in result.streams)
        yield {"case": f"{side}x{side}", "hops": hops, "ours": share, "seconds": round(min(spent, result.seconds), 2)}
    hops, seconds = np.log(np.array(points)).T
    exponent = float(np.polyfit(hops, seconds, 1)[0])
    yield {"case": "exponent", "ours": exponent, "met": exponent <= 1.2}


def reversal(nodes: int) -> list[int]:
    bits = nodes.bit_length() - 1
    return [int(format(node, f"0{bits}b")[::-1], 2) for node in range(nodes)]


def shuffled(nodes: int, seed: int) -> list[int]:
    return [int(end) for end in np.random.default_rng(seed).permutation(nodes)]


def permutation(topology: Topology, ends: list[int]) -> RouteProblem:
    return make_problem(topology, [RouteStream(node, (end,)) for node, end in enumerate(ends) if node != end])


def _permutation(name: str, topology: Topology, ends: list[int], mark: float | None) -> Iterator[Row]:
    from pointsman.routing.network_router.router import route_streams

    problem = permutation(topology, ends)
    result = route_streams(problem)
    judge_route(problem, result)
    assert result.bound is not None
    share = min(stream.bandwidth for stream in result.streams)
    row: Row = {
        "case": f"{name} {topology}",
        "bound": 64 * result.bound.value,
        "kind": result.bound.kind,
        "ours": 64 * share,
        "ratio": share / result.bound.value,
        "period": result.period,
        "seconds": round(result.seconds, 2),
        "bound_seconds": round(result.bound_seconds, 2),
    }
    if mark is not None:
        row |= {"mark": mark, "met": row["ratio"] >= mark}
    yield row


def _operator(name: str, problem: RouteProblem) -> Iterator[Row]:
    from pointsman.routing.network_router.router import route_streams

    result = route_streams(problem)
    judge_route(problem, result)
    assert result.bound is not None
    share = min(stream.bandwidth for stream in result.streams)
    yield {
        "case": name,
        "bound": result.bound.value,
        "ours": share,
        "period": result.period,
        "seconds": round(result.seconds, 2),
        "met": share >= 0.5,
    }


def _route(problem: RouteProblem) -> Row:
    began = time.process_time()
    result = route_ideal(problem)
    whole = time.process_time() - began
    judge_route(problem, result)
    assert result.bound is not None
    return {
        "streams": len(problem.streams),
        "bound": int(result.bound.value),
        "kind": result.bound.kind,
        "period": result.period,
        "seconds": round(max(0.0, min(result.seconds, whole)), 3),
        "bound_seconds": round(result.bound_seconds, 3),
    }


SECTIONS: list[Callable[[bool], Iterator[Row]]] = [operators, permutations, growth, random_sets, all_to_all]
"""In the order in which they are printed."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    names = [section.__name__ for section in SECTIONS]
    parser.add_argument("--sections", default=",".join(names), help=f"of {', '.join(names)}")
    parser.add_argument("--quick", action="store_true", help="a few small cases of each")
    options = parser.parse_args()
    wanted = options.sections.split(",")
    if unknown := set(wanted) - set(names):
        parser.error(f"no section is called {', '.join(sorted(unknown))}")
    prepare()
    report: dict[str, Any] = {
        "python": platform.python_version(),
        "versions": {name: metadata.version(name) for name in ("numba", "numpy", "highspy")},
        "quick": options.quick,
        "sections": {},
    }
    for section in SECTIONS:
        if section.__name__ not in wanted:
            continue
        print(f"{section.__doc__}", file=sys.stderr)
        rows = []
        for row in section(options.quick):
            rows.append(row)
            print("  " + _line(row), file=sys.stderr, flush=True)
        report["sections"][section.__name__] = {"what": section.__doc__, "rows": rows}
    print(json.dumps(report, indent=1))
    return 0


def _line(row: Row) -> str:
    cells = [f"{row['case']:28}"]
    for key in ("bound", "peers", "ours", "ratio", "mark", "period", "seconds"):
        if key in row:
            value = row[key]
            cells.append(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}")
    if "met" in row:
        cells.append("met" if row["met"] else "MISSED")
    return "  ".join(cells)


if __name__ == "__main__":
    sys.exit(main())
