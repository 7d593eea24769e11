"""What a case of a proof comes to, with the tools themselves."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from amaranth.hdl import Assert, Assume, Cover, Module, Signal

from cosim.formal.book import load
from cosim.formal.proof import Case, Harness, Proof
from cosim.formal.run import prove, refute

BOOK = load()


def counter(limit: int, *, reached: int = 3) -> Proof:
    """A counter from 0 to 9, and the claim that it stays below ``limit``."""

    def build(shape: object) -> Harness:
        m = Module()
        count, stop = Signal(4), Signal()
        m.d.sync += count.eq(count + ~stop)
        with m.If(count == 9):
            m.d.sync += count.eq(0)
        m.d.comb += [Assert(count < limit), Cover(count == reached)]
        return Harness(m, [stop])

    return Proof("trial.count", build, (Case("odd"), Case("smallest")), "A counter.", depth=3, cover=6)


def test_true_property_is_proven_and_its_cover_reached(tmp_path: Path) -> None:
    outcome = prove(BOOK, counter(10), Case("smallest"), tmp_path)
    assert outcome.passed
    assert outcome.seconds > 0


def test_false_property_fails_with_its_place_and_a_waveform(tmp_path: Path) -> None:
    proof = counter(9)
    outcome = prove(BOOK, replace(proof, depth=12), Case("smallest"), tmp_path)
    assert not outcome.passed
    told = re.fullmatch(r"there is a counterexample: test_run\.py:\d+: see (.*\.vcd)", outcome.told)
    assert told is not None
    assert Path(told[1]).stat().st_size > 100


def test_property_that_is_true_and_not_inductive_is_not_proven(tmp_path: Path) -> None:
    outcome = prove(BOOK, counter(12), Case("smallest"), tmp_path)
    assert outcome.told.startswith("it holds from power-up, but the induction step does not: test_run.py:")


def test_cover_that_is_out_of_reach_fails_the_proof(tmp_path: Path) -> None:
    outcome = prove(BOOK, counter(10, reached=7), Case("smallest"), tmp_path)
    assert not outcome.passed
    assert re.fullmatch(r"a cover is out of reach: there is a counterexample: test_run\.py:\d+", outcome.told)


def test_contradicting_assumptions_prove_nothing(tmp_path: Path) -> None:
    def build(shape: object) -> Harness:
        m = Module()
        count = Signal(4, reset_less=True)
        m.d.sync += count.eq(count + 1)
        m.d.comb += [Assume(count == 0), Assert(count == 0)]
        return Harness(m, [])

    proof = Proof("trial.nothing", build, (Case("smallest"),), "Nothing.", cover=0)
    assert not prove(BOOK, proof, Case("smallest"), tmp_path).passed


def test_counterexample_has_its_length(tmp_path: Path) -> None:
    verdict = refute(BOOK, counter(4), Case("smallest"), 9, tmp_path)
    assert (verdict.status, verdict.steps) == ("FAIL", 5)
    assert refute(BOOK, counter(4), Case("smallest"), 3, tmp_path).status == "PASS"
