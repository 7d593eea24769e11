"""The command's stand-in for an application checks what its methods give."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime import Application, WrongAnswer
from pointsman.runtime.api.guarded import GuardedApplication


def guarded(**methods: Any) -> GuardedApplication:
    async def main(self: Any, node: Any) -> None: ...

    kind = type("Ring", (Application,), {"main": main, **methods})
    return GuardedApplication(kind(Namespace(), mesh(2)), Path("ring.py"))


def raising(error: BaseException) -> Any:
    def method(*given: Any) -> Any:
        raise error

    return method


def test_right_answers_pass() -> None:
    app = guarded(parameters=lambda self: {"n": True}, check=lambda self, results: "right", functions={"f": max})
    assert (app.parameters(), app.check([]), app.functions, app.reference()) == ({"n": 1}, "right", {"f": max}, None)
    app.main(None).close()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("method", "value", "said"),
    [
        ("parameters", 3, "must give a mapping from names to whole numbers, not 3"),
        ("parameters", {"n": 1.5}, "must give whole numbers by their names"),
        ("check", 3, "must give a text that says what was checked, not 3"),
        ("main", 3, "must give a coroutine, not 3"),
        ("reference", 3, "must give a Reference, or None, not 3"),
    ],
)
def test_wrong_answers_and_anything_raised_name_the_method(method: str, value: object, said: str) -> None:
    arguments = () if method in ("parameters", "reference") else (None,)
    with pytest.raises(PointsmanError, match=f"Ring.{method} {said}"):
        getattr(guarded(**{method: lambda *given: value}), method)(*arguments)
    for error in (SystemExit(0), BaseException(), GeneratorExit(), StopIteration(), KeyError("k")):
        with pytest.raises(PointsmanError, match=type(error).__name__):
            getattr(guarded(**{method: raising(error)}), method)(*arguments)
    with pytest.raises(PointsmanError, match="TypeError"):
        getattr(guarded(**{method: lambda: None}), method)(*arguments)


def test_functions_must_be_functions_by_name() -> None:
    for functions in (3, {3: max}, {"f": 3}):
        with pytest.raises(PointsmanError, match=r"Ring\.functions"):
            guarded(functions=functions).functions  # noqa: B018


def test_a_wrong_answer_stays_one() -> None:
    with pytest.raises(WrongAnswer, match="no"):
        guarded(check=raising(WrongAnswer("no"))).check([])
