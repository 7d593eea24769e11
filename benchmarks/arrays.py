"""Array programs: times of analysis, what optimisation leaves, precision of phases, and cycles beside programs written by hand.

Prints one JSON object, for Yuan 1998, Tables 5.1 to 5.3, 5.8, 5.9 and 6.4 to 6.8. Elements and messages are counted one by one.

    python benchmarks/arrays.py [--no-cycles]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import pointsman
from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.communications import Communications
from pointsman.arrays.analysis.emulation import count
from pointsman.arrays.execution.following import Followed, follow, packets
from pointsman.arrays.execution.sites import Site, find_sites
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.phases import ArrayPhases, Run, array_phases
from pointsman.arrays.tree.statements import ArrayProgram
from pointsman.artifacts.configurations.configurations import Network
from pointsman.connections.phases import degree_on
from pointsman.network import mesh, torus
from pointsman.optical.fabric import Fabric, fabric
from pointsman.optical.logical import LOGICAL, Logical, logical
from pointsman.optical.multihop import hop
from pointsman.optical.reservation import Scheme, reserve
from pointsman.optical.traffic import listed
from pointsman.runtime.array_programs import ArrayApplication, first_values

Pair = tuple[int, int]
ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "examples/arrays"
KINDS: Mapping[str, tuple[str, dict[str, int]]] = {
    "L18": ("livermore18", {}),
    "ARTDIF": ("artificial_diffusion", {"n": 40, "m": 100}),
    "TOMCATV": ("mesh_generation", {"n": 33, "steps": 1}),
    "SWIM": ("shallow_water", {"n": 32, "steps": 1}),
    "MGRID": ("multigrid", {"m": 8}),
    "ERHS": ("flux_differences", {"n": 10}),
}
"""Programs of Tables 5.1 to 5.3, ours of that kind, and their sizes; the first is the thesis's own."""
ONE = {"p(4)": "p(64)"}
BENCHMARKS: Mapping[str, tuple[str, dict[str, int], Mapping[str, str]]] = {
    "0001": ("alternating_directions", {"n": 128, "steps": 1}, ONE),
    "0003": ("fourier", {"n": 128}, ONE),
    "0004": ("tabulation", {"n": 64}, ONE),
    "0008": ("convolution", {"n": 128}, ONE),
    "0009": ("accept_reject", {"n": 64}, ONE),
    "0011": ("percolation", {"n": 62}, ONE),
    "0013": ("potts", {"n": 62}, ONE),
    "0014": ("phase_separation", {"n": 62}, ONE),
    "0022": ("elimination", {"n": 64}, ONE),
    "0025": ("n_body", {"n": 64}, ONE),
    "0039": ("bitonic_sort", {"n": 64}, ONE),
    "0041": ("wavelets", {"n": 256}, ONE),
    "0053": ("hopfield", {"n": 64, "steps": 2}, ONE),
}
"""Benchmarks of the HPF suite (Table 5.7), ours that do the same, sizes, and the processors that are replaced. The sizes are
ours: for 0001, 0003, 0008 and 0041 such that a message has the four packets that Table 6.4 has for them."""
DOUBLE = {"0001", "0003", "0008"}
"""Programs of which an element has two words."""
SQUARE = {"p(4, 4)": "p(8, 8)", "q(4, 4)": "q(8, 8)"}
OTHERS: Mapping[str, tuple[str, dict[str, int], Mapping[str, str]]] = {
    "GS": ("gauss_seidel", {"n": 62, "steps": 1}, {"p(8)": "p(64)"}),
    "P3M": ("particle_mesh", {"n": 64}, {"(4, 2)": "(8, 8)", "line(8)": "line(64)", "(2, 2, 2)": "(4, 4, 4)"}),
    "ARTDIF": ("artificial_diffusion", {}, SQUARE),
    "TOMCATV": ("mesh_generation", {"n": 34, "steps": 1}, SQUARE),
    "SWIM": ("shallow_water", {"n": 63, "steps": 1}, SQUARE),
    "ERHS": ("flux_differences", {"n": 16}, SQUARE),
}
"""Programs of the kinds of the two other sets of Chapter 6."""
SIDE = 8
TORUS, DEGREE = Network("torus", (SIDE, SIDE)), 10
"""As in the thesis, §5.5.1 and §6.2."""
LINES = 1000
"""Statements of the long program."""


def read(name: str, sizes: dict[str, int], replaced: Mapping[str, str] | None = None) -> ArrayProgram:
    path = PROGRAMS / f"{name}.f90"
    text = path.read_text()
    for old, new in (replaced or {}).items():
        text = text.replace(old, new)
    return read_program(text, path.name, values=sizes)


