"""Books of proofs name what is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cosim.formal.book import BLOCKS, ROOT, load
from pointsman.errors import PointsmanError


def test_folder_without_proofs_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PointsmanError, match=r"^there are no proofs in .*\n  hint: run this in the source tree"):
        load(tmp_path)


@pytest.mark.parametrize("block", BLOCKS)
def test_every_proof_names_a_file_that_exists_and_every_file_of_proofs_is_used(block: str) -> None:
    folder = ROOT / "tests" / "formal" / block
    families = {proof.family for proof in load(block=block).proofs}
    missing = {family for family in families if not (folder / f"{family}.py").exists()}
    assert missing == set()
    silent = {path.stem for path in folder.glob("*.py") if "Proof(" in path.read_text()} - families - {"book"}
    assert silent == set()


@pytest.mark.parametrize("block", BLOCKS)
def test_every_mutant_names_a_file_of_its_block_and_a_case_with_a_shape(block: str) -> None:
    book = load(block=block)
    assert book.block == block
    assert book.mutants
    for mutant in book.mutants:
        assert (ROOT / "hdl" / block / mutant.file).is_file()
        assert mutant.case.shape in book.shapes
    for proof in book.proofs:
        assert {case.shape for case in proof.cases} <= set(book.shapes)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_has_a_folder_of_hardware_and_its_book_is_read_once(block: str) -> None:
    assert (ROOT / "hdl" / block / "__init__.py").exists()
    assert load(block=block) is load(block=block)
