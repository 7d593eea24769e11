"""A reduced set of the proofs of the packet router, each for one shape; `make formal` runs them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cosim.formal.book import load
from cosim.formal.mutate import find, hunt, mutate
from cosim.formal.run import prove
from cosim.formal.table import PAGES, Times, page

BOOK = load(block="packet_router")
QUICK = [proof.name for proof in BOOK.proofs if proof.quick]


@pytest.mark.parametrize("name", QUICK)
def test_property_is_proven(name: str, tmp_path: Path) -> None:
    proof = find(BOOK, name)
    outcome = prove(BOOK, proof, proof.quick_case, tmp_path / "formal", covers=False)
    assert outcome.passed, outcome.told


def test_reduced_set_has_every_family_that_needs_the_solver() -> None:
    assert {find(BOOK, name).family for name in QUICK} == {proof.family for proof in BOOK.proofs if proof.depth}


def test_an_arbiter_without_turns_is_found(tmp_path: Path) -> None:
    mutant = next(mutant for mutant in BOOK.mutants if mutant.name == "always-the-lowest")
    verdict = hunt(mutant, tmp_path, block="packet_router")
    assert verdict.status == "FAIL"
    assert verdict.failed.startswith("turns.py:")


def test_every_mutant_fits_the_hardware_and_names_a_proof(tmp_path: Path) -> None:
    assert {mutant.proof for mutant in BOOK.mutants} == {proof.name for proof in BOOK.proofs if proof.depth}
    for mutant in BOOK.mutants:
        mutate(mutant, tmp_path, block="packet_router")
        assert mutant.case in find(BOOK, mutant.proof).cases


def test_page_of_all_proofs_is_that_of_the_book() -> None:
    def timeless(text: str) -> str:
        return re.sub(r"\| (\d+ s( \(\d of \d cases\))?|–) \|$", "| TIME |", text, flags=re.M)

    assert timeless(PAGES["packet_router"].read_text()) == timeless(page(BOOK, Times({})))


@pytest.mark.slow
@pytest.mark.parametrize("mutant", BOOK.mutants, ids=lambda mutant: mutant.name)
def test_every_fault_is_found(mutant, tmp_path: Path) -> None:
    assert hunt(mutant, tmp_path, block="packet_router").status == "FAIL"


@pytest.mark.slow
@pytest.mark.parametrize("proof", BOOK.proofs, ids=lambda proof: proof.name)
def test_property_is_proven_and_not_vacuous(proof, tmp_path: Path) -> None:
    outcome = prove(BOOK, proof, proof.quick_case, tmp_path / "formal")
    assert outcome.passed, outcome.told
