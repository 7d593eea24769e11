"""Puts faults into a copy of the RTL and shows that proofs find them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from pointsman.errors import PointsmanError

from .book import ROOT, load
from .proof import Book, Case, Mutant, Proof
from .run import refute
from .tools import Verdict


class MutantError(PointsmanError):
    """A mutant that does not fit the RTL."""


def find(book: Book, name: str) -> Proof:
    """The proof of this name.

    Raises
    ------
    PointsmanError
        If there is none.
    """
    for proof in book.proofs:
        if proof.name == name:
            return proof
    raise PointsmanError(f"there is no proof {name!r}", hint="there are: " + ", ".join(p.name for p in book.proofs))


def mutate(mutant: Mutant, folder: Path, *, source: Path = ROOT / "hdl", block: str = "numesh") -> Path:
    """Copy ``source`` into ``folder`` with the fault. Gives the folder for the import path.

    Raises
    ------
    MutantError
        If the text to replace does not occur once.
    """
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder / "hdl", ignore=shutil.ignore_patterns("__pycache__"))
    path = folder / "hdl" / block / mutant.file
    text = path.read_text()
    if text.count(mutant.before) != 1 or mutant.after == mutant.before:
        times = text.count(mutant.before)
        raise MutantError(f"mutant {mutant.name}: the text must occur once in {mutant.file}, not {times} times")
    path.write_text(text.replace(mutant.before, mutant.after))
    return folder / "hdl"


def hunt(mutant: Mutant, folder: Path, *, block: str = "numesh") -> Verdict:
    """Look for a counterexample of the mutant's proof, in a process that imports the faulty RTL.

    Raises
    ------
    MutantError
        If the fault cannot be put in, or the faulty RTL cannot be built.
    """
    here = (folder / mutant.name).resolve()
    path = mutate(mutant, here, block=block)
    search = os.pathsep.join(filter(None, (str(path), os.environ.get("PYTHONPATH"))))
    arguments = [
        mutant.proof,
        mutant.case.shape,
        json.dumps(mutant.case.pipeline),
        str(mutant.cycles),
        str(here / "run"),
        block,
    ]
    result = subprocess.run(
        [sys.executable, "-m", "cosim.formal.mutate", str(path), *arguments],
        env=os.environ | {"PYTHONPATH": search},
        capture_output=True,
        text=True,
        check=False,
        timeout=900,
    )
    if result.returncode:
        raise MutantError(f"mutant {mutant.name}: {(result.stdout + result.stderr)[-800:]}")
    said = json.loads(result.stdout.splitlines()[-1])
    return Verdict(said["status"], said["seconds"], said["failed"], steps=said["steps"])


def _main(path: str, name: str, shape: str, pipeline: str, cycles: str, folder: str, block: str) -> None:
    faulty = import_module(block).__file__

    if faulty is None or Path(path) not in Path(faulty).parents:
        raise SystemExit(f"the faulty RTL is not the one imported: {faulty}")
    book = load(block=block)
    verdict = refute(book, find(book, name), Case(shape, json.loads(pipeline)), int(cycles), Path(folder))
    told = {"status": verdict.status, "seconds": verdict.seconds, "failed": verdict.failed, "steps": verdict.steps}
    print(json.dumps(told))


if __name__ == "__main__":
    _main(*sys.argv[1:])
