"""Random COP programs through their phases, without end. Can be stopped and gone on with.

A case is a random program of nested groups (``random_trees``), compiled, judged and run under random processor delays; every
word that a node receives must be what the reference machine gives it, and no word may be left in the machine at the end. Three
of four cases have a phase for each operator, so that phases change as often as can be; one of four has a schedule memory of four
blocks, so that phases take turns in it. In one of three there are operators beside sequences, which continue over changes of
phase and are used before each operator of the sequence, so that changes meet words of theirs. What is compiled once is run
several times, with other messages, values, choices and delays; one of two cases may use only some of the implementations, so that
others than the quickest are tried as well. A case that goes wrong is shrunk and kept in ``kept_programs``, where a test runs it
from then on.

    python tests/sim/cosim/soak_programs.py [--cases 10000] [--changes 1000000] [--engine model] [--seed 0] [--state FILE]
    python tests/sim/cosim/soak_programs.py --sum FILE FILE …

With ``--changes`` loops go round often, and cases are run until nodes have changed their phases so many times. Two processes
may run side by side, each with a seed far from the other's and so with a state file of its own; ``--sum`` adds up what they have
done. Programs that the compiler refuses are counted by its reason.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType

from cosim.numesh.machine import EngineName, Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.api.judged import judged
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError, RefusedError
from pointsman.files import cache_folder, write_whole
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Implementation
from pointsman.operators.api.loading import Loading
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import Structure, divided, outline
from pointsman.program.program import Program
from pointsman.runtime.numesh.substrate import NumeshSubstrate, numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images

KEPT = Path(__file__).with_name("kept_programs")
SIZES = ((2, 2), (3, 2), (4, 1), (2, 2), (1, 3), (2, 3), (3, 3), (4, 2))
PERIOD = 16
SHAPE = NodeShape(vfsms=64, schedule_depth=256, registers=32)
OFTEN = 24
"""Most rounds of a loop where phases are to change often."""
SLOWEST = 400
"""Most cycles that a node computes before an operator."""
RUNS = 3
"""Runs of what is compiled once: compiling takes about as long as four of them."""


class SoakError(AssertionError):
    """A case went wrong."""


@dataclass(frozen=True)
class Case:
    """A program and how it is compiled and run."""

    seed: int
    text: str
    size: tuple[int, int]
    split: bool
    """A phase for each operator."""
    blocks: int
    """Of the schedule memory, the loader's included."""
    beside: bool = False
    """Operators continue over changes of phase."""
    narrow: bool = False
    """With some of the implementations only, if that will do."""
    runs: int = 1


@dataclass
class Progress:
    """What has been run so far."""

    seed: int
    cases: int = 0
    refused: int = 0
    changes: int = 0
    node_cycles: int = 0
    words: int = 0
    seconds: float = 0.0
    runs: int = 0
    techniques: dict[str, int] = field(default_factory=dict)
    """Phases by the way in which they end."""
    continuing: int = 0
    """Programs with operators that continue over changes of phase."""
    continuing_changes: int = 0
    """Changes of phase in them."""
    implementations: dict[str, int] = field(default_factory=dict)
    """Operators by what does them."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Programs refused by reason; names and numbers taken out."""
    faults: list[int] = field(default_factory=list)
    """Seeds of cases that went wrong."""


@dataclass(frozen=True)
class Run:
    """A case that went well; no images if the compiler refused it, with ``reason``."""

    images: Images | None = None
    reason: str = ""
    changes: int = 0
    node_cycles: int = 0
    words: int = 0


