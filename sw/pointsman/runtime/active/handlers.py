"""Handlers of active messages, and what they may not do.

A handler is a plain function ``handler(state, source, arguments, data)``. One of a request gives None or a `Reply` (or a list
of them), which goes to the node that asked; one of a reply gives None. It runs to its end where the message arrives, so it
must neither wait nor allocate, and may send nothing but its reply (von Eicken 1993, §6.2): then a request always finds a node
that can take it, and a reply a node that has kept room for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError

from .carrier import ARGUMENTS, DATA_BYTES, HANDLERS


class HandlerError(PointsmanError):
    """A handler does what handlers may not do."""


class HandlerWaitsError(HandlerError):
    """A handler waits, or is made so that it could."""


class HandlerAllocatesError(HandlerError):
    """A handler allocates memory."""


class HandlerSendsError(HandlerError):
    """A handler sends a request, or a reply where none is due."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a request's handler: the handler of the reply, its arguments (whole words) and data."""

    handler: str
    arguments: tuple[int, ...] = ()
    data: bytes = b""


Answer = Reply | Sequence[Reply] | None
Handler = Callable[[Any, int, tuple[int, ...], bytes], Answer]
BatchHandler = Callable[[Any, int, np.ndarray, tuple[int, ...], bytes, int], Answer]
"""``handler(state, source, firsts, rest, data, size)`` for many messages at once: message k has the arguments ``(firsts[k],
*rest)`` and the bytes ``data[k * size : (k + 1) * size]``, of which the last may be fewer. It does what the messages would do
one by one."""


class Handlers:
    """The handlers of a program, by name; the same at all nodes, numbered in the order in which they were added."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.functions: list[Handler] = []
        self.is_reply: list[bool] = []
        self.batches: list[BatchHandler | None] = []
        self.number: dict[str, int] = {}

    def add(self, name: str, function: Handler, *, reply: bool = False, batch: BatchHandler | None = None) -> None:
        """Add a handler of requests, or of replies. ``batch``: the same for many messages at once, which a simulated machine
        calls in place of the other.

        Raises
        ------
        PointsmanError
            If the name is taken, the function is a coroutine, or there are too many handlers.
        """
        if inspect.iscoroutinefunction(function) or inspect.isgeneratorfunction(function):
            raise HandlerWaitsError(
                f"handler '{name}' is a coroutine, and a handler must not wait",
                hint="def, not async def: set a counter, for which the program waits",
            )
        if name in self.number:
            raise PointsmanError(f"there is a handler '{name}' already")
        if len(self.names) == HANDLERS:
            raise PointsmanError(f"a program may have {HANDLERS} handlers")
        self.number[name] = len(self.names)
        self.names.append(name)
        self.functions.append(function)
        self.is_reply.append(reply)
        self.batches.append(batch)

    def numbered(self, name: str, *, reply: bool) -> int:
        """The number of a handler of requests, or of replies."""
        number = self.number.get(name)
        if number is None:
            raise PointsmanError(f"there is no handler '{name}'", hint=f"known are {', '.join(self.names) or 'none'}")
        if self.is_reply[number] != reply:
            kind, other = ("replies", "requests") if reply else ("requests", "replies")
            raise HandlerSendsError(f"handler '{name}' is one of {other}, not of {kind}")
        return number


def check_size(name: str, arguments: tuple[int, ...], data: bytes, *, parts: bool = False) -> None:
    """Refuse a message that is too long, or whose arguments are no words. ``parts``: its data may go in several messages."""
    if len(arguments) > ARGUMENTS or (len(data) > DATA_BYTES and not parts):
        raise PointsmanError(
            f"a message to '{name}' has {len(arguments)} arguments and {len(data)} bytes of data; "
            f"it may have {ARGUMENTS} and {DATA_BYTES}"
        )
    for value in arguments:
        if not 0 <= value < 1 << 32:
            raise PointsmanError(f"an argument of a message to '{name}' must be a word, 0 to 2^32 - 1, not {value}")
