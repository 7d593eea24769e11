"""What is proven of the switch only; `test_books.py` has what all have in common."""

from __future__ import annotations

from pathlib import Path

from cosim.formal.book import load
from cosim.formal.mutate import find, hunt, mutate

BOOK = load(block="tdm_switch")
QUICK = [proof.name for proof in BOOK.proofs if proof.quick]


def test_a_cell_that_does_not_see_its_slot_is_found(tmp_path: Path) -> None:
    """Table 2 as it is printed makes a matrix with two ones in a row."""
    mutant = BOOK.mutants[0]
    verdict = hunt(mutant, tmp_path, block="tdm_switch")
    assert verdict.status == "FAIL"
    assert verdict.failed.startswith("matrices.py:")


def test_every_mutant_fits_the_hardware_and_names_a_proof(tmp_path: Path) -> None:
    assert len(BOOK.mutants) >= 8
    for mutant in BOOK.mutants:
        mutate(mutant, tmp_path, block="tdm_switch")
        assert mutant.case in find(BOOK, mutant.proof).cases
