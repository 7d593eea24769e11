"""Functions that combine messages."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.api.combine import KNOWN, Combiner, combiner, function_named
from pointsman.runtime.api.substrate import Signature


def test_the_application_s_functions_come_before_the_known_ones() -> None:
    own = {"add": np.subtract}
    assert function_named(Signature("r", "reduce", "int32*", 4, function="add"), own) is np.subtract
    assert function_named(Signature("r", "reduce", "int32*", 4, function="max"), own) is KNOWN["max"]
    assert function_named(Signature("r", "reduce", "int32*", 4), own) is np.add


def test_a_function_that_nobody_has_is_told_with_its_place_and_a_suggestion() -> None:
    signature = Signature("r", "reduce", "int32*", 4, function="mni", source="a.cop:3:1")
    with pytest.raises(PointsmanError, match=r"^a\.cop:3:1: operator 'r' names the function mni, which") as caught:
        function_named(signature, {})
    assert "min" in (caught.value.hint or "")


@pytest.mark.parametrize("kind", ["int32*", "uint32*", "float32*", "int64*", "float64*", "uint8*"])
def test_words_are_combined_as_items_of_the_type(kind: str) -> None:
    dtype = np.dtype(kind.rstrip("*"))
    left = np.arange(1, 9).astype(dtype)
    right = np.arange(3, 11).astype(dtype)
    out = np.zeros_like(left)
    combine = combiner(Signature("r", "reduce", kind, left.nbytes // 4), np.multiply)
    combine(left.view(np.uint32), right.view(np.uint32), out.view(np.uint32))
    assert out.tolist() == [a * b for a, b in zip(left.tolist(), right.tolist(), strict=True)]


def test_the_result_may_stand_where_an_input_did() -> None:
    left, right = np.array([5, 6], np.uint32), np.array([1, 2], np.uint32)
    combiner(Signature("r", "reduce", "uint32*", 2), np.add)(left, right, left)
    assert left.tolist() == [6, 8]


def test_a_message_of_a_plain_type_is_one_item() -> None:
    out = np.zeros(1, np.uint32)
    combine = combiner(Signature("r", "reduce", "int32", 1), lambda a, b: a - b)
    combine(np.array([3], np.uint32), np.array([5], np.uint32), out)
    assert out.view(np.int32)[0] == -2


def test_items_are_known_to_be_combined_apart_only_if_the_function_is_numpy_s() -> None:
    assert Combiner(np.add, np.dtype(np.float64), array=True).item == 2
    assert Combiner(np.add, np.dtype(np.uint8), array=True).item == 1
    assert Combiner(np.matmul, np.dtype(np.int32), array=True).item is None
    assert Combiner(lambda a, b, out: None, np.dtype(np.int32), array=True).item is None
