"""The soak of everything: random programs over all operators (``everything``) on every target, until there are enough of them.

A case is compiled with the default options, judged, and run by `walker.Walker` under random delays of its processors; what every
node receives must be what the reference machine gives it. Can be stopped and gone on with.

    python tests/sim/cosim/soak_everything.py [--target numesh|tdm|packet|all] [--seed 0] [--cases 10000]
    python tests/sim/cosim/soak_everything.py --target numesh --only 4711          # a single case, with its text
    python tests/sim/cosim/soak_everything.py --target tdm --mesh 4x2 --text FILE --seed 3
    python tests/sim/cosim/soak_everything.py --target numesh --asking             # some operators with an :impl

Outcomes: *ok*; *wrong*, a node has received something else, or words are left over; *deadlock*; *crash*, any other end of the
run, a traceback of the compiler, or images that the judge does not pass; *refused*, by its reason without names and numbers,
whether the program fits the hardware or not; *slow*, not done in time; *illegal*, refused by the language, which is the
generator's fault.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from everything import NETWORKS, Case, case_of, network_named
from walker import FUNCTIONS, Walker

from cosim.errors import TooLongError
from cosim.numesh.machine import Machine
from cosim.packet.session import packet_machine
from cosim.session import run_nodes
from cosim.tdm.model import switch_machine
from cosim.tdm.prediction import best_tables
from numesh.shape import NodeShape
from pointsman.api.judged import judged
from pointsman.api.targets.packet import packet_shape
from pointsman.artifacts.tables import tables_from_bytes, tables_to_bytes
from pointsman.cop import CopError, compile_text
from pointsman.errors import PointsmanError
from pointsman.files import cache_folder, write_whole
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Program
from pointsman.runtime import numesh_node
from pointsman.runtime.api.requests import Category, Wait
from pointsman.runtime.packet import packet_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.runtime.tdm import tdm_node
from pointsman.targets.numesh import make_images
from pointsman.targets.packet import make_packet_program
from pointsman.targets.tdm import make_tables
from pointsman.verify.tables import check_tables
from tdm_switch.shape import SwitchShape

TARGETS = ("numesh", "tdm", "packet")
KEPT = Path(__file__).with_name("kept_everything")
MOST_PORTS = 20
"""Most ports of a switch: its model takes long for many."""
MOST_CYCLES = 3_000_000
LATE = 2_000
"""Cycles after the end of a program by which words that nobody reads have gone."""
SECONDS = 120.0
"""Most CPU time of a case, compiling, judging and running."""
TRIES = 300
"""Most programs that are tried to shrink a case."""


@dataclass(frozen=True)
class Outcome:
    """How a case went: a class of the module's first lines, and what was said."""

    kind: str
    message: str = ""
    node_cycles: int = 0
    seconds: float = 0.0

    @property
    def rule(self) -> str:
        """The message without what is different from program to program."""
        text = self.message.splitlines()[0] if self.message else ""
        text = re.sub(r"\S+:\d+:\d+:?(, line \d+)?", "<cop>", text)
        text = re.sub(r"'[^']*'", "'…'", text)
        return re.sub(r"-?\d+(, -?\d+)*", "N", text)[:160]


@dataclass
class Progress:
    """What has been run so far."""

    target: str
    seed: int
    cases: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    reasons: dict[str, dict[str, int]] = field(default_factory=dict)
    """By class other than ok, what was said: how often."""
    faults: dict[str, list[int]] = field(default_factory=dict)
    """By class other than ok, the seeds."""
    networks: dict[str, int] = field(default_factory=dict)
    asking: bool = False
    """Do operators ask for implementations? Most programs of those that are refused ask for what cannot do the operator."""
    node_cycles: int = 0
    seconds: float = 0.0


class _TimeUpError(BaseException):
    """The case takes too long."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise `_TimeUpError` after so much CPU time.

    Later if numba is about to load or to compile a kernel, as it does not recover from an exception there, or if operators are
    forgotten, as an exception comes to nothing in the callback of a weak reference.
    """

    def up(_: int, frame: FrameType | None) -> None:
        if frame and frame.f_globals.get("__name__") == "pointsman.operators.api.cached":
            return
        while frame:
            if frame.f_globals.get("__name__", "").startswith("numba."):
                return
            frame = frame.f_back
        raise _TimeUpError

    before = signal.signal(signal.SIGPROF, up)
    signal.setitimer(signal.ITIMER_PROF, seconds, 0.1)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


# -- the targets ---------------------------------------------------------------------------------------------------------


