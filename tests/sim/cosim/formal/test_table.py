"""The pages of proofs, and the times that are kept for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cosim.formal.book import load
from cosim.formal.proof import Case, Proof
from cosim.formal.table import PAGE, PAGES, ProofTimes, page

BOOK = load()


def test_page_is_what_the_list_says() -> None:
    """`python -m cosim.formal --table` writes it. ProofTimes are of a machine, and may differ."""
    written = PAGE.read_text()
    told = re.sub(r"\| (\d+ s( \(\d of \d cases\))?|–) \|$", "| TIME |", written, flags=re.M)
    assert told == re.sub(r"\| (\d+ s( \(\d of \d cases\))?|–) \|$", "| TIME |", page(BOOK, ProofTimes({})), flags=re.M)


@pytest.mark.parametrize("block", ["tdm_switch", "packet_router"])
def test_page_of_all_proofs_is_that_of_the_book(block: str) -> None:
    def timeless(text: str) -> str:
        return re.sub(r"\| (\d+ s( \(\d of \d cases\))?|–) \|$", "| TIME |", text, flags=re.M)

    assert timeless(PAGES[block].read_text()) == timeless(page(load(block=block), ProofTimes({})))


PROOF = Proof("links.kept", lambda shape: None, (Case("a"), Case("b"), Case("a", 1)), "A sentence.")


def test_time_of_a_proof_is_the_sum_of_its_cases_and_says_how_many_are_missing() -> None:
    times = ProofTimes({})
    assert times.of(PROOF) == "–"
    times.note(PROOF, Case("a"), 1.26)
    times.note(PROOF, Case("a", 1), 2.0)
    assert times.of(PROOF) == "3 s (2 of 3 cases)"
    times.note(PROOF, Case("b"), 10.0)
    assert times.of(PROOF) == "13 s"


def test_a_failed_case_loses_its_time() -> None:
    times = ProofTimes({})
    times.note(PROOF, Case("a"), 1.0)
    times.note(PROOF, Case("a"), None)
    times.note(PROOF, Case("b"), None)
    assert times.seconds == {}


def test_times_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert ProofTimes.read(tmp_path).seconds == {}
    times = ProofTimes({"links.kept b": 2.0, "links.kept a": 1.5})
    times.write(tmp_path)
    assert ProofTimes.read(tmp_path).seconds == times.seconds


@pytest.mark.parametrize("block", PAGES)
def test_every_proof_and_every_mutant_has_a_row_of_its_table(block: str) -> None:
    book = load(block=block)
    rows = [line.split("|")[1:-1] for line in page(book, ProofTimes({})).splitlines() if line.startswith("| ")]
    first = [row[0].strip().split("`")[1] if "`" in row[0] else row[0].strip() for row in rows]
    for named in (*book.proofs, *book.mutants):
        assert first.count(named.name) == 1
    assert set(book.shapes) <= set(first)
