"""Faults in the compiler's source: one place of ``plan``, ``routing``, ``operators`` or ``targets/numesh`` changed. Who finds it?

A fault is a comparison, a sign, a number, a truth value or a call of ``min`` or ``max`` turned round. Some programs are compiled
with it, judged, and run on the model of the hardware under random delays. *crash*: the compiler fails; *refused*: it refuses a
program; *judge*: the judge refuses its images; *tests*: none of these, but the tests of the module fail. What survives is *same*:
the images are those of the right compiler, or *other*: other images, which are right (a choice has changed, at most time is
lost). *accepted*, images that the judge takes and that do not run right, is a fault of the judge. Can be stopped and gone on
with.

    python tests/sim/cosim/source_mutants.py --mutants 100 [--table build/source-mutants.json]
    python tests/sim/cosim/source_mutants.py --only 17           # a single fault, with its place
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "sw/pointsman"
ROOMS = ("plan", "routing", "operators", "targets/numesh")
SEEDS = (3, 8)
"""Random programs (`everything`) that are compiled, after `TEXTS`."""
TEXTS = (
    ("2x2", "(loop 'l 3 (broadcast 'a (runtime) :m 4) (cshift 'b 1 :m 3) (allreduce 'c 'add :m 2)) (barrier 'd)"),
    (
        "3x2",
        "(parallel (stream 's 0 5 :m 9) (gather 'g 2 :m 2)) (prefix 'p 'max :m 3) (permute 'q '(1 0 3 2 5 4) :m 2)",
    ),
    ("3x1", "(loop 'l 2 (optional (reduce 'r 'add 1 :m 2)) (spread 's 0 :m 3) (collect 'c 2)) (broadcast 'b 2 :m 30)"),
    (
        "3x1",
        "(loop 'l 2 (collect 'c (runtime) :m 3 :impl 'str_collect_tree) (cshift 'd (runtime) :m 2 :impl 'dyn_shift))",
    ),
    ("4x1", "(loop 'l 3 (broadcast 'a 0 :m 1) (stream 's (runtime) 2 :m 2) (broadcast 'b 3 :m 2))"),
)
SECONDS = 120
"""CPU time for a fault."""
TURNED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Fault:
    """A changed place: the module's file, its line, what it was and what it is."""

    path: Path
    number: int

    @property
    def module(self) -> str:
        return ".".join(self.path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


@cache
def _files() -> tuple[Path, ...]:
    """Modules in which faults are put. Kernels are left out: their machine code is kept, by what stands in the file."""
    found = [path for room in ROOMS for path in sorted((SOURCE / room).rglob("*.py"))]
    return tuple(path for path in found if "kernels import" not in path.read_text() and any(_places(path)))


def _places(path: Path) -> Iterator[ast.AST]:
    """Nodes of a module that can be turned round."""
    tree = ast.parse(path.read_text())
    # Annotations and defaults of classes decide nothing.
    for node in ast.walk(tree):
        if (
            (isinstance(node, ast.Compare) and len(node.ops) == 1)
            or (isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in TURNED)
            or (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in CALLS)
            or (isinstance(node, ast.Constant) and type(node.value) in (bool, int))
            or (isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not))
        ):
            yield node


def fault_of(number: int) -> Fault:
    """The fault of a number."""
    chance = random.Random(f"source mutant {number}")
    path = chance.choice(_files())
    return Fault(path, chance.randrange(sum(1 for _ in _places(path))))


