"""Every array program of the examples on every target, the RTL in Verilator: is the answer that of its sequential meaning, and
in how many cycles? Small sizes, on four processors where the program's grid lets itself be replaced.

Prints one JSON object. What has run is kept in --state, so that it can be stopped and started again.

    python benchmarks/arrays_on_targets.py [PROGRAM …] [--state build/arrays-on-targets.json]
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import pointsman
from pointsman.arrays.fortran.reading import read_program
from pointsman.files import write_whole
from pointsman.runtime.array_programs import ArrayApplication

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "examples/arrays"
TARGETS = ("packet", "tdm", "numesh", "optical")
SIZES: dict[str, dict[str, int]] = {
    "alternating_directions": {"n": 8},
    "artificial_diffusion": {"n": 12, "m": 14},
    "convolution": {"n": 4},
    "elimination": {"n": 9},
    "flux_differences": {"n": 6},
    "gauss_seidel": {"n": 14},
    "hopfield": {"n": 10},
    "jacobi": {"n": 10, "steps": 2},
    "livermore18": {"jn": 20},
    "matmul": {"n": 8},
    "mesh_generation": {"n": 11},
    "n_body": {"n": 12},
    "shallow_water": {"n": 10, "steps": 1},
}
"""Sizes of programs that are larger by themselves."""


def application(name: str) -> ArrayApplication:
    """A program on four processors, if it has one grid of one or two axes."""
    path = PROGRAMS / f"{name}.f90"
    text, sizes = path.read_text(encoding="utf-8"), SIZES.get(name, {})
    program = read_program(text, path.name, values=sizes)
    shape = {1: (4,), 2: (2, 2)}.get(len(program.grid.shape)) if len(program.grids) == 1 else None
    return ArrayApplication(read_program(text, path.name, values=sizes, processors=shape))


def ran(name: str, target: str) -> dict[str, Any]:
    """A run of a program on a target."""
    engine: dict[str, Any] = {} if target == "optical" else {"engine": "verilated"}
    result = pointsman.run(application(name), target=target, warnings="ignore", **engine)
    return {"correct": result.correct, "cycles": result.values["total_cycles"], "engine": result.values.get("engine")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", nargs="*", default=sorted(path.stem for path in PROGRAMS.glob("*.f90")))
    parser.add_argument("--state", type=Path, default=Path("build/arrays-on-targets.json"))
    options = parser.parse_args()
    found: dict[str, dict[str, Any]] = json.loads(options.state.read_text()) if options.state.exists() else {}
    options.state.parent.mkdir(parents=True, exist_ok=True)
    for target in TARGETS:
        for name in options.programs:
            row = found.setdefault(name, {"sizes": SIZES.get(name, {}), "runs": {}})
            if target in row["runs"]:
                continue
            grid = application(name).array_program.grid
            row["processors"] = "x".join(map(str, grid.shape))
            row["runs"][target] = ran(name, target)
            write_whole(options.state, json.dumps(found, indent=1) + "\n")
            print(f"{name} on {target}: {row['runs'][target]}", file=sys.stderr, flush=True)
    print(json.dumps({name: found[name] for name in sorted(found)}, indent=1))


if __name__ == "__main__":
    main()
