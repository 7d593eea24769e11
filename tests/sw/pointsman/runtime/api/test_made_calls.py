"""Calls that an application has made and not awaited."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import pointsman
from pointsman import cop
from pointsman.errors import PointsmanError
from pointsman.runtime import Application, Node
from pointsman.runtime.api.made_calls import MadeCalls, NotAwaited

APPLICATION = """
from pointsman import cop
from pointsman.runtime import Application


class Forgetful(Application):
    def program(self, net):
        return cop.loop("l", 2, cop.cshift("c", 1, m=2))

    async def main(self, node):
        {load}
        got = {func}
        {compute}
        return got

    def check(self, results):
        return "done"
"""
AWAITED = {
    "load": "await node.cop.c_load()",
    "func": "await node.cop.c_func([1, 2])",
    "compute": "await node.compute(3)",
}


async def nothing(value: int = 0) -> int:
    return value


def test_a_call_that_has_begun_is_none_of_those_that_were_only_made() -> None:
    made = MadeCalls(3)
    with pytest.raises(StopIteration) as given:
        made.note(NotAwaited("a_load", sys._getframe(), nothing, 7)).send(None)
    assert given.value.value == 7
    made.refuse()
    made.note(NotAwaited("a_load", sys._getframe(), nothing, value=8))
    made.refuse("b_load")
    with pytest.raises(
        PointsmanError, match=r"test_made_calls\.py:\d+: node 3 calls a_load and does not await it"
    ) as refused:
        made.refuse("a_load")
    assert refused.value.hint == "await …a_load(…); without await Python does nothing"


def test_a_call_that_is_closed_is_no_longer_missed() -> None:
    made = MadeCalls(0)
    call = made.note(NotAwaited("a_read", sys._getframe(), nothing))
    call.close()
    made.refuse()
    with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
        call.send(None)


@pytest.mark.parametrize("how", [{"dry": True}, {"target": "numesh"}, {"target": "packet"}, {"target": "tdm"}])
@pytest.mark.parametrize(
    ("forgotten", "line", "name"), [("load", 11, "c_load"), ("func", 12, "c_func"), ("compute", 13, "compute")]
)
def test_a_call_without_await_is_refused_with_its_line(
    how: dict[str, object], forgotten: str, line: int, name: str, tmp_path: Path
) -> None:
    """Python says so where it collects the call, with a line of its own or none, and the run was right."""
    file = tmp_path / "forgetful.py"
    file.write_text(APPLICATION.format(**AWAITED | {forgotten: AWAITED[forgotten].removeprefix("await ")}))
    engine = {} if "dry" in how else {"engine": "model"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PointsmanError, match=rf"forgetful\.py:{line}: node \d calls {name} and does not await it"):
            pointsman.run(file, "mesh:2x1", **how, **engine)  # type: ignore[arg-type]


def test_all_calls_awaited_are_right(tmp_path: Path) -> None:
    file = tmp_path / "forgetful.py"
    file.write_text(APPLICATION.format(**AWAITED))
    assert pointsman.run(file, "mesh:2x1", dry=True).correct


@pytest.mark.parametrize(
    "options",
    [{"dry": True}, {"engine": "model"}, {"engine": "model", "target": "tdm"}, {"engine": "model", "target": "packet"}],
    ids=["dry", "numesh", "tdm", "packet"],
)
def test_a_deadlock_for_want_of_an_await_names_the_call(options: dict[str, Any]) -> None:
    class Once(Application):
        def program(self, net: cop.Network) -> cop.Parts:
            return cop.loop("l", 2, cop.broadcast("b", 0, m=2), cop.cshift("c", 1, m=40))

        async def main(self, node: Node) -> None:
            await node.cop.b_load()
            if node.number == 0:
                node.cop.b_write([1, 2])
            else:
                await node.cop.b_read()
            await node.cop.c_load()
            await node.cop.c_func([0] * 40)

    with pytest.raises(PointsmanError) as caught:
        pointsman.run(Once, "2x2", **options)
    assert re.search(r"test_made_calls\.py:\d+: node 0 has called b_write and not awaited it", str(caught.value))


def test_a_call_that_together_takes_is_awaited_by_it() -> None:
    made = MadeCalls(0)
    call = made.note(NotAwaited("a_load", sys._getframe(), nothing))
    assert len(made.told()) == 1
    call.taken = True
    assert made.told() == []
    call.close()