def case_of(seed: int, *, often: bool = False) -> Case:
    """The case of a seed."""
    size = SIZES[seed % len(SIZES)]
    beside = seed % 3 == 0
    share = {"continuing": 0.8, "threads": 0.2, "depth": 1, "online": 0.4 * (seed % 2)} if beside else {}
    text = _trees().random_text(seed, mesh(*size), rounds=OFTEN if often else _trees().MOST_ROUNDS, **share)
    blocks = 4 if seed % 4 == 0 else SHAPE.schedule_depth // PERIOD
    split = seed % 4 != 1 or (often and seed % 8 == 1)
    return Case(seed, text, size, split, blocks, beside, seed // 4 % 2 == 1, RUNS if often else 1)


def compiled(case: Case) -> Images | str:
    """Images that the judge has passed; or the reason for which the compiler refuses the program."""
    topology = mesh(*case.size)
    program = compile_text(case.text, topology=topology)
    shape = replace(SHAPE, schedule_depth=case.blocks * PERIOD)
    structures = [outline(program)] if case.split else None
    images, reason = None, ""
    for some in ([_some(case.seed)] if case.narrow else []) + [IMPLEMENTATIONS]:
        try:
            images = _images(program, shape, structures, some, beside=case.beside)
            break
        except (PlanError, RefusedError) as error:
            reason = error.message
            if not reason:
                raise SoakError("refused without a reason") from None
    if images is None:
        return reason
    report = judged(images)
    if not report.ok:
        raise SoakError(report.render())
    return images


def _images(
    program: Program,
    shape: NodeShape,
    structures: list[Structure] | None,
    some: tuple[Implementation, ...],
    *,
    beside: bool,
) -> Images:
    if beside:
        root = disjoint_tree(program)
        split = divided(program, root, fold(root, lambda part, i: True))
        if split.through:
            try:
                plan = make_plan(program, shape, name="random", period=PERIOD, structures=[split], implementations=some)
                return make_images(plan)
            except (PlanError, RefusedError):
                pass
    plan = make_plan(program, shape, name="random", period=PERIOD, structures=structures, implementations=some)
    return make_images(plan)


def _some(seed: int) -> tuple[Implementation, ...]:
    """About half of the implementations; all of those to fall back on."""
    chance = random.Random(seed)
    return tuple(one for one in IMPLEMENTATIONS if one.loading is Loading.ONLINE or chance.random() < 0.5)


def rule(reason: str) -> str:
    """A reason without what is different from program to program."""
    reason = re.sub(r"<cop>:\d+:\d+(, line \d+)?", "<cop>", reason)
    reason = re.sub(r"'[^']*'", "'…'", reason)
    return re.sub(r"\d+", "N", reason)


def run_case(case: Case, engine: EngineName) -> Run:
    """Compile, judge and run a case.

    Raises
    ------
    SoakError
        If the judge finds fault, a word is lost, doubled, changed or left over, or nothing moves any more.
    """
    topology = mesh(*case.size)
    images = compiled(case)
    if isinstance(images, str):
        return Run(reason=rule(images))
    changes = node_cycles = words = 0
    for number in range(case.runs):
        walker = _trees().walker_of(case.text, topology, case.seed + (number << 40), slowest=SLOWEST)
        expected = ReferenceMachine(walker.program, "random", {}).run(walker.main)
        with Machine(images.shape, topology, engine=engine, progress=False) as machine:
            nodes = [numesh_node(images, node, machine) for node in range(topology.nodes)]
            try:
                record = run_nodes(nodes, walker.main, machine)
            except PointsmanError as error:
                raise SoakError(error.message) from None
            state = machine.state()
        if record.results != expected.results:
            wrong = next(n for n, (a, b) in enumerate(zip(record.results, expected.results, strict=True)) if a != b)
            raise SoakError(f"node {wrong} received {record.results[wrong]} instead of {expected.results[wrong]}")
        if state["full"].any() or ("held" in state and state["held"].any()):
            raise SoakError("words are left over")
        changes += sum(node.substrate.router.changes for node in nodes if isinstance(node.substrate, NumeshSubstrate))
        node_cycles += record.nodes * record.total_cycles
        words += int(record.accesses[:, 1].sum())
    return Run(images, "", changes, node_cycles, words)


def shrink(case: Case, engine: EngineName) -> Case:
    """A case that goes wrong as well, of fewer lines and smaller loops."""

    def wrong(other: Case) -> bool:
        try:
            run_case(other, engine)
        except SoakError:
            return True
        except PointsmanError:
            return False
        return False

    going = True
    while going:
        going = False
        lines = case.text.splitlines()
        for i in range(len(lines)):
            fewer = replace(case, text="\n".join([*lines[:i], *lines[i + 1 :]]))
            if len(lines) > 1 and wrong(fewer):
                case, going = fewer, True
                break
    return case


def keep(case: Case, why: str) -> Path:
    """Write a case where the test finds it."""
    KEPT.mkdir(exist_ok=True)
    path = KEPT / f"seed_{case.seed}.json"
    write_whole(path, json.dumps({**asdict(case), "why": why}, indent=1) + "\n")
    return path


def kept(path: Path) -> Case:
    """A case that was kept."""
    values = json.loads(path.read_text())
    values.pop("why")
    return Case(**{**values, "size": tuple(values["size"])})


def soak(progress: Progress, cases: int, changes: int, engine: EngineName, save: object) -> None:
    """Run cases until both marks are reached; ``save`` is called after each."""
    assert callable(save)
    began = time.process_time() - progress.seconds
    while progress.cases < cases or progress.changes < changes:
        # Loops go round often until there are changes enough for the cases still to come.
        often = progress.changes * max(1, cases) < changes * max(1, progress.cases) or progress.cases >= cases
        case = case_of(progress.seed + progress.cases, often=often and progress.changes < changes)
        try:
            run = run_case(case, engine)
        except SoakError as error:
            print(f"\nsoak: seed {case.seed}: {str(error)[:2000]}", file=sys.stderr)
            print(f"soak: kept in {keep(shrink(case, engine), str(error)[:500])}", file=sys.stderr)
            progress.faults.append(case.seed)
            run = Run()
        progress.cases += 1
        progress.refused += run.images is None
        progress.changes += run.changes
        if run.images is not None and any(operator.continues for operator in run.images.operators):
            progress.continuing += 1
            progress.continuing_changes += run.changes
        progress.node_cycles += run.node_cycles
        progress.words += run.words
        progress.runs += case.runs if run.images is not None else 0
        if run.reason:
            progress.reasons[run.reason] = progress.reasons.get(run.reason, 0) + 1
        ended = Counter(phase.technique for phase in run.images.phases) if run.images else Counter[str]()
        progress.techniques = dict(Counter(progress.techniques) + ended)
        used = Counter(one.implementation for one in run.images.operators) if run.images else Counter[str]()
        progress.implementations = dict(Counter(progress.implementations) + used)
        progress.seconds = time.process_time() - began
        save(progress)


def summed(several: Iterable[Progress]) -> Progress:
    """What several processes have done together."""
    total = Progress(0)
    for one in several:
        for name, value in asdict(one).items():
            before = getattr(total, name)
            if isinstance(value, dict):
                setattr(total, name, dict(Counter(before) + Counter(value)))
            elif name != "seed":
                setattr(total, name, before + value)
    return total


def _load(path: Path) -> Progress:
    return Progress(**json.loads(path.read_text()))


def _trees() -> ModuleType:
    name = "random_trees"
    if name not in sys.modules:
        specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
        assert specification is not None
        assert specification.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
    return sys.modules[name]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cases", type=int, default=10_000, help="programs in all")
    parser.add_argument("--changes", type=int, default=0, help="changes of phase in all")
    parser.add_argument("--engine", default="model")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--state", type=Path, default=None, help="where progress is kept")
    parser.add_argument("--sum", type=Path, nargs="+", help="only add up these state files")
    options = parser.parse_args(arguments)
    if options.sum:
        print(json.dumps({"benchmark": "soak-programs", **asdict(summed(map(_load, options.sum)))}))
        return 0
    path = options.state or cache_folder() / f"soak-programs-{options.seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(options.seed)
    if path.exists():
        progress = _load(path)

    def save(progress: Progress) -> None:
        write_whole(path, json.dumps(asdict(progress)) + "\n")
        if sys.stderr.isatty():
            print(f"\rsoak: {progress.cases} programs, {progress.changes} changes of phase", end="", file=sys.stderr)

    soak(progress, options.cases, options.changes, options.engine, save)
    print(json.dumps({"benchmark": "soak-programs", "engine": options.engine, **asdict(progress)}))
    return 1 if progress.faults else 0


if __name__ == "__main__":
    sys.exit(main())
