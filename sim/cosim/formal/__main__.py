"""``python -m cosim.formal``: prove the properties of the RTL, one after the other."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pointsman.errors import PointsmanError

from .book import BLOCKS, load
from .mutate import find, hunt
from .proof import Book, Case, Proof
from .run import prove
from .table import ProofTimes, write_page
from .tools import prepare

FOLDER = Path("build") / "formal"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the proofs. Gives the exit status."""
    options = _parse(arguments)
    try:
        book = load(block=options.block)
        options.folder = options.folder if book.block == "numesh" else options.folder / book.block
        chosen = _choose(book, options.only)
        if options.list:
            for proof in chosen:
                print(f"{proof.name:<26} {proof.sentence}")
            return 0
        prepare(options.folder)
        if options.table:
            print(f"wrote {write_page(book, ProofTimes.read(options.folder))}")
            return 0
        if options.mutants:
            return _mutants(book, options.only, options.folder)
        return _proofs(book, chosen, options)
    except PointsmanError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cosim.formal", description=main.__doc__, allow_abbrev=False)
    parser.add_argument(
        "--only", metavar="NAME", action="append", help="this proof, family or mutant; may be given several times"
    )
    parser.add_argument("--block", choices=BLOCKS, default=BLOCKS[0], help="of which hardware (default %(default)s)")
    parser.add_argument("--shape", metavar="NAME", help="only this shape")
    parser.add_argument("--list", action="store_true", help="list the proofs and run nothing")
    parser.add_argument("--quick", action="store_true", help="a reduced set: a shape each, no covers (under a minute)")
    parser.add_argument("--mutants", action="store_true", help="put faults into the RTL and see them found")
    parser.add_argument(
        "--table", action="store_true", help="write docs/proofs_table.md, with the times of the last runs"
    )
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help=f"where designs, logs and traces go (default {FOLDER})"
    )
    return parser.parse_args(arguments)


def _choose(book: Book, only: Sequence[str] | None) -> tuple[Proof, ...]:
    if not only:
        return book.proofs
    known = {proof.family for proof in book.proofs} | {mutant.name for mutant in book.mutants}
    for name in only:
        if name not in known:
            find(book, name)
    return tuple(proof for proof in book.proofs if proof.name in only or proof.family in only)


def _cases(book: Book, proof: Proof, shape: str | None, *, quick: bool) -> tuple[Case, ...]:
    if shape is not None and shape not in book.shapes:
        raise PointsmanError(f"there is no shape {shape!r}", hint=f"there are: {', '.join(book.shapes)}")
    cases = ((proof.quick_case,) if proof.quick else ()) if quick else proof.cases
    return tuple(case for case in cases if shape in (None, case.shape))


def _proofs(book: Book, proofs: Sequence[Proof], options: argparse.Namespace) -> int:
    began = time.perf_counter()
    times = ProofTimes.read(options.folder)
    passed = failed = 0
    for proof in proofs:
        for case in _cases(book, proof, options.shape, quick=options.quick):
            print(f"{proof.name:<26} {case!s:<11} ", end="", flush=True)
            outcome = prove(book, proof, case, options.folder, covers=not options.quick)
            print(f"{'proven' if outcome.passed else 'FAILED'} in {outcome.seconds:.1f} s", flush=True)
            if outcome.passed:
                passed += 1
            else:
                failed += 1
                print(f"    {proof.sentence}\n    {outcome.told}", flush=True)
            if not options.quick:
                times.note(proof, case, outcome.seconds if outcome.passed else None)
                times.write(options.folder)
    print(f"{passed} proven, {failed} failed in {time.perf_counter() - began:.0f} s")
    if not passed and not failed:
        raise PointsmanError("nothing was proven: no proof has this shape")
    return 1 if failed else 0


def _mutants(book: Book, only: Sequence[str] | None, folder: Path) -> int:
    found = 0
    chosen = [mutant for mutant in book.mutants if not only or mutant.name in only or mutant.proof in only]
    if not chosen:
        raise PointsmanError("there is no such mutant", hint="there are: " + ", ".join(m.name for m in book.mutants))
    for mutant in chosen:
        print(f"{mutant.name:<30} {mutant.proof} ({mutant.case}): ", end="", flush=True)
        verdict = hunt(mutant, folder / "mutants", block=book.block)
        if verdict.status == "FAIL":
            found += 1
            told = f"in {verdict.steps} cycles" if verdict.steps else verdict.failed
            print(f"found {told}, {verdict.seconds:.1f} s", flush=True)
        else:
            print(f"NOT FOUND ({verdict.status}) {verdict.failed}", flush=True)
    print(f"{found} of {len(chosen)} faults found")
    return 0 if found == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
