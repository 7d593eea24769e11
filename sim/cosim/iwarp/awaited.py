"""Programs that await: the same coroutine function runs on a machine with logical channels and on the project's targets
(`pointsman.runtime.phased`)."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Sequence
from typing import Any

from .session import Cell, Step


class AwaitedCell:
    """A cell whose primitives are awaited."""

    def __init__(self, cell: Cell) -> None:
        self.number = cell.number
        self._cell = cell

    async def instantiate_phase(self, name: str) -> None:
        """Change to a phase, with all other cells."""
        await _Asked(self._cell.instantiate_phase(name))

    async def send_element(self, connection: Any, element: Any) -> None:
        """Send an element on a connection of the phase."""
        await _Asked(self._cell.send_element(connection, element))

    async def receive_element(self, connection: Any) -> Any:
        """The next element of a connection of the phase."""
        return await _Asked(self._cell.receive_element(connection))

    async def msg_send(self, destination: int, block: Sequence[Any]) -> None:
        """Send a block to a cell."""
        await _Asked(self._cell.msg_send(destination, block))

    async def msg_receive(self) -> tuple[int, Sequence[Any]]:
        """The next message, as (source, block)."""
        source, block = await _Asked(self._cell.msg_receive())
        return source, block

    async def compute(self, clocks: int) -> None:
        """Spend clocks."""
        await _Asked(self._cell.compute(clocks))


def awaited(program: Callable[[Any], Coroutine[Any, Any, Any]]) -> Callable[[Cell], Step]:
    """A coroutine function of an `AwaitedCell` as a program for `ChannelSession.run`."""

    def generator(cell: Cell) -> Step:
        return (yield from program(AwaitedCell(cell)).__await__())

    return generator


class _Asked:
    """What a primitive asks of the machine, to be awaited."""

    def __init__(self, step: Step) -> None:
        self._step = step

    def __await__(self) -> Generator[tuple[Any, ...], Any, Any]:
        return self._step