def timed(program: ArrayProgram) -> tuple[dict[str, Communications], float]:
    """The communications after each step, and seconds of processor time."""
    began = time.process_time()
    return derive(program), time.process_time() - began


def optimisation(name: str, sizes: dict[str, int]) -> dict[str, Any]:
    """Descriptors, seconds, and what vectorisation and all steps leave under both distributions."""
    lines = (PROGRAMS / f"{name}.f90").read_text().splitlines()
    found: dict[str, Any] = {"program": name, "sizes": sizes, "lines": len(lines)}
    for kind in ("cyclic", "block"):
        text = "\n".join(
            line.replace("block", kind).replace("cyclic", kind) if line.startswith("!hpf$ distribute") else line
            for line in lines
        )
        program = read_program(text + "\n", f"{name}.f90", values=sizes)
        steps, seconds = timed(program)
        first = {array: np.ones(described.shape) for array, described in program.arrays.items()}
        costs = [count(steps[step], first) for step in ("vectorised", "scheduled")]
        found[kind] = {"elements": [one.elements for one in costs], "messages": [one.messages for one in costs]}
        found["seconds"] = seconds
        found["descriptors"] = sum(1 for _ in steps["initial"].descriptors())
    return found


@dataclass
class Visits:
    """Follows the messages of a run through phases: the pairs that were used in each visit of a phase.

    A communication that was divided has several phases, which are visited one after the other.
    """

    found: ArrayPhases
    visits: list[tuple[int, frozenset[Pair]]] = field(default_factory=list)
    current: int | None = None
    used: set[Pair] = field(default_factory=set)

    def __post_init__(self) -> None:
        numbers: dict[str, list[int]] = {}
        for at, phase in enumerate(self.found.phases):
            for name in phase.names:
                numbers.setdefault(name, []).append(at)
        self.numbers = {
            id(one.message) if one.message else one.statement: numbers.get(one.name, []) for one in self.found.patterns
        }
        self.slot = [
            {pair: number for number, slot in enumerate(slots) for pair in slot} for slots in self.found.configurations
        ]

    def of_site(self, site: Site) -> list[int]:
        """Numbers of the phases that carry a site."""
        return self.numbers[id(site.message) if site.message else site.statement]

    def passes(self, site: Site, pairs: Iterable[Pair]) -> None:
        """Take a message."""
        for phase in self.of_site(site):
            if phase != self.current:
                self.leave()
                self.current = phase
            self.used |= self.found.phases[phase].connections & set(pairs)

    def leave(self) -> None:
        """End the visit of a phase."""
        if self.current is not None:
            self.visits.append((self.current, frozenset(self.used)))
        self.used = set()

    def slots(self, site: Site, load: Mapping[Pair, int]) -> int:
        """Slots that a message takes, from the begin of a frame on, a frame being as long as its phase has configurations."""
        return sum(
            max(
                (count - 1) * self.found.phases[at].degree + self.slot[at][pair] + 1
                for pair, count in load.items()
                if pair in self.slot[at]
            )
            for at in self.of_site(site)
            if not load.keys().isdisjoint(self.slot[at])
        )


def precision(communications: Communications, followed: Followed, seconds: float) -> dict[str, Any]:
    """Connections and channels a phase, the mean over the phases that a run goes through, and seconds of the analysis."""
    began = time.process_time()
    watcher = Visits(array_phases(communications, TORUS, DEGREE))
    phases_seconds = time.process_time() - began
    for site, key in followed.visits:
        watcher.passes(site, site.variants[key])
    watcher.leave()
    degree = degree_on(TORUS, "xy", "best")
    channels = {used: degree(used) if used else 0 for used in {used for _, used in watcher.visits}}
    phases = watcher.found.phases
    means = {
        "connections_actual": np.mean([len(used) for _, used in watcher.visits]),
        "connections_compiled": np.mean([len(phases[at].connections) for at, _ in watcher.visits]),
        "channels_actual": np.mean([min(channels[used], phases[at].degree) for at, used in watcher.visits]),
        "channels_compiled": np.mean([phases[at].degree for at, _ in watcher.visits]),
    }
    rounded = {name: round(float(value), 1) for name, value in means.items()}
    return {**rounded, "visits": len(watcher.visits), "seconds": seconds, "phases_seconds": phases_seconds}


@cache
def net() -> Fabric:
    return fabric(torus(SIDE, SIDE))


@cache
def logical_topology(name: str) -> Logical:
    return logical(net(), name)


