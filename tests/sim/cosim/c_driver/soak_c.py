"""Random programs in C on the host, coupled with the cycle model; without end. Can be stopped and gone on with.

Programs are those of ``soak_programs`` (phases that change often) and, one in eight, of ``soak_everything`` (all operators). Each
is compiled to images and to C; what its nodes receive in C must be what the reference machine gives them, which is what the
Python application receives, and no word may be left in the machine. Half of them find the routers preloaded, half load ahead
what they can. The C is built with address and undefined-behaviour sanitizers, many programs at once (`coupling.build_many`).

    python tests/sim/cosim/c_driver/soak_c.py [--cases 10000] [--seed 0] [--seconds 0] [--state FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import partial
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
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Program
from pointsman.targets.c.entries import NotInCError
from pointsman.targets.c.implementations import implementations_in_c
from pointsman.targets.numesh import make_images

LARGEST = 9
"""Nodes at most: each is a process."""
SECONDS = 0.3
"""CPU time for compiling a program at most; those that take longer would take most of the time."""
LARGE = 1800
"""Characters times nodes from which on a program seldom compiles in that time: most of them are left out at once."""
TOGETHER = 64
"""Programs that are built together."""
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
    try:
        with soak_everything.time_limit(SECONDS):
            return _everything(seed // 8) if seed % 8 == 7 else _phases(seed)
    except CopError:
        return "illegal"
    except PointsmanError:
        return "refused by the compiler"
    except soak_everything._TimeUpError:
        return "slow to compile"
    except SystemError as error:
        # A compiled kernel that is interrupted ends with this.
        if not isinstance(error.__cause__, soak_everything._TimeUpError):
            raise
        return "slow to compile"


def _phases(number: int) -> tuple[Program, Images, Walker] | str:
    case = soak_programs.case_of(number)
    # A division into phases that is searched for takes ten times as long to compile, and is as good as any other here.
    case = replace(case, split=case.split or number % 16 != 1)
    if len(case.text) * mesh(*case.size).nodes > LARGE and number % 4:
        return "large"
    images = soak_programs.compiled(case)
    if isinstance(images, str):
        return "refused by the compiler"
    walker: Walker = soak_programs._trees().walker_of(
        case.text, mesh(*case.size), number, slowest=soak_programs.SLOWEST
    )
    return walker.program, images, walker


def _everything(number: int) -> tuple[Program, Images, Walker] | str:
    other = soak_everything.case_of(number)
    topology = network_named(other.network)
    if topology.nodes > LARGEST or topology.dead:
        return "too many nodes, or faulty ones"
    program = compile_text(other.text, topology=topology)
    shape = NodeShape(neighbours=max(4, topology.ports))
    able = implementations_in_c(program, Context(topology, shape), IMPLEMENTATIONS)
    images = make_images(make_plan(program, shape, name="soak", implementations=able))
    return program, images, Walker(program, number, slowest=other.slowest, calls=True, fewer=True, late=False)


def built_of(seed: int) -> coupling.Built | str:
    """What is to be compiled for a seed; or why there is nothing."""
    found = case_of(seed)
    if isinstance(found, str):
        return found
    program, images, walker = found
    try:
        coupling.c_files(images)
    except NotInCError as error:
        return soak_programs.rule(error.message)
    calls = coupling.recorded(program, walker.main, FUNCTIONS)
    return coupling.Built(program, images, calls, ahead=bool(seed & 16), preloaded=bool(seed & 32))


def run_built(built: coupling.Built, link: Callable[[int], coupling.Link]) -> Outcome:
    """Run a program that is compiled.

    Raises
    ------
    CouplingError
        If C does something else than Python.
    """
    images, program = built.images, built.program
    with Machine(images.shape, program.topology, engine="model", progress=False) as machine:
        if built.preloaded:
            machine.preload(memories_of(images))
        try:
            changes = coupling.run_coupled(link, program, built.calls, machine, MOST_CYCLES)
        except TooLongError as error:
            raise coupling.CouplingError(str(error)) from None
        state: Any = machine.state()
    if state["full"].any() or state["held"].any():
        raise coupling.CouplingError("words are left over")
    return Outcome("", sum(changes), tuple(operator.implementation for operator in images.operators))


def run_case(seed: int, folder: Path) -> Outcome:
    """Run a case, built by itself as a user would; its files go into ``folder``."""
    built = built_of(seed)
    if isinstance(built, str):
        return Outcome(built)
    executable = coupling.build(
        built.program, built.images, built.calls, folder, ahead=built.ahead, preloaded=built.preloaded
    )
    return run_built(built, lambda node: coupling.process_link(executable, node))


@contextmanager
def servers(executables: Sequence[Path]) -> Iterator[dict[Path, coupling.Server]]:
    """Executables of `coupling.build_many`, running."""
    running: dict[Path, coupling.Server] = {}
    try:
        for executable in executables:
            running[executable] = coupling.Server(executable)
        yield running
    finally:
        for one in running.values():
            one.end()


def run_cases(
    seeds: Sequence[int], folder: Path, drivers: Path | None = None
) -> dict[int, Outcome | coupling.CouplingError]:
    """Run several cases, built together; a fault stands for the outcome of its case. ``drivers``: see `coupling.build_many`."""
    found: dict[int, Outcome | coupling.CouplingError] = {}
    built: dict[int, coupling.Built] = {}
    for seed in seeds:
        try:
            one = built_of(seed)
        except soak_programs.SoakError as error:
            found[seed] = coupling.CouplingError(f"the judge refuses what was compiled: {error}")
            continue
        if isinstance(one, str):
            found[seed] = Outcome(one)
        else:
            built[seed] = one
    places = dict(zip(built, coupling.build_many(list(built.values()), folder, drivers), strict=True))
    with servers(sorted({executable for executable, _ in places.values()})) as running:
        for seed, one in built.items():
            executable, number = places[seed]
            try:
                found[seed] = run_built(one, partial(running[executable].link, number))
            except coupling.CouplingError as error:
                found[seed] = error
    return found


def soak(progress: Progress, cases: int, save: Callable[[Progress], None], seconds: float = 0) -> None:
    """Run cases until so many have been right, or for so many seconds, if they are not 0; ``save`` is called now and then."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as drivers:
        while progress.right < cases and not (seconds and time.monotonic() - began > seconds):
            first = progress.seed + progress.cases
            seeds = range(first, first + min(TOGETHER, 2 * (cases - progress.right)))
            with tempfile.TemporaryDirectory() as folder:
                found = run_cases(seeds, Path(folder), Path(drivers))
            _count(progress, found)
            save(progress)