def changed(fault: Fault) -> tuple[CodeType, str]:
    """The module with the fault, and what was changed."""
    tree = ast.parse(fault.path.read_text())
    places = list(_places(fault.path))
    wanted = places[fault.number]
    said = ""

    class Turn(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            nonlocal said
            self.generic_visit(node)
            at = getattr(node, "lineno", None), getattr(node, "col_offset", None), type(node)
            if said or at != (wanted.lineno, wanted.col_offset, type(wanted)):  # type: ignore[attr-defined]
                return node
            if ast.dump(node) != ast.dump(wanted):
                return node
            before = ast.unparse(node)
            new = _turned(node)
            said = f"{fault.path.relative_to(SOURCE)}:{at[0]}: {before[:70]} -> {ast.unparse(new)[:70]}"
            return ast.copy_location(new, node)

    tree = ast.fix_missing_locations(Turn().visit(tree))
    return compile(tree, str(fault.path), "exec"), said


def _turned(node: Any) -> ast.AST:
    if isinstance(node, ast.Compare):
        node.ops = [TURNED[type(node.ops[0])]()]
    elif isinstance(node, ast.BinOp | ast.BoolOp):
        node.op = TURNED[type(node.op)]()
    elif isinstance(node, ast.Call):
        node.func = ast.Name(CALLS[node.func.id], ast.Load())
    elif isinstance(node, ast.UnaryOp):
        return node.operand
    else:
        node = ast.Constant(not node.value if isinstance(node.value, bool) else node.value + 1)
    return node


class _Hook(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module with a fault."""

    def __init__(self, fault: Fault, code: CodeType) -> None:
        self.fault, self.code = fault, code

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:
        if name != self.fault.module:
            return None
        package = [str(self.fault.path.parent)] if self.fault.path.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, self.fault.path, loader=self, submodule_search_locations=package
        )

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        return None

    def exec_module(self, module: Any) -> None:
        exec(self.code, module.__dict__)


def outcome_of(fault: Fault | None, right: Sequence[str]) -> tuple[str, str]:
    """(outcome, what was said) of a fault; without one, what is written of each program. In a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.signal(signal.SIGPROF, lambda *_: os._exit(3))
        try:
            said = ""
            if fault is not None:
                code, said = changed(fault)
                sys.meta_path.insert(0, _Hook(fault, code))
            found = _tried(right)
            if fault is not None and found[0] in ("same", "other") and _fails(fault):
                found = "tests", f"({found[0]})"
            answer = [found[0], f"{said} {found[1]}".strip()]
        except BaseException:
            answer = ["crash", f"{said} {traceback.format_exc(limit=-1)}"]
        with os.fdopen(writing, "w") as file:
            file.write(json.dumps(answer))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    if not text:
        return "crash", f"{changed(fault)[1] if fault else ''} takes too long"
    kind, message = json.loads(text)
    return kind, message


def _fails(fault: Fault) -> bool:
    """Do the tests of a module with a fault fail? They stand in a file of the same name; else all of its folder are run."""
    import pytest

    own = fault.path.relative_to(SOURCE.parent)
    tests = ROOT / "tests/sw" / own.parent / f"test_{own.name}"
    if not tests.exists():
        tests = ROOT / "tests/sw" / own.parent
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        code = pytest.main(["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", str(tests)])
    return code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def _tried(right: Sequence[str]) -> tuple[str, str]:
    from everything import case_of, network_named
    from image_mutants import run_images
    from soak_everything import networks_of

    from numesh.shape import NodeShape
    from pointsman.api.judged import judged
    from pointsman.artifacts.images import images_to_bytes
    from pointsman.cop import compile_text
    from pointsman.errors import PointsmanError
    from pointsman.plan.make_plan import make_plan
    from pointsman.targets.numesh import make_images
    from pointsman.verify.programs import program_differences

    cases = [case_of(seed, "numesh", networks_of("numesh"), words=12, operators=(1, 2, 3)) for seed in SEEDS]
    programs = [*TEXTS, *((case.network, case.text) for case in cases)]
    digests: list[str] = []
    for number, (network, text) in enumerate(programs):
        topology = network_named(network)
        program = compile_text(text, topology=topology)
        try:
            images = make_images(make_plan(program, NodeShape(neighbours=max(4, topology.ports)), name="source"))
        except PointsmanError as error:
            if right and right[number] != "refused":
                return "refused", error.message[:150]
            digests.append("refused")
            continue
        digest = hashlib.sha256(images_to_bytes(images)).hexdigest()
        digests.append(digest)
        if right and digest == right[number]:
            continue
        report = judged(images)
        differences = program_differences(images, program)
        kind, said = run_images(program, images, number)
        if not report.ok or differences:
            return "judge", f"{', '.join(report.rules) or differences[0]}; it runs {kind}"
        if kind != "right":
            return "accepted", said
    if not right:
        return "right", json.dumps(digests)
    return ("same", "") if digests == list(right) else ("other", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--only", type=int)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    path: Path | None = options.table
    done: dict[str, list[str]] = json.loads(path.read_text()) if path is not None and path.exists() else {}
    kind, said = outcome_of(None, ())
    if kind != "right":
        sys.exit(f"the right compiler: {kind}: {said}")
    right = json.loads(said)
    for number in range(options.mutants) if options.only is None else [options.only]:
        if str(number) in done and options.only is None:
            continue
        done[str(number)] = list(outcome_of(fault_of(number), right))
        print(number, *done[str(number)], flush=True)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(done, indent=1))
    kinds = [kind for kind, _ in done.values()]
    print(json.dumps({kind: kinds.count(kind) for kind in sorted(set(kinds))}))


if __name__ == "__main__":
    main()
