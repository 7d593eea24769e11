"""Random array programs, as many as wanted, and on from where it was stopped: first every step of the analysis against remote
copies that can be missing or stale, then whole programs without hardware, with poisoned copies, against their sequential meaning.

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


def ran(seed: int, several: bool) -> None:
    """Run a program without hardware; AssertionError if an element is not what its meaning says."""
    program = enumeration.random_program(seed, several=several)
    result = pointsman.run(ArrayApplication(program), dry=True, warnings="ignore")
    assert result.correct, result.text


PASSES = {"judged": lambda seed, several: enumeration.judge(seed, several=several), "ran": ran}


def main() -> None:
    """Check programs, the state kept in a file; stop with the seed of the first that is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--state", type=Path, default=Path("build/soak-arrays.json"))
    parser.add_argument("--several", action="store_true", help="programs over several grids of the same processors")
    given = parser.parse_args()
    state = {
        "several": given.several,
        "judged": 0,
        "ran": 0,
        **(json.loads(given.state.read_text()) if given.state.exists() else {}),
    }
    if state["several"] != given.several:
        sys.exit(f"{given.state} is of other programs: --state names a file for these")
    for name, check in PASSES.items():
        for seed in range(state[name], given.programs):
            try:
                check(seed, given.several)
            except Exception as error:
                sys.exit(f"random program {seed}, {name}: {error}")
            if (seed + 1) % EVERY == 0 or seed + 1 == given.programs:
                state[name] = seed + 1
                given.state.parent.mkdir(parents=True, exist_ok=True)
                given.state.write_text(json.dumps(state))
                print(f"{seed + 1} programs {name}", flush=True)


if __name__ == "__main__":
    main()
