"""Sections of array assignments."""

from __future__ import annotations

import pytest

from pointsman.arrays.errors import ArrayProgramError
from pointsman.arrays.tree.affine import Affine
from pointsman.arrays.tree.mapping import Array
from pointsman.arrays.tree.sections import Section, SectionReference, array_assignment, whole

ARRAYS = {"a": Array("a", ((1, 9), (1, 9))), "b": Array("b", ((1, 9),))}


def test_sections_share_indices_in_their_order() -> None:
    value = SectionReference("b", (Section(Affine(9), Affine(1), -2),))
    target = SectionReference("a", (Affine.of("k"), Section(Affine(1), Affine(5))))
    made = array_assignment(target, value, ARRAYS)
    assert str(made.target) == "a(k,section'1+1)"
    assert str(made.value) == "b(-2*section'1+9)"
    assert [str(one) for one in made.indices] == ["section'1 = 0:4:1"]
    assert len(whole(ARRAYS["a"]).subscripts) == 2


def test_symbolic_sections_of_one_length() -> None:
    n = Affine.of("n")
    made = array_assignment(
        SectionReference("b", (Section(Affine(2), n),)), SectionReference("b", (Section(Affine(1), n - 1),)), ARRAYS
    )
    assert str(made.indices[0].high) == "n-2"


def test_ranks_and_lengths_must_agree() -> None:
    with pytest.raises(ArrayProgramError, match="a has 2 sections and b, to which it is assigned, 1"):
        array_assignment(whole(ARRAYS["b"]), whole(ARRAYS["a"]), ARRAYS)
    part = SectionReference("b", (Section(Affine(1), Affine(4)),))
    with pytest.raises(ArrayProgramError, match="has 4 elements and that of b, to which it is assigned, 9"):
        array_assignment(whole(ARRAYS["b"]), part, ARRAYS)
    unknown = SectionReference("b", (Section(Affine(1), Affine.of("n"), 2),))
    with pytest.raises(ArrayProgramError, match="an unknown length"):
        array_assignment(unknown, part, ARRAYS)
