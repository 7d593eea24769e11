"""Codes of places and their kinds are each other's inverse."""

from __future__ import annotations

import pytest

from cosim.benches.numesh.models.places import KINDS, code_of, kind_of
from numesh.codes import Codes
from numesh.shape import NodeShape

CODES = Codes(NodeShape(pipelines=3, vfsms=8, schedule_depth=16, neighbours=3, registers=5, width=12))


@pytest.mark.parametrize("kind", KINDS)
def test_a_code_of_a_kind_is_of_that_kind(kind: str) -> None:
    assert {kind_of(CODES, code_of(CODES, kind, number)) for number in range(40)} == {kind}


def test_every_code_has_a_kind() -> None:
    assert {kind_of(CODES, code) for code in range(1 << CODES.place_bits)} == set(KINDS)
