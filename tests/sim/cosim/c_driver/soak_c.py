"""Random programs in C on the host, coupled with the cycle model; without end. Can be stopped and gone on with.

Programs are those of ``soak_programs`` (phases that change often) and of ``soak_everything`` (all operators) in turn. Each is
compiled to images and to C; what its nodes receive in C must be what the reference machine gives them, which is what the Python
application receives, and no word may be left in the machine. Half of them find the routers preloaded, half load ahead what they
can. The C is built with address and undefined-behaviour sanitizers.

    python tests/sim/cosim/c_driver/soak_c.py [--cases 10000] [--seed 0] [--state FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))

import coupling
import soak_everything
import soak_programs
from everything import network_named
from walker import FUNCTIONS, Walker

from cosim.errors import TooLongError
from cosim.numesh.machine import Machine
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.cop import CopError, compile_text
from pointsman.errors import PointsmanError
from pointsman.files import cache_folder, write_whole
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Program
from pointsman.targets.c.entries import NotInCError
from pointsman.targets.numesh import make_images

LARGEST = 9
"""Nodes at most: each is a process."""
SECONDS = 20.0
"""CPU time for compiling a program at most."""
MOST_CYCLES = 2_000_000


@dataclass
class Progress:
    """What has been run so far."""

    seed: int
    cases: int = 0
    right: int = 0
    changes: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    """Programs that were not run, by reason."""
    implementations: dict[str, int] = field(default_factory=dict)
    """Operators of programs that were right, by what does them."""
    faults: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Outcome:
    """A case: why it was not run, or the changes of phase of all its nodes."""

    reason: str = ""
    changes: int = 0
    implementations: tuple[str, ...] = ()


def case_of(seed: int) -> tuple[Program, Images, Walker] | str:
    """Program, images and application of a seed; or why there are none."""
    number, everything = divmod(seed, 2)
    if not everything:
        case = soak_programs.case_of(number)
        images = soak_programs.compiled(case)
        if isinstance(images, str):
            return "refused by the compiler"
        walker: Walker = soak_programs._trees().walker_of(
            case.text, mesh(*case.size), number, slowest=soak_programs.SLOWEST
        )
        return walker.program, images, walker
    other = soak_everything.case_of(number)
    topology = network_named(other.network)
    if topology.nodes > LARGEST or topology.dead:
        return "too many nodes, or faulty ones"
    try:
        program = compile_text(other.text, topology=topology)
        with soak_everything.time_limit(SECONDS):
            images = make_images(make_plan(program, NodeShape(neighbours=max(4, topology.ports)), name="soak"))
    except CopError:
        return "illegal"
    except PointsmanError:
        return "refused by the compiler"
    except soak_everything._TimeUpError:
        return "slow to compile"
    return program, images, Walker(program, number, slowest=other.slowest, calls=True, fewer=True, late=False)


def run_case(seed: int, folder: Path) -> Outcome:
    """Run a case; its files go into ``folder``.

    Raises
    ------
    CouplingError
        If C does something else than Python.
    """
    found = case_of(seed)
    if isinstance(found, str):
        return Outcome(found)
    program, images, walker = found
    calls = coupling.recorded(program, walker.main, FUNCTIONS)
    try:
        preloaded = bool(seed & 4)
        executable = coupling.build(program, images, calls, folder, ahead=bool(seed & 8), preloaded=preloaded)
    except NotInCError as error:
        return Outcome(soak_programs.rule(error.message))
    with Machine(images.shape, program.topology, engine="model", progress=False) as machine:
        if preloaded:
            machine.preload(memories_of(images))
        try:
            changes = coupling.run_coupled(executable, program, calls, machine, MOST_CYCLES)
        except TooLongError as error:
            raise coupling.CouplingError(str(error)) from None
        state: Any = machine.state()
    if state["full"].any() or state["held"].any():
        raise coupling.CouplingError("words are left over")
    return Outcome("", sum(changes), tuple(operator.implementation for operator in images.operators))


def soak(progress: Progress, cases: int, save: Callable[[Progress], None]) -> None:
    """Run cases until there are enough; ``save`` is called after each."""
    while progress.cases < cases:
        seed = progress.seed + progress.cases
        try:
            with tempfile.TemporaryDirectory() as folder:
                outcome = run_case(seed, Path(folder))
        except coupling.CouplingError as error:
            print(f"\nsoak: seed {seed}: {str(error)[:2000]}", file=sys.stderr)
            progress.faults.append(seed)
            outcome = Outcome("fault")
        progress.cases += 1
        if outcome.reason:
            progress.refused[outcome.reason] = progress.refused.get(outcome.reason, 0) + 1
        else:
            progress.right += 1
        progress.changes += outcome.changes
        progress.implementations = dict(Counter(progress.implementations) + Counter(outcome.implementations))
        save(progress)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000, help="programs in all")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--state", type=Path, default=None, help="where progress is kept")
    options = parser.parse_args(arguments)
    path = options.state or cache_folder() / f"soak-c-{options.seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(**json.loads(path.read_text())) if path.exists() else Progress(options.seed)

    def save(progress: Progress) -> None:
        write_whole(path, json.dumps(asdict(progress)) + "\n")
        if sys.stderr.isatty():
            print(f"\rsoak: {progress.right} of {progress.cases} programs", end="", file=sys.stderr)

    soak(progress, options.cases, save)
    print(json.dumps({"benchmark": "soak-c", **asdict(progress)}))
    return 1 if progress.faults else 0


if __name__ == "__main__":
    sys.exit(main())
