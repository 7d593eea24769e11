"""``--dry``: a program by its meaning alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pointsman.api.targets.reference import run_dry
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime import Node, WrongAnswer


def application(expected: int) -> Any:
    async def main(node: Node) -> Any:
        await node.cop.b_load()
        if node.number == 0:
            await node.cop.b_write(np.array([7], np.int32))
            return 7
        return int((await node.cop.b_read())[0])

    def check(results: list[int]) -> str:
        if results != [expected] * 2:
            raise WrongAnswer(f"{results}")
        return "all have it"

    return SimpleNamespace(functions={}, main=main, check=check)


@pytest.mark.parametrize(("expected", "text"), [(7, "right: all have it"), (8, "WRONG: [7, 7]")])
def test_the_answer_is_checked_without_hardware(expected: int, text: str) -> None:
    program = compile_text("(broadcast 'b 0 :m 1)", topology=mesh(2))
    done = run_dry(program, "one", application(expected), 1.5)
    assert done.text.splitlines()[0] == text
    assert done.results["correct"] is (expected == 7)
    assert done.results["target"] == "reference"
    assert done.results["seconds"] >= 1.5
