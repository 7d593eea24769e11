"""What applications see of the operators in images."""

from __future__ import annotations

from types import ModuleType

from pointsman.runtime.numesh.signatures import signature_of


def test_its_signature_is_that_of_the_image(by_hand: ModuleType) -> None:
    operator = by_hand.stream_1x2().operators[0]
    signature = signature_of(operator)
    assert (signature.label, signature.kind, signature.m) == ("s", "stream", operator.m)
    assert signature.values == ((),)
