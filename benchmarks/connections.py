"""Connection scheduling against its marks: lower bounds, Yuan's figures (``connections_yuan.json``) and ours.

Every answer goes through the judge. Times are processor time of scheduling alone (kernels are compiled before). A section is a
function that yields rows; ``--sections`` picks some.

    python benchmarks/connections.py [--sections random_sets,patterns] [--quick]
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.connections import Configurations, Connection, ConnectionProblem, DemandProblem, Network
from pointsman.connections import configure as configure_connections
from pointsman.connections.algorithms.all_to_all import all_to_all_bound
from pointsman.connections.algorithms.decompose import DECOMPOSITIONS, decompose
from pointsman.connections.algorithms.hypercube import assign_hypercube, hypercube_bound
from pointsman.connections.patterns import (
    all_to_all_pattern,
    hypercube_pattern,
    neighbour_pattern,
    random_distribution,
    random_pattern,
    redistribution,
    ring_pattern,
    shuffle_exchange_pattern,
)
from pointsman.verify.configurations import check_configurations, check_timetable

YUAN = json.loads((Path(__file__).parent / "connections_yuan.json").read_text())
TORUS = Network("torus", (8, 8))
NAMES = ("greedy", "colouring", "aapc", "combined")
SETS = 100
"""Random sets a row, as in the thesis; ``--sets`` takes fewer."""
Row = dict[str, Any]


def random_sets(quick: bool) -> Iterator[Row]:
    """Random connections, 8×8 torus, xy: mean degree of ``--sets`` sets (Yuan 1998, Table 5.4). Mark: within 3 % of the bound."""
    for row in YUAN["table_5_4"]:
        found: dict[str, list[float]] = {}
        for seed in range(5 if quick else SETS):
            problem = ConnectionProblem(TORUS, tuple(random_pattern(64, row["connections"], seed)))
            _measure(problem, found)
        yield _compared(
            f"{row['connections']} connections", row, found, lambda mean: mean["best"] <= 1.03 * mean["bound"]
        )


def redistributions(quick: bool) -> Iterator[Row]:
    """Five random redistributions of a 64×64×64 array over 64 processors for each of ``--sets``, 8×8 torus, xy, effort 0.2
    (Yuan 1998, Table 5.5).

    Which distributions he drew is not told, so rows of the same number of connections hold other sets than his.
    """
    random = np.random.default_rng(5)
    groups: list[dict[str, list[float]]] = [{} for _ in YUAN["table_5_5"]]
    for _ in range(40 if quick else 5 * SETS):
        before, after = (random_distribution(64, 64, random) for _ in range(2))
        pairs = redistribution(64, before, after)
        group = next(index for index, row in enumerate(YUAN["table_5_5"]) if len(pairs) <= row["most"])
        _measure(ConnectionProblem(TORUS, tuple(pairs)), groups[group], effort=0.2)
    for row, found in zip(YUAN["table_5_5"], groups, strict=True):
        if found:
            case = f"{row['least']} to {row['most']} connections"
            ours = {"sets": len(found["best"]), "yuan_sets": row["patterns"]}
            yield _compared(case, row, found, lambda mean: mean["best"] <= mean["combined"]) | ours


def patterns(quick: bool) -> Iterator[Row]:
    """Frequent patterns, 8×8 torus, xy (Yuan 1998, Table 5.6). Mark: 2, 4, 7, 4, 64 or below."""
    sets = {
        "ring": ring_pattern(64),
        "nearest neighbor": neighbour_pattern(TORUS.topology),
        "hypercube": hypercube_pattern(64),
        "shuffle-exchange": shuffle_exchange_pattern(64),
        "all-to-all": all_to_all_pattern(64),
    }
    for row in YUAN["table_5_6"]:
        found: dict[str, list[float]] = {}
        pairs = sets[row["pattern"]]
        assert len(pairs) == row["connections"]
        _measure(ConnectionProblem(TORUS, tuple(pairs)), found)
        yield _compared(row["pattern"], row, found, lambda mean, most=row["combined"]: mean["best"] <= most)


def crossbars(quick: bool) -> Iterator[Row]:
    """Random connections of a crossbar. Mark: the largest number of connections of a port, always."""
    random = np.random.default_rng(3)
    sets, missed, began = 0, 0, time.process_time()
    for ports in (1, 2, 3, 8, 16, 64) if quick else (1, 2, 3, 5, 8, 13, 16, 32, 64, 128):
        for density in (0.02, 0.1, 0.3, 0.5, 0.9, 1.0):
            matrix = random.random((ports, ports)) < density
            pairs = tuple(zip(*(axis.tolist() for axis in np.nonzero(matrix)), strict=True))
            answer = _judged(ConnectionProblem(Network("crossbar", (ports,)), pairs), "best")
            sets += 1
            missed += int(answer.degree != max(matrix.sum(0).max(), matrix.sum(1).max()))
    seconds = time.process_time() - began
    yield {"case": f"{sets} sets", "above_bound": missed, "seconds": round(seconds, 2), "met": missed == 0}


def free_routing(quick: bool) -> Iterator[Row]:
    """Random connections with ways to be chosen: mean degree beside that of xy, and the bound of ports and cuts."""
    for kind in ("torus", "mesh"):
        network = Network(kind, (8, 8))
        for count in (100, 800, 2400):
            fixed, free, bounds, seconds = [], [], [], []
            for seed in range(1 if quick else 5):
                pairs = tuple(random_pattern(64, count, seed))
                fixed.append(_judged(ConnectionProblem(network, pairs), "best").degree)
                answer = _judged(ConnectionProblem(network, pairs, "free"), "best")
                free.append(answer.degree)
                bounds.append(answer.bound)
                seconds.append(answer.seconds)
            yield {
                "case": f"{kind} 8x8, {count} connections",
                "best": float(np.mean(free)),
                "xy": float(np.mean(fixed)),
                "bound": float(np.mean(bounds)),
                "seconds": round(float(np.max(seconds)), 2),
                "met": sum(free) <= sum(fixed),
            }


def all_to_all(quick: bool) -> Iterator[Row]:
    """All-to-all, xy: rings (N²/8 for multiples of four), tori (N³/8 for 8×8) and meshes."""
    sizes: list[tuple[Any, tuple[int, ...]]] = [("torus", (n,)) for n in (4, 5, 7, 8, 9, 12, 16)]
    sizes += [(kind, (n, n)) for kind in ("torus", "mesh") for n in (range(3, 5) if quick else range(3, 11))]
    for kind, size in sizes:
        network = Network(kind, size)
        answer = _judged(ConnectionProblem(network, tuple(all_to_all_pattern(network.nodes))), "best")
        least = max(answer.bound, int(all_to_all_bound(network).value))
        yield {
            "case": f"{kind} {network}",
            "best": answer.degree,
            "bound": least,
            "seconds": round(answer.seconds, 2),
            "met": answer.degree <= 1.1 * least and answer.seconds < 60,
        }


def hypercubes(quick: bool) -> Iterator[Row]:
    """The hypercube on arrays, rings, meshes and tori (Yuan 1998, §4.1.1). Mark: the figures of the theorems or below."""
    for kind in ("mesh", "torus"):
        for size in ((8,), (64,), (8, 8), (16, 8), (32, 32)):
            network = Network(kind, size)
            longest = max(size)
            theorem = (2 * longest // 3 if kind == "mesh" else 7 * longest // 12) + 2 * (len(size) > 1)
            degree = len(assign_hypercube(network))
            bound = int(hypercube_bound(network).value)
            name = {"mesh": "array", "torus": "ring"}[kind] if len(size) == 1 else kind
            yield {
                "case": f"{name} {network}",
                "best": degree,
                "theorem": theorem,
                "bound": bound,
                "met": degree <= theorem,
            }


def demands(quick: bool) -> Iterator[Row]:
    """Random demands of a crossbar (1 to 100): time over the bound, for each decomposition."""
    for ports in (8, 16) if quick else (8, 16, 32, 64):
        for delta in (0, 1, 10, 100):
            random = np.random.default_rng([ports, delta])
            matrix = random.integers(1, 101, (ports, ports)) * (random.random((ports, ports)) < 0.5)
            problem = DemandProblem(tuple(tuple(map(Fraction, row)) for row in matrix.tolist()), Fraction(delta))
            row: Row = {"case": f"{ports} ports, set-up {delta}"}
            for name in DECOMPOSITIONS:
                answer = decompose(problem, algorithm=name)
                assert not check_timetable(answer)
                row[name] = round(float(answer.total / answer.bound), 4)
            yield row | {"bound": 1, "seconds": round(answer.seconds, 2), "met": delta > 0 or row["best"] == 1}


def scale(quick: bool) -> Iterator[Row]:
    """Time for the whole all-to-all of 64 nodes (4,032 connections). Mark: a few seconds (five)."""
    for network in (TORUS, Network("mesh", (8, 8)), Network("crossbar", (64,))):
        for routing in ("xy", "free"):
            if network.kind == "crossbar" and routing == "free":
                continue
            problem = ConnectionProblem(network, tuple(all_to_all_pattern(64)), routing)  # type: ignore[arg-type]
            answer = _judged(problem, "best")
            yield {
                "case": f"{network.kind}, {routing}",
                "best": answer.degree,
                "bound": answer.bound,
                "seconds": round(answer.seconds, 2),
                "met": answer.seconds <= 5,
            }


def _measure(problem: ConnectionProblem, found: dict[str, list[float]], effort: float = 1.0) -> None:
    for name in (*NAMES, "best"):
        answer = _judged(problem, name, effort)
        found.setdefault(name, []).append(answer.degree)
    found.setdefault("bound", []).append(answer.bound)
    found.setdefault("seconds", []).append(answer.seconds)


def _compared(case: str, yuan: Row, found: dict[str, list[float]], met: Callable[[dict[str, float]], bool]) -> Row:
    mean = {name: float(np.mean(values)) for name, values in found.items()}
    row: Row = {"case": case} | {name: round(mean[name], 2) for name in (*NAMES, "best", "bound")}
    row |= {f"yuan_{name}": yuan[name] for name in NAMES}
    return row | {"seconds": round(max(found["seconds"]), 2), "met": bool(met(mean))}


def _judged(problem: ConnectionProblem, algorithm: str, effort: float = 1.0) -> Configurations:
    answer = configure_connections(problem, algorithm=algorithm, effort=effort)
    findings = check_configurations(answer)
    if findings:
        raise SystemExit(f"{algorithm} on {problem.network.kind} {problem.network}: {findings[0]}")
    return answer


def _warm() -> None:
    pairs: tuple[Connection, ...] = tuple(random_pattern(9, 40, 0))
    for name in (*NAMES, "best"):
        _judged(ConnectionProblem(Network("torus", (3, 3)), pairs, "free"), name)
    _judged(ConnectionProblem(Network("crossbar", (9,)), pairs), "best")
    decompose(DemandProblem(((Fraction(1), Fraction(2)), (Fraction(2), Fraction(2)))))


SECTIONS: dict[str, Callable[[bool], Iterator[Row]]] = {
    function.__name__: function
    for function in (
        random_sets,
        redistributions,
        patterns,
        crossbars,
        free_routing,
        all_to_all,
        hypercubes,
        demands,
        scale,
    )
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sections", default=",".join(SECTIONS), help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--quick", action="store_true", help="fewer sets and sizes")
    parser.add_argument("--sets", type=int, default=SETS, help="random sets a row (default %(default)s)")
    options = parser.parse_args()
    globals()["SETS"] = options.sets
    chosen = options.sections.split(",")
    if unknown := set(chosen) - set(SECTIONS):
        parser.error(f"there is no section {', '.join(sorted(unknown))}")
    _warm()
    answer: Row = {
        "benchmark": "connections",
        "python": platform.python_version(),
        "numba": metadata.version("numba"),
        "machine": platform.machine(),
        "quick": options.quick,
        "sets": options.sets,
        "sections": {},
    }
    for name in chosen:
        rows = []
        for row in SECTIONS[name](options.quick):
            print(f"{name}: {json.dumps(row)}", file=sys.stderr, flush=True)
            rows.append(row)
        answer["sections"][name] = {"what": (SECTIONS[name].__doc__ or "").strip(), "rows": rows}
    rows = [row for section in answer["sections"].values() for row in section["rows"]]
    answer["met"] = f"{sum(bool(row['met']) for row in rows)} of {len(rows)}"
    print(json.dumps(answer, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