def _numesh(program: Program, case: Case, engine: str) -> tuple[Any, Callable[[int, Any], Any]]:
    topology = program.topology
    images = make_images(make_plan(program, NodeShape(neighbours=max(4, topology.ports)), name="soak"))
    report = judged(images)
    if not report.ok:
        raise AssertionError(f"the judge: {report.render()}")
    machine = Machine(images.shape, topology, engine="model" if engine == "auto" else engine, progress=False)  # type: ignore[arg-type]
    return machine, lambda node, on: numesh_node(images, node, on, functions=FUNCTIONS)


def _tdm(program: Program, case: Case, engine: str) -> tuple[Any, Callable[[int, Any], Any]]:
    shape = SwitchShape(ports=program.topology.nodes, slots=case.slots)
    if case.mode == "auto":
        tables = best_tables(program, shape, name="soak")
    else:
        tables = make_tables(program, shape, mode=case.mode, name="soak")  # type: ignore[arg-type]
    read = tables_from_bytes(tables_to_bytes(tables))
    if read != tables:
        raise AssertionError("the file does not give the tables that were written")
    found = check_tables(tables)
    if found:
        raise AssertionError(f"the judge: {found[0]}")
    machine = switch_machine(tables.shape, "model" if engine == "auto" else engine)  # type: ignore[arg-type]
    return machine, lambda node, on: tdm_node(tables, node, on, functions=FUNCTIONS)


def _packet(program: Program, case: Case, engine: str) -> tuple[Any, Callable[[int, Any], Any]]:
    made = make_packet_program(program, packet_shape(program.topology), name="soak", addresses=None)
    return packet_machine(made, "model" if engine == "auto" else engine), lambda node, on: packet_node(
        made, node, on, functions=FUNCTIONS
    )


MAKERS = {"numesh": _numesh, "tdm": _tdm, "packet": _packet}


# -- a case --------------------------------------------------------------------------------------------------------------


def run_case(case: Case, engine: str = "auto", *, seconds: float = SECONDS) -> Outcome:
    """Compile, judge and run a case."""
    began = time.process_time()
    try:
        with time_limit(seconds):
            found = _run(case, engine)
    except _TimeUpError:
        found = Outcome("slow", f"not done after {seconds:.0f} s of CPU time")
    return replace(found, seconds=time.process_time() - began)


def _run(case: Case, engine: str) -> Outcome:
    topology = network_named(case.network)
    try:
        program = compile_text(case.text, topology=topology)
    except CopError as error:
        return Outcome("illegal", error.message)
    walker = Walker(program, case.seed, slowest=case.slowest, calls=True, fewer=True, late=False)
    try:
        expected = ReferenceMachine(program, "soak", FUNCTIONS).run(walker.main)
    except Exception as error:
        return Outcome("illegal", f"reference machine: {_said(error)}")
    if expected.unread:
        return Outcome("illegal", expected.unread[0])
    try:
        machine, node_of = MAKERS[case.target](program, case, engine)
    except PointsmanError as error:
        return Outcome("refused", error.message)
    except Exception as error:
        return Outcome("crash", _said(error))
    with machine:
        nodes = [node_of(number, machine) for number in range(topology.nodes)]
        try:
            record = run_nodes(nodes, walker.main, machine, max_cycles=MOST_CYCLES)
        except TooLongError as error:
            return Outcome("slow", error.message)
        except PointsmanError as error:
            return Outcome("deadlock" if error.message.startswith("deadlock") else "crash", error.message)
        except Exception as error:
            return Outcome("crash", _said(error))
        left = _stand(machine)
        if left:
            # The program's end waits for no word that every node lets pass, such as those beyond a destination given at run time.
            machine.run([_idle(LATE), *[None] * (topology.nodes - 1)])
            left = _stand(machine)
    cycles = record.nodes * record.total_cycles
    for number, (got, wanted) in enumerate(zip(record.results, expected.results, strict=False)):
        if got != wanted:
            return Outcome("wrong", f"node {number} {_difference(got, wanted)}", cycles)
    if left:
        return Outcome("wrong", "words are left over", cycles)
    return Outcome("ok", "", cycles)


def _stand(machine: Any) -> bool:
    """Do words stand in the hardware?"""
    state = machine.state()
    return state is not None and bool(state["full"].any() or ("held" in state and state["held"].any()))


def _idle(cycles: int) -> Iterator[Wait]:
    yield Wait(cycles, Category.CPU)


