"""Signatures of operators, as their functions show them."""

from __future__ import annotations

from pointsman.runtime.api.substrate import Given, Signature


def test_the_kind_says_which_functions_an_application_calls() -> None:
    assert Signature("b", "broadcast", "int32*", 4).functions == ("load", "write", "read")
    assert Signature("c", "cshift", "int32*", 4).functions == ("load", "func")


def test_run_time_operands_have_the_sorts_of_their_kind() -> None:
    assert Signature("b", "broadcast", "int32*", 4, ("source",)).sorts == ("node",)
    assert Signature("c", "cshift", "int32*", 4, ("distance",)).sorts == ("distance",)
    assert Signature("p", "permute", "int32*", 4, ("permutation",)).sorts == ("permutation",)


def test_operators_with_a_function_combine() -> None:
    assert Signature("r", "reduce", "int32*", 4).combines
    assert not Signature("b", "barrier", "int32*", 0).combines


def test_without_run_time_values_there_is_one_combination() -> None:
    assert Signature("c", "cshift", "int32*", 4).values == (Given().numbers,)
