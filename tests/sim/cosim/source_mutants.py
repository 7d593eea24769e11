"""Faults in the compiler's source: one place of ``plan``, ``routing``, ``operators`` or ``targets/numesh`` changed. Who finds it?

A fault is a comparison, a sign, a number, a truth value or a call of ``min`` or ``max`` turned round. Programs that come to the
changed line (`coverage`) are compiled with it, judged, and run on the model of the hardware under random delays. *crash*: the
compiler fails; *refused*: it refuses a program; *judge*: the judge refuses its images; *tests*: none of these, but tests that
import the module fail. What survives is *same*: the images are those of the right compiler; *other*: other images, which are
right (a choice has changed, at most time is lost); *unreached*: no program comes to the line. *accepted*, images that the judge
takes and that do not run right, is a fault of the judge. Can be stopped and gone on with.

One process imports the compiler and loads its kernels; each fault is tried in a fork of it, in which the code of the changed
function is exchanged. What is carried out on import (numbers of a module, defaults) is changed in a process of its own. Kernels
are left out: their machine code is kept by what stands in the file, and each would take a minute to compile.

    python tests/sim/cosim/source_mutants.py --mutants 100 [--table build/source-mutants.json]
    python tests/sim/cosim/source_mutants.py --only 17           # a single fault, with its place
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import gc
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import json
import os
import random
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

ROOT = Path(__file__).resolve().parents[3]
SOURCE = ROOT / "sw/pointsman"
ROOMS = ("plan", "routing", "operators", "targets/numesh")
MOST_PROGRAMS = 6
"""Programs that are compiled with a fault: the quickest that come to its line."""
SECONDS = 90
"""CPU time for the programs of a fault, and for its tests. Tests that take longer say nothing."""
MOST_TESTS = 3
"""Files of tests that are run for a fault."""
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


def coverage(path: Path | None) -> list[tuple[str, dict[str, list[int]]]]:
    """Of each program: what the right compiler writes, and by file the lines of the compiler that it comes to. Kept in ``path``
    for as long as the compiler stays as it is."""
    import source_programs

    sources = (*_files(), Path(source_programs.__file__))
    stamp = hashlib.sha256(b"".join(file.read_bytes() for file in sources)).hexdigest()
    if path is not None and path.exists():
        known = json.loads(path.read_text())
        if known["stamp"] == stamp:
            return [tuple(one) for one in known["programs"]]
    files = {str(one) for one in _files()}
    found = []
    for number in range(len(source_programs.programs())):
        found.append(_in_fork(lambda number=number: source_programs.covered(number, files), SECONDS * 10) or ("", {}))
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"stamp": stamp, "programs": found}))
    return found


def _in_fork(work: Callable[[], Any], seconds: float) -> Any:
    """What ``work`` gives in a fork of this process; None if it fails or takes too long."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.close(reading)
            signal.signal(signal.SIGPROF, lambda *_: os._exit(3))
            signal.setitimer(signal.ITIMER_PROF, seconds)
            answer = json.dumps(work())
            with os.fdopen(writing, "w") as file:
                file.write(answer)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        text = file.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else None