def _said(error: Exception) -> str:
    if isinstance(error, PointsmanError):
        return error.message
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error)[:1000]} at {Path(at.filename).name} in {at.name}"


def _difference(got: Sequence[Any], wanted: Sequence[Any]) -> str:
    at = next(
        (k for k, (one, two) in enumerate(zip(got, wanted, strict=False)) if one != two), min(len(got), len(wanted))
    )
    one, two = (str(side[at])[:200] if at < len(side) else "nothing" for side in (got, wanted))
    return f"received {one} instead of {two}"


# -- shrinking -----------------------------------------------------------------------------------------------------------

Tree = list["Tree | str"]
GROUPS = ("sequential", "loop", "parallel", "optional", "phase", "subset", "doall")


def parse(text: str) -> Tree:
    """Text as lists of words; a quoted list begins with the word that is a quote."""
    top: Tree = []
    stack = [top]
    for word in re.findall(r"'?\(|\)|[^\s()]+", text):
        if word == ")":
            stack.pop()
        elif word.endswith("("):
            inner: Tree = ["'"] if word == "'(" else []
            stack[-1].append(inner)
            stack.append(inner)
        else:
            stack[-1].append(word)
    return top


def show(tree: Tree | str) -> str:
    """The text of a tree."""
    if isinstance(tree, str):
        return tree
    quote = "'" if tree[:1] == ["'"] else ""
    return f"{quote}({' '.join(show(one) for one in tree[len(quote) :])})"


