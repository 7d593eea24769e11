"""Mutants of images: one field changed, checksums made anew. The judge must refuse each that does not run right.

A mutant is of one of the programs of `mutant_programs`. What becomes of it: *unreadable*, the file is refused when it is written
or read; *refused* by the judge; *right*, accepted, and every node receives what the reference machine gives it under random
delays (`HARMLESS` says why); else a fault: *wrong*, *deadlock*, *crash* (of the run), *judge* (the judge itself fails or takes
too long). Can be stopped and gone on with.

    python tests/sim/cosim/image_mutants.py --mutants 1000 [--seed 0] [--table build/image-mutants.json]
    python tests/sim/cosim/image_mutants.py --only 4711          # a single mutant, with what was changed
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutant_programs import PROGRAMS, compiled, subject_of
from soak_everything import time_limit
from walker import FUNCTIONS, Walker

from cosim.errors import TooLongError
from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from pointsman.api.judged import judged, refuse_malformed
from pointsman.artifacts.container import ImageError
from pointsman.artifacts.images import images_from_bytes, images_to_bytes
from pointsman.artifacts.images.images import Images, listed_fields
from pointsman.cop import CopError
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.program.program import Program
from pointsman.report.figures.page import put_between
from pointsman.runtime import numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.verify.programs import program_differences
from pointsman.warm import estimate_and_judge, route, tell_time

RUNS = 2
"""Runs of a mutant that is accepted, each with other delays and run-time values."""
SECONDS = 60.0
"""CPU time for all of a mutant."""
MOST_CYCLES = 2_000_000
FAULTS = ("wrong", "deadlock", "crash", "judge")

TIMES = "time: words may come later or sooner, and none is taken for another"
UNUSED = "of an operator that closes a phase or brings messages, which no application calls"
FREE = "another that does as well: the choice is the compiler's"
PART = "of an operator that does the work of another, whose values count"
HARMLESS = {
    "Annotation.destination": "of a VFSM that passes no word for this value",
    "Annotation.forked": "of a VFSM that passes no word for this value",
    "Annotation.source": "of a VFSM that passes no word for this value",
    "Annotation.type": "a type of move that does the same there",
    "Combination.step": TIMES,
    "Images.loops": "an order of loops",
    "Images.operators": "operators that no node tells apart, as none of their words moves",
    "Images.passages": "an order of passages; or all nodes of a barrier stay in their last phase",
    "Images.promises": "an order of promises, which stand beside each other",
    "Images.replaced": "an order of replaced operators",
    "Instance.operands": PART,
    "LaneImage.after": TIMES,
    "LaneImage.after_all": TIMES,
    "LaneImage.data": "a word whose contents do not matter, or one that stays with its node",
    "LaneImage.pair": TIMES,
    "LaneImage.step": TIMES,
    "LaneImage.turn": UNUSED,
    "LaneImage.window": TIMES,
    "LaneImage.words": "the message's own length, in the other of two ways",
    "NodeImage.operators": UNUSED,
    "NodeImage.phases": "an order of phases, each of which says which it is",
    "NodeImage.ways": "an end of a node's ways, which only tells what need not be loaded ahead",
    "NodeOperator.enters": "another phase in which it continues, where the node may begin as well",
    "NodeOperator.role_of": "another role that does the same",
    "NodePhase.annotations": "of a VFSM that moves nothing before a load function has rewritten it",
    "NodePhase.schedule": "a slot that no word needs",
    "NodePhase.second": "a slot that no word needs",
    "NodePhase.settle": TIMES,
    "OnlineNode.inputs": "an order of channels",
    "OnlineNode.onward": "a node to which no message goes this way",
    "Operator.c": "how often an operator that does the work of another is called, about",
    "Operator.instances": UNUSED,
    "Operator.label": UNUSED,
    "Operator.m": UNUSED,
    "Operator.type": UNUSED,
    "Operator.valid": "an order of the nodes that take part",
    "OperatorImage.label": UNUSED,
    "OperatorImage.m": UNUSED,
    "OperatorImage.online": "queues numbered in another order",
    "OperatorImage.synchronised": "nodes that rewrite together though each might for itself",
    "OperatorImage.type": UNUSED,
    "OperatorImage.values": UNUSED,
    "PhaseImage.block": FREE,
    "PhaseImage.last": "fewer operators after which a node leaves, or any of them",
    "PhaseImage.operators": "an order of operators, which stand beside each other",
    "PhaseImage.order": "less that is known of the order",
    "PhaseImage.second": FREE,
    "PhaseImage.successors": "a phase that may follow and does not in this program",
    "PhaseImage.technique": "nodes that wait for a time that is none",
    "Promise.destinations": "an order of ends",
    "Promise.held": "a stream that ends in the same register in all stages",
    "Promise.phase": UNUSED,
    "Promise.words": "of an operator that continues, whose streams may carry more than promised",
    "Role.by_item": "a role with one lane or none, whose items are its message",
    "Role.combines": "a copy that nobody reads",
    "Role.commands": "a command that is sent twice",
    "Role.delay": TIMES,
    "Role.kind": "a call that moves nothing is allowed",
    "Role.lanes": UNUSED,
    "Role.local": "a node that reads what it has written itself, in the other of two ways",
    "Role.result": "a role that brings no message",
    "Role.rewrites": "an order of commands, all of which take effect before words come",
    "Role.switch": "the step before the first that has lanes",
    "Role.void": "a role that sends no message",
    "Runtime.block": "what the compiler was to aim at; beside the text it is compared",
    "Runtime.values": PART,
}
"""Why a mutant that is accepted and runs right does so, by field. A field of which that is not known is told."""

Step = tuple[str, Any]
"""("field", name) or ("item", index)."""


@dataclass
class Outcome:
    """What became of a mutant. ``field``: the class and field that were changed; ``said``: how, and by which rules it was
    refused."""

    kind: str
    field: str
    said: str


@dataclass
class Progress:
    """Counts by outcome and field, and numbers of mutants that are faults."""

    mutants: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    fields: dict[str, dict[str, int]] = field(default_factory=dict)
    faults: dict[str, list[int]] = field(default_factory=dict)


@cache
def subject(number: int) -> tuple[Program, Images] | None:
    """A program and its images; None if there are none."""
    try:
        with time_limit(SECONDS):
            return compiled(subject_of(number))
    except (CopError, PointsmanError):
        return None


def places(value: Any, way: tuple[Step, ...] = (), name: str = "") -> Iterator[tuple[str, tuple[Step, ...], Any]]:
    """(class and field, way to it, value) of everything in ``value`` that can be changed."""
    if is_dataclass(value):
        for one in fields(value):
            if one.name in ("shape", "topology") or one.name in listed_fields(type(value)):
                continue
            yield from places(
                getattr(value, one.name), (*way, ("field", one.name)), f"{type(value).__name__}.{one.name}"
            )
        return
    yield name, way, value
    if isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from places(item, (*way, ("item", number)), name)


@cache
def _by_field(number: int) -> dict[str, list[tuple[tuple[Step, ...], Any]]]:
    """By class and field, the ways to everything that can be changed in the images of a program, with its value."""
    one = subject(number)
    found: dict[str, list[tuple[tuple[Step, ...], Any]]] = {}
    for name, way, value in places(one[1]) if one is not None else ():
        found.setdefault(name, []).append((way, value))
    return found


def changed(whole: Any, way: tuple[Step, ...], value: Any) -> Any:
    """``whole`` with ``value`` at the end of ``way``."""
    if not way:
        return value
    (kind, at), *rest = way
    if kind == "field":
        return replace(whole, **{at: changed(getattr(whole, at), tuple(rest), value)})
    return (*whole[:at], changed(whole[at], tuple(rest), value), *whole[at + 1 :])


def mutations(value: Any, others: list[Any], chance: random.Random) -> Any:
    """Another value in place of this one."""
    several: list[Any] = [other for other in others if other != value][:20]
    if isinstance(value, bool):
        return not value
    if isinstance(value, int) or value is None:
        number = value or 0
        several += [number + 1, number - 1, 0, 1, 3, -1, 2**40, None if chance.random() < 0.2 else number + 2]
    elif isinstance(value, float):
        several += [value * 2, 0.0, -1.0]
    elif isinstance(value, str):
        several += ["nothing", ""]
    elif isinstance(value, tuple) and value:
        k, j = chance.randrange(len(value)), chance.randrange(len(value))
        several += [value[:k] + value[k + 1 :], value[:k] + value[k:][:1] + value[k:], value[::-1], ()]
        swapped = list(value)
        swapped[k], swapped[j] = swapped[j], swapped[k]
        several += [tuple(swapped)] * 2
    several = [one for one in several if one != value]
    return chance.choice(several) if several else value


def mutant(number: int, programs: Sequence[int] = range(PROGRAMS)) -> tuple[Program, Images, str, str] | None:
    """(program, changed images, field, what was changed) of a number; None if its program has no images or nothing changed."""
    chance = random.Random(f"mutant {number}")
    chosen = chance.choice(programs)
    found = subject(chosen)
    if found is None:
        return None
    program, images = found
    by_field = _by_field(chosen)
    name = chance.choice(sorted(by_field))
    way, value = chance.choice(by_field[name])
    others = [other for _, other in chance.sample(by_field[name], min(20, len(by_field[name])))]
    new = mutations(value, [other for other in others if type(other) is type(value)], chance)
    if new == value:
        return None
    steps = "".join(f".{at}" if kind == "field" else f"[{at}]" for kind, at in way)
    return program, changed(images, way, new), name, f"{steps}: {str(value)[:80]} -> {str(new)[:80]}"


def run_mutant(number: int, programs: Sequence[int] = range(PROGRAMS)) -> Outcome | None:
    """Make a mutant of one of these programs, judge it, and run it if it is accepted."""
    made = mutant(number, programs)
    if made is None:
        return None
    program, images, name, what = made
    try:
        images = images_from_bytes(images_to_bytes(images))
    except ImageError as error:
        return Outcome("unreadable", name, f"{what}: {error.message}")
    except Exception:
        return Outcome("judge", name, f"{what}: {traceback.format_exc(limit=-2)}")
    try:
        with time_limit(SECONDS):
            report = judged(images)
    except Exception:
        return Outcome("judge", name, f"{what}: {traceback.format_exc(limit=-2)}")
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return Outcome("judge", name, f"{what}: takes too long")
    if not report.ok:
        return Outcome("refused", name, f"{what}: {', '.join(report.rules)}")
    if program_differences(images, program):
        return Outcome("refused", name, f"{what}: not of the program")
    try:
        refuse_malformed(images)
    except PointsmanError as error:
        return Outcome("unreadable", name, f"{what}: {error.message}")
    for seed in range(RUNS):
        kind, said = run_images(program, images, number + seed)
        if kind != "right":
            return Outcome(kind, name, f"{what}: {said}")
    return Outcome("right", name, what)


def run_images(program: Program, images: Images, seed: int) -> tuple[str, str]:
    """Run images on the model of the hardware beside the reference machine; gives the outcome and what was said."""
    walker = Walker(program, seed, slowest=60, calls=True, fewer=True, late=False)
    expected = ReferenceMachine(program, "mutants", FUNCTIONS).run(walker.main)
    try:
        with Machine(images.shape, images.topology, engine="model", progress=False) as machine:
            nodes = [numesh_node(images, n, machine, functions=FUNCTIONS) for n in range(images.topology.nodes)]
            record = run_nodes(nodes, walker.main, machine, max_cycles=MOST_CYCLES)
            full = machine.state()["full"].any()
    except TooLongError as error:
        return "deadlock", error.message
    except PointsmanError as error:
        return "deadlock" if error.message.startswith("deadlock") else "crash", error.message[:200]
    except Exception:
        return "crash", traceback.format_exc(limit=-2)
    if record.results != expected.results:
        return "wrong", "a node has received something else"
    return ("wrong", "words are left over") if full else ("right", "")


def page_table(done: Progress) -> str:
    """What became of the mutants, and of those that are accepted and run right the fields by reason, as Markdown."""
    outcomes = ", ".join(
        f"{done.outcomes.get(kind, 0):,} {kind}" for kind in ("unreadable", "refused", "right", *FAULTS)
    )
    lines = [
        f"Of {done.mutants:,} mutants, some of which change nothing: {outcomes}.",
        "",
        "| accepted and right, as what is changed is … | fields, with how many of those tried |",
        "|---|---|",
    ]
    reasons: dict[str, list[str]] = {}
    for name, counts in sorted(done.fields.items()):
        if counts.get("right"):
            said = f"`{name}` {counts['right']} of {sum(counts.values())}"
            reasons.setdefault(HARMLESS.get(name, "not known"), []).append(said)
    lines += [f"| {reason} | {', '.join(named)} |" for reason, named in sorted(reasons.items())]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--page", type=Path, help="put what came of it into this page")
    parser.add_argument("--quiet", action="store_true")
    options = parser.parse_args()
    # Kernels are compiled before any time is limited.
    route()
    estimate_and_judge()
    tell_time()
    if options.only is not None:
        print(run_mutant(options.only))
        return
    path: Path | None = options.table
    done = Progress(**json.loads(path.read_text())) if path is not None and path.exists() else Progress()
    while done.mutants < options.mutants:
        number = options.seed + done.mutants
        outcome = run_mutant(number)
        done.mutants += 1
        if outcome is None:
            continue
        done.outcomes[outcome.kind] = done.outcomes.get(outcome.kind, 0) + 1
        counts = done.fields.setdefault(outcome.field, {})
        counts[outcome.kind] = counts.get(outcome.kind, 0) + 1
        if outcome.kind in FAULTS:
            done.faults.setdefault(outcome.kind, []).append(number)
        if not options.quiet and outcome.kind in (*FAULTS, "right"):
            print(f"{number} {outcome.kind} {outcome.field}{outcome.said}", flush=True)
        if path is not None and done.mutants % 10 == 0:
            write_whole(path, json.dumps(asdict(done), indent=1, sort_keys=True).encode())
    print(json.dumps(done.outcomes))
    if options.page is not None:
        marks = "<!-- begin mutants -->", "<!-- end of mutants -->"
        options.page.write_text(put_between(options.page.read_text(), *marks, page_table(done)))
    for name, counts in sorted(done.fields.items()):
        if counts.get("right"):
            print(
                f"{counts['right']:6} of {sum(counts.values()):6} right: {name}: {HARMLESS.get(name, 'why is not known')}"
            )


if __name__ == "__main__":
    main()
