"""Faults are put into copies of the RTL, and fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cosim.formal.book import ROOT, load
from cosim.formal.mutate import MutantError, find, mutate
from cosim.formal.proof import Case, Mutant
from pointsman.errors import PointsmanError

BOOK = load()


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


def test_a_proof_is_found_by_its_name_and_others_are_told() -> None:
    assert find(BOOK, BOOK.proofs[-1].name) is BOOK.proofs[-1]
    with pytest.raises(PointsmanError, match=r"^there is no proof 'links'\n  hint: there are: links\.") as found:
        find(BOOK, "links")
    assert all(proof.name in str(found.value) for proof in BOOK.proofs)


def fault(before: str, after: str) -> Mutant:
    return Mutant("a-fault", "part.py", before, after, "links.kept", Case("a"), "none")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source" / "block" / "__pycache__").mkdir(parents=True)
    (tmp_path / "source" / "block" / "part.py").write_text("one\ntwo\ntwo\n")
    return tmp_path / "source"


def test_a_fault_is_in_the_copy_only_and_nothing_older_is_left_there(source: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / "old").touch()
    path = mutate(fault("one", "none"), copy, source=source, block="block")
    assert (path / "block" / "part.py").read_text() == "none\ntwo\ntwo\n"
    assert (source / "block" / "part.py").read_text() == "one\ntwo\ntwo\n"
    assert sorted(one.relative_to(copy).as_posix() for one in copy.rglob("*")) == [
        "hdl", "hdl/block", "hdl/block/part.py"
    ]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "times"), [("two", "one", 2), ("three", "one", 0), ("one", "one", 1)])
def test_a_fault_must_change_one_place(source: Path, tmp_path: Path, before: str, after: str, times: int) -> None:
    with pytest.raises(MutantError, match=f"must occur once in part.py, not {times} times$"):
        mutate(fault(before, after), tmp_path / "copy", source=source, block="block")
