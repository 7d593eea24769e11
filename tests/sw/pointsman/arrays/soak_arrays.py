"""Random array programs, run without hardware with poisoned copies: as many as wanted, and on from where it was stopped.

nice python tests/sw/pointsman/arrays/soak_arrays.py --programs 100000 --state build/soak-arrays.json
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pointsman
from pointsman.runtime.array_programs import ArrayApplication

sys.path.insert(0, str(Path(__file__).parent / "analysis"))
import enumeration

EVERY = 200
"""Programs between two looks at the file."""


def main() -> None:
    """Run programs, the state kept in a file; stop with the seed of the first that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--state", type=Path, default=Path("build/soak-arrays.json"))
    parser.add_argument("--several", action="store_true", help="programs over several grids of the same processors")
    given = parser.parse_args()
    done = json.loads(given.state.read_text())["done"] if given.state.exists() else 0
    for seed in range(done, given.programs):
        try:
            program = enumeration.random_program(seed, several=given.several)
            result = pointsman.run(ArrayApplication(program), dry=True, warnings="ignore")
        except Exception as error:
            sys.exit(f"random program {seed}: {error}")
        if not result.correct:
            sys.exit(f"random program {seed}: {result.text}")
        if (seed + 1) % EVERY == 0:
            given.state.parent.mkdir(parents=True, exist_ok=True)
            given.state.write_text(json.dumps({"done": seed + 1}))
            print(f"{seed + 1} programs", flush=True)


if __name__ == "__main__":
    main()
