"""The handlers of TAM: what a message does at the processor to which it comes.

They run inlets; readers that an `istore` resumes on other nodes are told by the processor itself, since handlers send replies
only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.runtime.active import Handlers, Reply

from .assembler import TamError
from .heap import Deferred
from .processor import Processor
from .values import packed, unpacked

_WORD = 0xFFFFFFFF


def _message(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    pointer, inlet, mask = arguments
    state.deliver(pointer, inlet, unpacked(mask, data), local=False)


def _fetched(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    pointer, inlet, mask = arguments
    state.answered(pointer, inlet, unpacked(mask, data)[0])


def _fetch(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    if state.ended:
        return
    pointer, index, frame, inlet = arguments
    reader = Deferred(source, frame, inlet >> 1, bool(inlet & 1))
    value = state.heap.fetch(pointer, index, reader)
    if value is not None:
        state.outbox.append((reader, value))


def _store(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    if state.ended:
        return
    pointer, index, mask = arguments
    value = unpacked(mask, data)[0]
    state.resume(state.heap.store(pointer, index, value), value)


def _falloc(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    state.handled += 1
    of, frame, inlets = arguments
    made = state.frames.allocate(of)
    if made is None:
        return Reply("answer", (frame, inlets >> 16, 0))
    return Reply("answer", (frame, inlets & 0xFFFF, 0), packed([made])[1])


def _ialloc(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    state.handled += 1
    size, frame, inlets = arguments
    return Reply("answer", (frame, inlets & 0xFFFF, 0), packed([state.heap.allocate(size)])[1])


def _ffree(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    if not state.ended:
        state.frames.free(arguments[0])


def _ifree(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.handled += 1
    if not state.ended:
        state.heap.free(arguments[0])


def _count(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    return Reply("counted", (state.sent & _WORD, state.handled & _WORD, int(state.ended)))


def _counted(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.counted.append(arguments)


def _close(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.closed = True


def _halt(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.ended = True


def _answer(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    frame, inlet, mask = arguments
    state.deliver(frame, inlet, unpacked(mask, data), local=False)


def _told(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, whose errors also tell where it ran and who sent the message."""

    def handler(state: Processor, source: int, arguments: tuple[int, ...], data: bytes) -> Any:
        try:
            return function(state, source, arguments, data)
        except PointsmanError as error:
            raise TamError(
                f"node {state.number}, '{name}' of node {source}: {error.message}", hint=error.hint
            ) from None

    return handler


def tam_handlers() -> Handlers:
    """The handlers of TAM."""
    handlers = Handlers()
    for name, function in (
        ("message", _message),
        ("fetch", _fetch),
        ("store", _store),
        ("falloc", _falloc),
        ("ialloc", _ialloc),
        ("ffree", _ffree),
        ("ifree", _ifree),
        ("fetched", _fetched),
        ("halt", _halt),
        ("count", _count),
        ("close", _close),
    ):
        handlers.add(name, _told(name, function))
    handlers.add("answer", _told("answer", _answer), reply=True)
    handlers.add("counted", _counted, reply=True)
    return handlers
