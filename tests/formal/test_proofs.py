"""What is proven of the node only; `test_books.py` has what all have in common."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from cosim.formal.book import load
from cosim.formal.mutate import find, hunt
from numesh import codes

BOOK = load()
view = import_module("proofs_of_numesh.view")
QUICK = [proof.name for proof in BOOK.proofs if proof.quick]


def test_reduced_set_looks_at_several_pipelines() -> None:
    assert all(BOOK.shapes[find(BOOK, name).quick_case.shape].pipelines > 1 for name in QUICK)


def test_latencies_that_are_proven_are_those_that_are_stated() -> None:
    way = view.SCHEDULE_LATENCY + view.SLOT_LATENCY
    assert way == codes.FIRST_READ, "from the first address to the first read stage"
    executes, fetch = 1, 1  # cycles from MEMADR; of the stage between schedule and annotations
    assert executes + 1 + way == codes.POINTER_LATENCY, "a pointer command decides the address of the next cycle"
    assert executes + way == codes.ENTRY_LATENCY, "an entry can be read in the cycle in which it is written"
    annotation = executes + 1 + view.SLOT_LATENCY - fetch
    assert annotation == codes.ANNOTATION_LATENCY, "an annotation can be read in the next cycle"


def test_a_fault_is_found(tmp_path: Path) -> None:
    mutant = BOOK.mutants[0]
    verdict = hunt(mutant, tmp_path)
    assert verdict.status == "FAIL"
    assert 0 < verdict.steps <= mutant.cycles
    assert verdict.failed.startswith("links.py:")
