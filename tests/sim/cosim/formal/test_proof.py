"""What proofs say of themselves, and that the books keep to it."""

from __future__ import annotations

import pytest

from cosim.formal.book import BLOCKS, load
from cosim.formal.proof import Case, Proof, each_shape, sentence

BOOK = load()


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


def test_a_case_is_named_by_its_shape_and_its_pipeline() -> None:
    assert [str(case) for case in (Case("odd"), Case("odd", 0), Case("odd", 2))] == ["odd", "odd.0", "odd.2"]


def test_the_property_is_the_first_line_of_what_the_harness_says() -> None:
    def build() -> None:
        """A word stays.

        And more."""

    assert sentence(build) == "A word stays."


@pytest.mark.parametrize("shapes", [["a"], ["a", "b"], ["a", "b", "c", "d"]])
def test_the_case_of_the_reduced_set_and_those_of_covers_are_among_the_cases(shapes: list[str]) -> None:
    proof = Proof("links.kept", lambda shape: None, each_shape(shapes), "A sentence.")
    assert [case.shape for case in proof.cases] == shapes
    assert proof.family == "links"
    assert proof.quick_case in proof.cases
    assert set(proof.covered) <= set(proof.cases)
    assert Proof("links.kept", lambda shape: None, proof.cases, "A sentence.", cover=0).covered == ()


@pytest.mark.parametrize("block", BLOCKS)
def test_cases_of_a_proof_occur_once_and_covers_take_no_longer_to_reach_than_there_are_cycles(block: str) -> None:
    for proof in load(block=block).proofs:
        assert len(set(proof.cases)) == len(proof.cases) > 0
        assert proof.depth >= 0
        assert not (proof.depth == 0 and proof.quick), "what needs no solver is proven in each run of the tests anyway"
