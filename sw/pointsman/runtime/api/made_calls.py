"""Calls that an application makes at a node. One that it does not await does nothing, and Python says so late or never.

Functions of operators and `Node.compute` give a `NotAwaited`, which begins when it is awaited. What has not begun when the
program is over is an error with the line of the call.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator
from types import FrameType
from typing import Any

from pointsman.errors import PointsmanError


class NotAwaited(Coroutine[Any, Any, Any]):
    """A call of the coroutine function ``function``. The class is named for the errors of Python that name it."""

    __slots__ = ("_call", "_function", "_values", "file", "line", "name", "taken")

    def __init__(self, name: str, caller: FrameType, function: Callable[..., Any], *values: Any, **named: Any) -> None:
        self.name, self.file, self.line = name, caller.f_code.co_filename, caller.f_lineno
        self._function, self._values = function, (values, named)
        self._call: Coroutine[Any, Any, Any] | None = None
        self.taken = False
        """It was handed to `Node.together`, which awaits it."""

    @property
    def has_begun(self) -> bool:
        return self._call is not None

    def _begun(self) -> Coroutine[Any, Any, Any]:
        if self._call is None:
            values, named = self._values
            self._call = self._function(*values, **named)
        return self._call

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._begun().__await__()

    def send(self, value: Any) -> Any:
        return self._begun().send(value)

    def throw(self, *error: Any) -> Any:
        return self._begun().throw(*error)

    def close(self) -> None:
        self._begun().close()


class MadeCalls:
    """Calls of a node, ``number``, that have not begun."""

    def __init__(self, number: int) -> None:
        self.number = number
        self._made: list[NotAwaited] = []

    def note(self, call: NotAwaited) -> NotAwaited:
        """``call``, which is made now."""
        self._made = [one for one in self._made if not one.has_begun]
        self._made.append(call)
        return call

    def told(self) -> list[str]:
        """A line for each call that has not begun: what may be wrong where something else is."""
        what = "and not awaited it; without await Python does nothing"
        return [
            f"{one.file}:{one.line}: node {self.number} has called {one.name} {what}"
            for one in self._made
            if not one.has_begun and not one.taken
        ]

    def refuse(self, name: str = "") -> None:
        """Refuse the first call that has not begun, if there is any; only one of this ``name``, if it is given.

        Raises
        ------
        PointsmanError
            With the line of the call.
        """
        for one in self._made:
            if not one.has_begun and name in ("", one.name):
                raise PointsmanError(
                    f"{one.file}:{one.line}: node {self.number} calls {one.name} and does not await it",
                    hint=f"await …{one.name}(…); without await Python does nothing",
                )
