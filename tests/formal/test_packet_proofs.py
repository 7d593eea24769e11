"""What is proven of the packet router only; `test_books.py` has what all have in common."""

from __future__ import annotations

from pathlib import Path

from cosim.formal.book import load
from cosim.formal.mutate import find, hunt, mutate

BOOK = load(block="packet_router")
QUICK = [proof.name for proof in BOOK.proofs if proof.quick]


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
