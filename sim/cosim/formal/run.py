"""Runs a case of a proof."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .proof import Book, Case, Harness, Proof
from .tools import Verdict, run


@dataclass(frozen=True)
class ProofOutcome:
    """Result of a case.

    Attributes
    ----------
    passed : bool
        The property is proven and every cover was reached.
    seconds : float
        CPU time of the tools.
    told : str
        The failed property or cover, or an error.
    """

    passed: bool
    seconds: float
    told: str = ""


def prove(book: Book, proof: Proof, case: Case, folder: Path, *, covers: bool = True) -> ProofOutcome:
    """Prove ``proof`` for ``case``, and reach its covers."""
    here = folder / proof.name / str(case)
    if not proof.depth:
        return _search(book, proof, case, here)
    rtlil = translate(build(book, proof, case))
    verdict = run(rtlil, "prove", proof.depth, here / "prove")
    seconds = verdict.seconds
    if verdict.status != "PASS":
        return ProofOutcome(False, seconds, _told(verdict))
    if case in proof.covered and covers:
        verdict = run(rtlil, "cover", proof.cover, here / "cover")
        seconds += verdict.seconds
        if verdict.status != "PASS":
            return ProofOutcome(False, seconds, f"a cover is out of reach: {_told(verdict)}")
    return ProofOutcome(True, seconds)


def refute(book: Book, proof: Proof, case: Case, cycles: int, folder: Path) -> Verdict:
    """Look for a counterexample of ``proof`` within ``cycles`` from power-up. "FAIL" means that there is one."""
    here = folder / proof.name / str(case)
    if not proof.depth:
        outcome = _search(book, proof, case, here)
        return Verdict("PASS" if outcome.passed else "FAIL", outcome.seconds, outcome.told)
    return run(translate(build(book, proof, case)), "bmc", cycles, here / "refute")


def build(book: Book, proof: Proof, case: Case) -> Harness:
    """The harness of a case."""
    shape = book.shapes[case.shape]
    harness = proof.build(shape) if case.pipeline is None else proof.build(shape, case.pipeline)
    assert isinstance(harness, Harness)
    return harness


def translate(harness: Harness) -> str:
    """The harness as RTLIL, with the module ``top``."""
    from amaranth.back import rtlil

    text = rtlil.convert(harness.top, name="top", ports=harness.inputs)
    assert isinstance(text, str)
    return text


def _search(book: Book, proof: Proof, case: Case, folder: Path) -> ProofOutcome:
    before = os.times()
    found = proof.build(book.shapes[case.shape], folder)
    after = os.times()
    used = sum(after[:4]) - sum(before[:4])
    return ProofOutcome(not found, used, ", ".join(found[:10]))


def _told(verdict: Verdict) -> str:
    what = {
        "FAIL": "there is a counterexample",
        "UNKNOWN": "it holds from power-up, but the induction step does not",
        "TIMEOUT": "time is up",
    }.get(verdict.status, "the tools failed")
    parts = [what, verdict.failed] + ([f"see {verdict.trace}"] if verdict.trace else [])
    return ": ".join(part for part in parts if part)