def _count(progress: Progress, found: Mapping[int, Outcome | coupling.CouplingError]) -> None:
    for seed, outcome in sorted(found.items()):
        if isinstance(outcome, coupling.CouplingError):
            print(f"\nsoak: seed {seed}: {str(outcome)[:2000]}", file=sys.stderr)
            progress.faults.append(seed)
            outcome = Outcome("fault")
        progress.cases += 1
        if outcome.reason:
            progress.refused[outcome.reason] = progress.refused.get(outcome.reason, 0) + 1
        else:
            progress.right += 1
        progress.changes += outcome.changes
        progress.implementations = dict(Counter(progress.implementations) + Counter(outcome.implementations))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000, help="programs that are to be run")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--seconds", type=float, default=0, help="end after so many, to be gone on with later")
    parser.add_argument("--state", type=Path, default=None, help="where progress is kept")
    options = parser.parse_args(arguments)
    path = options.state or cache_folder() / f"soak-c-{options.seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(**json.loads(path.read_text())) if path.exists() else Progress(options.seed)

    def save(progress: Progress) -> None:
        write_whole(path, json.dumps(asdict(progress)) + "\n")
        if sys.stderr.isatty():
            print(f"\rsoak: {progress.right} of {progress.cases} programs", end="", file=sys.stderr)

    soak(progress, options.cases, save, options.seconds)
    print(json.dumps({"benchmark": "soak-c", **asdict(progress)}))
    return 1 if progress.faults else 0


if __name__ == "__main__":
    sys.exit(main())