def _functions(code: CodeType) -> Iterator[CodeType]:
    """Functions and methods of a module, without those inside them."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & inspect.CO_OPTIMIZED:
                yield one
            else:
                yield from _functions(one)


def _body(code: CodeType) -> object:
    """What a module does on import, without what its functions do."""
    inner = [
        _body(one) for one in code.co_consts if isinstance(one, CodeType) and not one.co_flags & inspect.CO_OPTIMIZED
    ]
    return code.co_code, code.co_names, [one for one in code.co_consts if not isinstance(one, CodeType)], inner


def exchange(fault: Fault) -> bool:
    """Exchange the code of the changed function wherever it is known; False if the module has not been imported yet."""
    old, new = compile(fault.path.read_text(), str(fault.path), "exec"), changed(fault)[0]
    wanted = {one: other for one, other in zip(_functions(old), _functions(new), strict=True) if one != other}
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__ in wanted:
            function.__code__ = wanted[function.__code__]
    return fault.module in sys.modules


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


def tests_of(fault: Fault) -> list[Path]:
    """Tests that import the module of a fault, that of its own name first."""
    own = ROOT / "tests/sw" / fault.path.relative_to(SOURCE.parent).parent / f"test_{fault.path.name}"
    found = [own] if own.exists() else []
    for path in sorted((ROOT / "tests/sw/pointsman").rglob("test_*.py")):
        if path != own and f"from {fault.module} import" in path.read_text():
            found.append(path)
    return found[:MOST_TESTS]


def tests_fail(fault: Fault) -> bool:
    """Do the tests of a module with a fault fail?"""
    import pytest

    files = [str(path) for path in tests_of(fault)]
    if not files:
        return False
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        code = pytest.main(["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:xdist", *files])
    return code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def outcome_of(number: int, known: Sequence[tuple[str, dict[str, list[int]]]]) -> tuple[str, str]:
    """(outcome, what was changed and said) of the fault of a number."""
    fault = fault_of(number)
    code, said = changed(fault)
    line = int(said.partition(":")[2].partition(":")[0])
    on_import = _body(compile(fault.path.read_text(), str(fault.path), "exec")) != _body(code)
    every = [k for k, (_, lines) in enumerate(known) if on_import or line in lines.get(str(fault.path), ())]
    reached = every[:: max(1, len(every) // MOST_PROGRAMS)][:MOST_PROGRAMS]
    right = [known[k][0] for k in reached]

    def answer(what: str) -> Any:
        if on_import:
            call = [sys.executable, __file__, "--only", str(number), "--alone", what, json.dumps([reached, right])]
            done = subprocess.run(call, capture_output=True, text=True, timeout=SECONDS * 20, check=False)
            lines = done.stdout.splitlines()
            return json.loads(lines[-1]) if done.returncode == 0 and lines else None

        def work() -> Any:
            # A module that is not imported yet, which no program comes to, is imported with its fault.
            if not exchange(fault):
                sys.meta_path.insert(0, _Hook(fault, code))
            return done_with(fault, what, reached, right)

        return _in_fork(work, SECONDS)

    kind, more = answer("programs") or ("crash", "it fails or takes too long")
    if kind in ("same", "other", "unreached"):
        failed = answer("tests")
        if failed is None:
            more = "(its tests take too long)"
        elif failed:
            kind, more = "tests", f"({kind})"
    return kind, f"{said} {more}".strip()


def done_with(fault: Fault, what: str, reached: Sequence[int], right: Sequence[str]) -> Any:
    """Try a fault, which is in the compiler by now, on tests or programs."""
    import source_programs

    return tests_fail(fault) if what == "tests" else source_programs.tried(reached, right)


def alone(number: int, what: str, tried_on: str) -> Any:
    """A fault in what is done on import: the compiler is imported with it."""
    fault = fault_of(number)
    sys.meta_path.insert(0, _Hook(fault, changed(fault)[0]))
    return done_with(fault, what, *json.loads(tried_on))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=100)
    parser.add_argument("--only", type=int)
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--table", type=Path)
    options = parser.parse_args()
    if options.alone is not None:
        print(json.dumps(alone(options.only, *options.alone)))
        return
    # The compiler is imported and its kernels are loaded before any fork.
    import source_programs  # noqa: F401

    from pointsman.warm import estimate_and_judge, route, tell_time

    route()
    estimate_and_judge()
    tell_time()
    path: Path | None = options.table
    done: dict[str, list[str]] = json.loads(path.read_text()) if path is not None and path.exists() else {}
    known = coverage(path.with_suffix(".coverage.json") if path is not None else None)
    for number in range(options.mutants) if options.only is None else [options.only]:
        if str(number) in done and options.only is None:
            continue
        done[str(number)] = list(outcome_of(number, known))
        print(number, *done[str(number)], flush=True)
        if path is not None and options.only is None:
            path.write_text(json.dumps(done, indent=1))
    kinds = [kind for kind, _ in done.values()]
    print(json.dumps({kind: kinds.count(kind) for kind in sorted(set(kinds))}))


if __name__ == "__main__":
    main()
