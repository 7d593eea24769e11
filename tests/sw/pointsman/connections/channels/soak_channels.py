"""Random sets of connections, with 1 to 32 channels a node, each divided and judged. Can be stopped and gone on with.

Of every set: the judge finds no fault, there are no more phases than the published algorithm has and no fewer than the bound;
with a phase less than the bound it is refused with an argument of capacity and a change with which it fits. Small sets are also
given to CP-SAT, a hundred at a time.

    python -m tests.sw.pointsman.connections.channels.soak_channels [--sets 10000] [--small 1000] [--state FILE]
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

from pointsman.connections.channels import divide
from pointsman.errors import PointsmanError
from pointsman.files import cache_folder, write_whole
from pointsman.verify.channels import check_phases

from .random_sets import proved, random_problem, small_problems

ARGUMENT = re.compile(r"phases: \d+ are too few, \d+ are needed at least: .* (channels|links|in a phase|and it has)")
BATCH = 100
FIRST_SMALL = 100_000


def tried(number: int) -> Counter[str]:
    """Try a set; what it was.

    Raises
    ------
    AssertionError
        If a law does not hold.
    """
    problem = random_problem(10_000 + number, 1 + number % 32)
    answer, published = divide(problem, effort=0.2), divide(problem, algorithm="apr")
    for one in (answer, published):
        assert check_phases(one) == [], number
    assert answer.bound <= len(answer.phases) <= len(published.phases), number
    found = Counter(sets=1, connections=len(problem.connections), phases=len(answer.phases), bound=answer.bound)
    found["at the bound"] += len(answer.phases) == answer.bound
    found["fewer than published"] += len(answer.phases) < len(published.phases)
    if answer.bound > 1:
        try:
            divide(replace(problem, phases=answer.bound - 1), effort=0.2)
        except PointsmanError as error:
            assert ARGUMENT.match(error.message), error.message
            assert error.hint is not None, number
            assert error.hint.startswith("it fits with"), error.hint
            found["refused"] += 1
        else:
            raise AssertionError(f"set {number} went into fewer phases than the bound")
    return found


def settled(first: int) -> Counter[str]:
    """A hundred small sets; of those that have more phases than their bound CP-SAT tells the least."""
    known = [(problem, divide(problem)) for problem in small_problems(first, BATCH)]
    above = [(problem, answer) for problem, answer in known if len(answer.phases) > answer.bound]
    found = Counter({"small, at the bound": len(known) - len(above)})
    for (_, answer), (phases, division) in zip(above, proved(above) if above else (), strict=True):
        assert answer.bound <= phases, first
        if division is None:
            found["small, not settled"] += 1
        else:
            found["small, proved"] += 1
            found["small, more phases than proved"] += len(answer.phases) > phases
    return found


def main() -> None:
    """Go on where the state says that it was stopped."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=10_000)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--state", type=Path, default=cache_folder() / "soak" / "channels.json")
    given = parser.parse_args()
    given.state.parent.mkdir(parents=True, exist_ok=True)
    done: Counter[str] = Counter(json.loads(given.state.read_text()) if given.state.is_file() else {})
    while done["sets"] < given.sets or done["small"] < given.small:
        if done["sets"] < given.sets:
            for number in range(done["sets"], min(done["sets"] + BATCH, given.sets)):
                done.update(tried(number))
        if done["small"] < given.small:
            done.update(settled(FIRST_SMALL + 1000 * (done["small"] // BATCH)))
            done["small"] += BATCH
        write_whole(given.state, json.dumps(dict(sorted(done.items()))) + "\n")
        print(json.dumps(dict(sorted(done.items()))), flush=True)


if __name__ == "__main__":
    main()
