"""Optional arguments of operators (Metcalf 1997, A.3)."""

from __future__ import annotations

import pytest

from pointsman.cop import CopError, compile_text
from pointsman.network import mesh


def operator(text: str):
    (found,) = compile_text(text, topology=mesh(4)).operators()
    return found


def test_an_argument_of_its_own_goes_before_a_default() -> None:
    assert operator("(defaults :m 7 :b 1/4) (broadcast 'a 0 :m 3)").m == 3
    assert operator("(defaults :m 7 :b 1/4) (broadcast 'a 0 :m 3)").b == 0.25


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        (":m 0", ":m"),
        (":b 2", ":b must be more than 0 and at most 1, or *min*, not 2"),
        (":type 'int8", "a type must be one of int32, float32, int64 and float64"),
        (":impl 3", ":impl must be the name of an implementation, not 3"),
        (":valid '(0 4)", ":valid node 4 is outside the network (0..3)"),
        (":valid '(1 1)", ":valid names node 1 twice"),
    ],
)
def test_values_that_are_refused(argument: str, said: str) -> None:
    with pytest.raises(CopError) as found:
        operator(f"(broadcast 'a 0 {argument})")
    assert said in str(found.value)


def test_least_bandwidth_has_a_name() -> None:
    assert operator("(broadcast 'a 0 :b *min*)").b == "min"


@pytest.mark.parametrize(
    ("named", "hint"),
    [
        ("uint8*", "messages of int32* take values of uint8"),
        ("int", "messages of int32 take values of int"),
        ("uint32*", "messages of int64* take values of uint32"),
        ("double", "messages of float64 take values of double"),
        ("flota32*", "did you mean 'float32*'?"),
    ],
)
def test_the_type_that_takes_the_values_of_another_is_told(named: str, hint: str) -> None:
    with pytest.raises(CopError) as found:
        operator(f"(broadcast 'a 0 :type '{named})")
    assert found.value.hint == hint
