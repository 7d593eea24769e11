"""Online operators as an application sees them: their run-time values are not listed one by one."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.numesh.online_port import online_signature


@pytest.mark.parametrize(
    ("text", "runtime", "partial", "ranges"),
    [
        ("(broadcast 'o (runtime) :m 2)", ("source",), (), [(0, 1, 2, 3)]),
        ("(broadcast 'o (runtime :distributed t) :m 2)", ("source",), ("source",), [(0, 1, 2, 3)]),
        ("(broadcast 'o 1 :m 2)", (), (), []),
    ],
)
def test_what_a_node_may_give(
    by_hand: ModuleType, text: str, runtime: tuple[str, ...], partial: tuple[str, ...], ranges: list[tuple[int, ...]]
) -> None:
    (program,) = compile_text(text, topology=mesh(4)).operators()
    image = replace(by_hand.stream_1x2().operators[0], label="o", kind="broadcast")
    signature = online_signature(image, program)
    assert (signature.label, signature.kind, signature.runtime, signature.partial) == (
        "o",
        "broadcast",
        runtime,
        partial,
    )
    assert signature.ranges is not None
    assert [tuple(legal) for legal in signature.ranges] == ranges
