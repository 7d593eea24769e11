"""A seqread or seqwrite of which other operators stand for the parts: what each node may do."""

from __future__ import annotations

import pytest

from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.api.replaced_sequence import ReplacedSequence
from pointsman.runtime.api.substrate import Given, Permission, Signature


def _loaded(node: int, end: int) -> Permission:
    (operator,) = compile_text("(seqread 's '(0 1) (runtime) :m 1)", topology=mesh(4)).operators()

    class _Part:
        async def load(self, given: Given) -> Permission:
            return Permission("none")

    signature = Signature("s/stream", "stream", "int32*", 1)
    port = ReplacedSequence(operator, node, [(signature, _Part())] * 2)  # type: ignore[list-item]
    try:
        port.load(Given((end,))).send(None)
    except StopIteration as ended:
        part: Permission = ended.value
        return part
    raise AssertionError("it waits for something")


def test_the_chain_writes_the_end_reads_and_others_do_nothing() -> None:
    assert [_loaded(node, 3).kind for node in range(4)] == ["write", "write", "none", "read"]


def test_the_end_may_not_be_one_of_the_chain() -> None:
    with pytest.raises(PointsmanError, match="s_load: node 1 is one of the chain and cannot be its end"):
        _loaded(0, 1)