def smaller(tree: Tree, *, top: bool = True) -> Iterator[Tree]:
    """Trees with a part fewer, a group taken off, a smaller number or an option fewer."""
    head = "program" if top else tree[0] if tree else ""
    for k, part in enumerate(tree):
        before, after = tree[:k], tree[k + 1 :]
        if isinstance(part, list) and part[:1] != ["'"]:
            if head == "program" or head in GROUPS:
                if len(tree) > 1:
                    yield [*before, *after]
                if part and part[0] in GROUPS:
                    yield [*before, *part[{"loop": 3, "subset": 2, "doall": 2}.get(str(part[0]), 1) :], *after]
            for other in smaller(part, top=False):
                yield [*before, other, *after]
        elif isinstance(part, str) and part.startswith(":") and k + 1 < len(tree):
            yield [*before, *tree[k + 2 :]]
            following = tree[k + 1]
            if part == ":m" and isinstance(following, str) and int(following) > 1:
                for m in {1, 2, int(following) // 2, int(following) - 1} - {int(following)}:
                    yield [*before, ":m", str(m), *tree[k + 2 :]]
        elif head == "loop" and k == 2 and part != "1":
            yield [*before, "1", *after]


def shrink(case: Case, engine: str = "auto", tries: int = TRIES) -> Case:
    """A smaller case that goes wrong in the same way."""
    first = run_case(case, engine)

    def same(other: Case) -> bool:
        found = run_case(other, engine, seconds=max(10.0, 2 * first.seconds))
        return found.kind == first.kind and found.rule[:40] == first.rule[:40]

    if case.slowest and same(replace(case, slowest=0)):
        case = replace(case, slowest=0)
    going = True
    while going and tries > 0:
        going = False
        for tree in smaller(parse(case.text)):
            tries -= 1
            other = replace(case, text="\n".join(map(show, tree)))
            if same(other):
                case, going = other, True
                break
            if tries <= 0:
                break
    return case


def keep(case: Case, outcome: Outcome, folder: Path) -> Path:
    """Write a case where others find it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{case.target}_{case.seed}.json"
    plain = {**asdict(case), "outcome": outcome.kind, "why": outcome.message[:1500]}
    write_whole(path, json.dumps(plain, indent=1) + "\n")
    return path


def kept(path: Path) -> Case:
    """A case that was kept."""
    values = json.loads(path.read_text())
    return Case(**{name: value for name, value in values.items() if name not in ("outcome", "why")})


# -- the soak ------------------------------------------------------------------------------------------------------------


def networks_of(target: str) -> tuple[str, ...]:
    """Names of the networks on which a target is run."""
    if target == "tdm":
        # A switch has no links between nodes that could be faulty.
        return tuple(name for name in NETWORKS if "-" not in name and network_named(name).nodes <= MOST_PORTS)
    return NETWORKS


def soak(
    progress: Progress,
    cases: int,
    engine: str,
    save: Callable[[Progress], None],
    *,
    folder: Path | None = None,
    shrunk: bool = False,
) -> None:
    """Run cases until there are enough; ``save`` is called after each. What goes wrong is written to ``folder``, by class."""
    while progress.cases < cases:
        case = case_of(
            progress.seed + progress.cases, progress.target, networks_of(progress.target), asking=progress.asking
        )
        outcome = run_case(case, engine)
        progress.cases += 1
        progress.node_cycles += outcome.node_cycles
        progress.seconds += outcome.seconds
        progress.networks = dict(Counter(progress.networks) + Counter([case.network]))
        progress.outcomes = dict(Counter(progress.outcomes) + Counter([outcome.kind]))
        if outcome.kind != "ok":
            said = progress.reasons.setdefault(outcome.kind, {})
            said[outcome.rule] = said.get(outcome.rule, 0) + 1
            progress.faults.setdefault(outcome.kind, []).append(case.seed)
            if folder is not None and said[outcome.rule] <= 5:
                found = shrink(case, engine) if shrunk else case
                keep(found, outcome, folder / case.target / outcome.kind)
        save(progress)


def table(progress: Progress) -> str:
    """What came out, as text."""
    lines = [
        f"{progress.target}: {progress.cases} programs, " + ", ".join(f"{k} {n}" for k, n in progress.outcomes.items())
    ]
    for kind, said in sorted(progress.reasons.items()):
        lines += [f"  {kind:9s}{count:5d}  {rule}" for rule, count in sorted(said.items(), key=lambda one: -one[1])]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--target", choices=[*TARGETS, "all"], default="all")
    parser.add_argument("--cases", type=int, default=10_000, help="programs on each target in all")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--only", type=int, help="run this seed and no other, and show it")
    parser.add_argument("--text", type=Path, help="with --mesh: run this program; --seed is the walker's")
    parser.add_argument(
        "--mesh", help="network of --text, for instance 4x4, torus:3x3, diamond:2 or 4x4-5 without node 5"
    )
    parser.add_argument("--slowest", type=int, default=60, help="longest delay of a processor with --text, in cycles")
    parser.add_argument("--slots", type=int, default=4, help="slots of a switch with --text")
    parser.add_argument("--mode", default="preload", help="mode of a switch with --text")
    parser.add_argument("--asking", action="store_true", help="some operators ask for an implementation (:impl)")
    parser.add_argument("--shrink", action="store_true", help="make cases that go wrong smaller")
    parser.add_argument("--folder", type=Path, help="where cases that go wrong are written, by target and class")
    parser.add_argument("--state", type=Path, help="where progress is kept")
    parser.add_argument("--table", type=Path, help="write what came out to this file (JSON)")
    options = parser.parse_args(arguments)
    targets = TARGETS if options.target == "all" else (options.target,)
    if options.only is not None or options.text is not None:
        return max(_single(options, target) for target in targets)
    faults = 0
    done = []
    for target in targets:
        path = options.state or cache_folder() / f"soak-everything-{target}-{options.seed}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        progress = Progress(target, options.seed, asking=options.asking)
        if path.exists():
            progress = Progress(**json.loads(path.read_text()))

        def save(progress: Progress, path: Path = path) -> None:
            write_whole(path, json.dumps(asdict(progress)) + "\n")
            if sys.stderr.isatty():
                print(f"\rsoak: {progress.target}, {progress.cases} programs", end="", file=sys.stderr)

        soak(progress, options.cases, options.engine, save, folder=options.folder, shrunk=options.shrink)
        print(table(progress), file=sys.stderr)
        done.append(asdict(progress))
        faults += sum(map(len, progress.faults.values()))
    summary = json.dumps({"benchmark": "soak-everything", "engine": options.engine, "targets": done})
    if options.table is not None:
        write_whole(options.table, summary + "\n")
    print(summary)
    return 1 if faults else 0


def _single(options: argparse.Namespace, target: str) -> int:
    if options.text is not None:
        case = Case(
            options.seed,
            options.mesh,
            options.text.read_text(),
            options.slowest,
            target,
            options.slots,
            options.mode,
        )
    else:
        case = case_of(options.only, target, networks_of(target), asking=options.asking)
    outcome = run_case(case, options.engine)
    if options.shrink and outcome.kind != "ok":
        case = shrink(case, options.engine)
        outcome = run_case(case, options.engine)
    switch = f", {case.slots} slots, mode {case.mode}" if target == "tdm" else ""
    print(f"{target} {case.network}, delays up to {case.slowest}{switch}, seed {case.seed}\n{case.text}")
    print(f"{outcome.kind}: {outcome.message}".rstrip(": "))
    return int(outcome.kind != "ok")


if __name__ == "__main__":
    sys.exit(main())
