"""Functions that combine messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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


@pytest.mark.parametrize(
    ("kind", "function", "said", "hint"),
    [
        ("int32", lambda a, b: (a + b) / 2, "gives what is no int32: 2.5", "round it yourself"),
        ("int32", lambda a, b: 2**40, "gives what is no int32: 1099511627776", "from -2147483648 to 2147483647"),
        ("int32", lambda a, b: None, "gives what is no int32: None", None),
        ("int32", lambda a, b: np.array([a, b]), "gives what is no int32: an array of 2 items", None),
        ("float32", lambda a, b: 1e300, "gives what is no float32: 1e+300", "ends at"),
        ("int32", lambda a: a, "takes 1 positional argument but 2 were given", "takes two numbers and returns one"),
        (
            "int32*",
            lambda a, b: a,
            "takes 2 positional arguments but 3",
            "for type int32* it takes two inputs and the output",
        ),
        ("int32*", np.true_divide, "Cannot cast ufunc 'divide' output", "two inputs and the output"),
    ],
)
def test_a_function_that_gives_what_the_type_has_not_is_refused(
    kind: str, function: Callable[..., Any], said: str, hint: str | None
) -> None:
    signature = Signature("r", "reduce", kind, 1, source="a.cop:3:1")
    with pytest.raises(PointsmanError) as caught:
        combiner(signature, function)(np.array([2], np.uint32), np.array([3], np.uint32), np.zeros(1, np.uint32))
    assert caught.value.message.startswith("a.cop:3:1: the function that combines messages of 'r'")
    assert said in caught.value.message
    assert (hint or "") in (caught.value.hint or "")


def test_what_a_function_raises_itself_is_not_changed() -> None:
    def function(a: int, b: int) -> int:
        return a + len(b)  # type: ignore[arg-type]

    with pytest.raises(TypeError):
        combiner(Signature("r", "reduce", "int32", 1), function)(*np.zeros((3, 1), np.uint32))


@pytest.mark.parametrize("given", [np.float64(0.1), 0.1, np.float32(0.1), np.int16(7), 7, True])
def test_numbers_that_fit_are_taken_from_a_function_as_they_are(given: Any) -> None:
    out = np.zeros(1, np.uint32)
    combiner(Signature("r", "reduce", "float32", 1), lambda a, b: given)(*np.zeros((2, 1), np.uint32), out)
    assert out.view(np.float32)[0] == np.float32(given)


def test_no_number_and_infinity_are_results_like_others() -> None:
    one, other = (np.array([value], np.float32) for value in (np.inf, -np.inf))
    out = np.zeros(1, np.float32)
    for function, wanted in ((np.add, np.nan), (np.subtract, np.inf)):
        combiner(Signature("r", "reduce", "float32*", 1), function)(*(x.view(np.uint32) for x in (one, other, out)))
        assert np.array_equal(out, np.array([wanted], np.float32), equal_nan=True)


@pytest.mark.parametrize(
    "function", [lambda a, b, out: a + b, lambda a, b, out: int(a[0] + b[0]), lambda a, b, out: a.sum()]
)
def test_numbers_that_are_returned_and_not_written_are_refused(function: Callable[..., Any]) -> None:
    """The output would keep what it held, and the reduction give zeros."""
    signature = Signature("r", "reduce", "int32*", 2, source="a.cop:1:2")
    with pytest.raises(
        PointsmanError,
        match=r"^a\.cop:1:2: the function that combines messages of 'r' returns .*, and is to write it into its third argument",
    ) as refused:
        combiner(signature, function)(*np.ones((3, 2), np.uint32))
    assert refused.value.hint == "out[:] = …, for an array type; for a plain one it returns the number"


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b, out: np.add(a, b, out=out),
        lambda a, b, out: np.add(a, b, out)[:1],
        lambda a, b, out: (np.add(a[:1], b[:1], out[:1]), np.add(a[1:], b[1:], out[1:])),
    ],
)
def test_the_output_may_be_returned_as_well(function: Callable[..., Any]) -> None:
    one, other, out = np.array([[1, 2], [3, 4], [0, 0]], np.uint32)
    combiner(Signature("r", "reduce", "int32*", 2), function)(one, other, out)
    assert list(out) == [4, 6]
