"""A reduced set of the proofs of each block, each for one shape; `make formal` runs them all."""

from __future__ import annotations

from pathlib import Path

import pytest

from cosim.formal.book import load
from cosim.formal.mutate import hunt
from cosim.formal.proof import Mutant, Proof
from cosim.formal.run import prove

BOOKS = {block: load(block=block) for block in ("numesh", "tdm_switch", "packet_router", "host")}
PROOFS = [
    pytest.param(block, proof, id=f"{block}-{proof.name}") for block, book in BOOKS.items() for proof in book.proofs
]
QUICK = [one for one in PROOFS if one.values[1].quick]
MUTANTS = [pytest.param(block, one, id=f"{block}-{one.name}") for block, book in BOOKS.items() for one in book.mutants]


@pytest.mark.long
@pytest.mark.parametrize(("block", "proof"), QUICK)
def test_property_is_proven(block: str, proof: Proof, tmp_path: Path) -> None:
    outcome = prove(BOOKS[block], proof, proof.quick_case, tmp_path / "formal", covers=False)
    assert outcome.passed, outcome.told


@pytest.mark.parametrize("block", BOOKS)
def test_reduced_set_has_every_family_that_needs_the_solver(block: str) -> None:
    proofs = BOOKS[block].proofs
    assert {proof.family for proof in proofs if proof.quick} == {proof.family for proof in proofs if proof.depth}


@pytest.mark.slow
@pytest.mark.parametrize(("block", "mutant"), MUTANTS)
def test_every_fault_is_found(block: str, mutant: Mutant, tmp_path: Path) -> None:
    assert hunt(mutant, tmp_path, block=block).status == "FAIL"


@pytest.mark.slow
@pytest.mark.parametrize(("block", "proof"), PROOFS)
def test_property_is_proven_and_not_vacuous(block: str, proof: Proof, tmp_path: Path) -> None:
    outcome = prove(BOOKS[block], proof, proof.quick_case, tmp_path / "formal")
    assert outcome.passed, outcome.told