@cache
def dynamic(load: tuple[tuple[int, int, int, int], ...]) -> dict[str, int]:
    """Slots of a message in the schemes that are not compiled."""
    traffic = listed(load, TORUS.nodes)
    found = {f"multihop {name}": int(hop(logical_topology(name), 1, traffic).slots) for name in LOGICAL}
    for degree in (1, 4, 14, 20):
        scheme = Scheme(conservative=True, requests=1)
        found[f"singlehop {degree}"] = int(reserve(net(), degree, scheme, traffic, seed=1).slots)
    return found


def chapter_6(communications: Communications, followed: Followed, words: int) -> dict[str, int]:
    """Slots of all messages of a run, one after the other: compiled with ten channels, as few phases as can be or each with the
    degree that is best for it; hopping over logical topologies; with connections reserved."""
    fewest = array_phases(communications, TORUS, DEGREE, algorithm="aapc")
    quickest = array_phases(communications, TORUS, DEGREE, run=Run(followed, words))
    ways = {"compiled": Visits(fewest), "compiled, degrees of their own": Visits(quickest)}
    sums: Counter[str] = Counter()
    often: Counter[tuple[tuple[int, int, int, int], ...]] = Counter()
    for site, transfers in followed.messages():
        load = packets(transfers, words)
        for name, way in ways.items():
            sums[name] += way.slots(site, load)
        often[tuple((0, *pair, count) for pair, count in sorted(load.items()))] += 1
    for load, times in often.items():
        for name, slots in dynamic(load).items():
            sums[name] += times * slots
    return {"messages": sum(often.values()), **sums}


def on_torus(number: str, name: str, sizes: dict[str, int], replaced: Mapping[str, str]) -> dict[str, Any]:
    """A program on 64 processors: its precision and its times."""
    program = read(name, sizes, replaced)
    assert program.grid.size == TORUS.nodes
    steps, seconds = timed(program)
    communications = steps["scheduled"]
    followed = follow(find_sites(communications), first_values(program))
    found: dict[str, Any] = {"program": name, "sizes": sizes}
    if number in BENCHMARKS:
        found |= precision(communications, followed, seconds)
    found["slots"] = chapter_6(communications, followed, 2 if number in DOUBLE else 1)
    print(f"{name}: done", file=sys.stderr, flush=True)
    return found


def long_program(statements: int) -> float:
    """Seconds to analyse loops with so many assignments."""
    body = "".join(
        f"do i = 2, n - 1\n do j = 2, n - 1\n  a{k % 7}(i,j) = a{(k + 1) % 7}(i-1,j) + a{(k + 3) % 7}(i,j+1)\n end do\nend do\n"
        for k in range(statements)
    )
    names = ", ".join(f"a{k}" for k in range(7))
    text = (
        f"program long\ninteger, parameter :: n = 64\nreal, dimension(n, n) :: {names}\n!hpf$ processors p(4, 4)\n"
        f"!hpf$ template t(n, n)\n!hpf$ align (i,j) with t(i,j) :: {names}\n!hpf$ distribute t(block, block)\n{body}end\n"
    )
    return timed(read_program(text, "long.f90"))[1]


def cycles() -> list[dict[str, Any]]:
    """Cycles of derived programs, of programs written by hand, and of either without its computation (mean of the nodes)."""
    rows = []
    for name, sizes, arguments in (
        ("jacobi", {"n": 30}, {"size": 32}),
        ("matmul", {"n": 60}, {"size": 60, "type": "float32"}),
    ):
        found = {
            "derived": pointsman.run(ArrayApplication(read(name, sizes)), engine="model", check=False),
            "by_hand": pointsman.run(
                ROOT / f"examples/{name}/{name}.py", mesh(4, 4), engine="model", check=False, arguments=arguments
            ),
        }
        row: dict[str, Any] = {"program": name, "mesh": "4x4"}
        for which, result in found.items():
            assert result.correct
            categories = result.values["categories"]
            row[which] = {
                "cycles": result.values["total_cycles"],
                "communication": round(sum(categories.values()) - categories["cpu"], 1),
            }
        rows.append(row)
        print(f"{name}: done", file=sys.stderr, flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-cycles", action="store_true", help="leave out the runs on routers")
    options = parser.parse_args()
    print(
        json.dumps(
            {
                "optimisation": {kind: optimisation(*given) for kind, given in KINDS.items()},
                "torus": {number: on_torus(number, *given) for number, given in {**BENCHMARKS, **OTHERS}.items()},
                "long": {"statements": LINES, "seconds": long_program(LINES)},
                "cycles": [] if options.no_cycles else cycles(),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
