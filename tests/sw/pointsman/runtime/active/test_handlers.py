"""What handlers may be."""

from __future__ import annotations

from typing import Any

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.active.handlers import Handlers, HandlerSendsError, HandlerWaitsError, check_size


def _nothing(state: Any, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    return None


def test_a_handler_that_could_wait_is_refused() -> None:
    async def waits(state: Any, source: int, arguments: tuple[int, ...], data: bytes) -> None:
        return None

    with pytest.raises(HandlerWaitsError, match="handler 'h' is a coroutine, and a handler must not wait"):
        Handlers().add("h", waits)  # type: ignore[arg-type]


def test_names_are_known_once_and_for_one_kind() -> None:
    handlers = Handlers()
    handlers.add("h", _nothing)
    with pytest.raises(PointsmanError, match="there is a handler 'h' already"):
        handlers.add("h", _nothing)
    with pytest.raises(HandlerSendsError, match="'h' is one of requests, not of replies"):
        handlers.numbered("h", reply=True)
    with pytest.raises(PointsmanError, match="there is no handler 'g'"):
        handlers.numbered("g", reply=False)
    for number in range(255):
        handlers.add(str(number), _nothing)
    with pytest.raises(PointsmanError, match="a program may have 256 handlers"):
        handlers.add("one more", _nothing)


@pytest.mark.parametrize(("arguments", "data"), [((1,) * 5, b""), ((), b"x" * 65), ((-1,), b""), ((1 << 32,), b"")])
def test_messages_have_a_largest_size(arguments: tuple[int, ...], data: bytes) -> None:
    with pytest.raises(PointsmanError, match="a message to 'h'"):
        check_size("h", arguments, data)
