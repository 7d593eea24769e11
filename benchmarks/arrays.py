"""Array programs: times of analysis, what optimisation leaves, precision of phases, and cycles beside programs written by hand.

Prints one JSON object, for Yuan 1998, Tables 5.1 to 5.3, 5.8 and 5.9. Elements and messages are counted element by element.

    python benchmarks/arrays.py [--no-cycles]
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import pointsman
from pointsman.arrays.analysis import derive
from pointsman.arrays.analysis.communications import Communications, Message
from pointsman.arrays.analysis.emulation import count
from pointsman.arrays.execution.homes import Distributed, first_distribution, redistributed
from pointsman.arrays.execution.sites import Site, find_sites
from pointsman.arrays.fortran.reading import read_program
from pointsman.arrays.phases import array_phases
from pointsman.arrays.tree.meaning import Watcher, run
from pointsman.arrays.tree.statements import ArrayProgram, Redistribute, Statement
from pointsman.artifacts.configurations.configurations import Network
from pointsman.connections.phases import degree_on
from pointsman.network import mesh
from pointsman.runtime.array_programs import ArrayApplication, first_values

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
BENCHMARKS: Mapping[str, tuple[str, dict[str, int], tuple[str, str]]] = {
    "0001": ("alternating_directions", {"n": 64, "steps": 1}, ("p(4)", "p(64)")),
    "0022": ("elimination", {"n": 64}, ("p(4)", "p(64)")),
    "0025": ("n_body", {"n": 64}, ("p(4)", "p(64)")),
    "0053": ("hopfield", {"n": 64, "steps": 2}, ("p(4)", "p(64)")),
}
"""Benchmarks of the HPF suite, ours that do the same, sizes, and the processors that are replaced."""
TORUS, DEGREE = Network("torus", (8, 8)), 64
"""Slots are as many as an exchange between all takes: an element that any processor may send to all alone needs them."""
LINES = 1000
"""Statements of the long program."""


def read(name: str, sizes: dict[str, int], replaced: tuple[str, str] = ("", "")) -> ArrayProgram:
    path = PROGRAMS / f"{name}.f90"
    return read_program(path.read_text().replace(*replaced), path.name, values=sizes)


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


class Phases(Watcher):
    """Follows a run through the phases: pairs that were used in each visit of a phase, beside those that it has."""

    def __init__(self, communications: Communications) -> None:
        self.program = communications.program
        self.sites = find_sites(communications)
        found = array_phases(communications, TORUS, DEGREE)
        number = {name: at for at, phase in enumerate(found.phases) for name in phase.names}
        self.phases = found.phases
        self.of_message = {id(one.message): number.get(one.name) for one in found.patterns if one.message}
        self.of_move = {one.statement: number.get(one.name) for one in found.patterns if not one.message}
        self.state: Distributed = first_distribution(self.program)
        self.current: int | None = None
        self.used: set[tuple[int, int]] = set()
        self.visits: list[tuple[int, frozenset[tuple[int, int]]]] = []

    def before(self, statement: Statement, values: Mapping[str, Any]) -> None:
        for site in self.sites.before.get(statement, ()):
            self.passes(site, statement, {name: int(values[name]) for name in site.free})
        if isinstance(statement, Redistribute):
            self.state = redistributed(self.state, statement.template, statement.spreads)

    def passes(self, site: Site, statement: Statement, values: Mapping[str, int]) -> None:
        message: Message | None = site.message
        phase = self.of_move[statement] if message is None else self.of_message[id(message)]
        pairs = set(site.variants[site.key(values, self.state)])
        if phase != self.current:
            self.leave()
            self.current = phase
        self.used |= pairs

    def leave(self) -> None:
        if self.current is not None:
            self.visits.append((self.current, frozenset(self.used)))
        self.used = set()


def precision(name: str, sizes: dict[str, int], replaced: tuple[str, str]) -> dict[str, Any]:
    """Connections and channels a phase, the mean over the phases that a run goes through, and seconds of the analysis."""
    program = read(name, sizes, replaced)
    steps, seconds = timed(program)
    began = time.process_time()
    watcher = Phases(steps["scheduled"])
    phases_seconds = time.process_time() - began
    run(program, first_values(program), watcher)
    watcher.leave()
    degree = degree_on(TORUS, "xy", "best")
    channels = {used: degree(used) if used else 0 for used in {used for _, used in watcher.visits}}
    means = {
        "connections_actual": np.mean([len(used) for _, used in watcher.visits]),
        "connections_compiled": np.mean([len(watcher.phases[at].connections) for at, _ in watcher.visits]),
        "channels_actual": np.mean([channels[used] for _, used in watcher.visits]),
        "channels_compiled": np.mean([watcher.phases[at].degree for at, _ in watcher.visits]),
    }
    rounded = {name: round(float(value), 1) for name, value in means.items()}
    return {
        "program": name,
        **rounded,
        "visits": len(watcher.visits),
        "seconds": seconds,
        "phases_seconds": phases_seconds,
    }


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
                "precision": {number: precision(*given) for number, given in BENCHMARKS.items()},
                "long": {"statements": LINES, "seconds": long_program(LINES)},
                "cycles": [] if options.no_cycles else cycles(),
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
