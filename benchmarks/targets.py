"""Programs of one operator, and matrix multiplication, on all targets: predicted cycles on a 4×4 torus.

    python benchmarks/targets.py [--into benchmarks/results/targets.json]

The mesh of scheduled routers, the packet routers and the optical network are the same torus, the switch is a crossbar of 16
ports. A word crosses a link in a cycle, and a slot of the optical network is a cycle (docs/optical.md).
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from pointsman import api
from pointsman.files import write_whole
from pointsman.network import torus

MATMUL = Path(__file__).parents[1] / "examples/matmul/matmul.cop"
PROGRAMS = {
    "shift, 16 words": "(cshift 'c 1 :m 16)",
    "shift, 256 words": "(cshift 'c 1 :m 256)",
    "broadcast, 16 words": "(broadcast 'b 0 :m 16)",
    "reduce, 16 words": "(reduce 'r 0 :m 16)",
    "permutation at run time, 16 words": "(permute 'p (runtime) :m 16)",
    "16 shifts, then 16 broadcasts": "(sequential (loop 'l 16 (cshift 'c 1 :m 8)) (loop 'k 16 (broadcast 'b 0 :m 8)))",
}


def measured(program: Any, **parameters: int) -> dict[str, Any]:
    """Cycles by target; a text where there is none."""
    rows = api.compare(program, torus(4, 4), parameters=parameters)
    return {row["target"]: row["error"] or row["cycles"] for row in rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, help="file of results; what is there is not measured again")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    if options.into is not None and options.into.exists():
        results = json.loads(options.into.read_text())
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**PROGRAMS, "matrix multiplication, blocks of 9": None}.items():
            if name in results:
                continue
            path = Path(folder, "program.cop")
            path.write_text(text or "")
            results[name] = measured(path) if text is not None else measured(MATMUL, block=9)
            if options.into is not None:
                write_whole(options.into, json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
