"""Calls of several operators at one node at the same time.

A call moves its words by a `Transfer`, a list of lanes of which the processor serves whichever is ready. The lanes of several
calls make one such list, so a node that takes part in several streams reads each word when it comes, and no stream waits until
another one's message is over.
"""

from __future__ import annotations

from collections.abc import Coroutine, Generator, Sequence
from typing import Any, Protocol

from pointsman.errors import PointsmanError

from .requests import Lane, Transfer


class Busy(Protocol):
    """The node that carries out the calls, as far as reports want to know what it is doing."""

    def put_aside(self) -> str: ...
    def hold(self, doing: str) -> None: ...
    def release(self) -> None: ...


async def one_by_one(calls: Sequence[Coroutine[Any, Any, Any]]) -> list[Any]:
    """Await the calls in order; those behind a call that fails are closed."""
    try:
        return [await call for call in calls]
    finally:
        for call in calls:
            call.close()


class Together:
    """Awaited: carries out ``calls`` at the same time and gives the list of their results.

    Each call runs until it moves words; these lanes move together. Requests of other kinds are passed on as they come, so a call
    of many requests runs by itself in its turn. From the first word on, the activity of ``node`` names all calls that move words.
    """

    def __init__(self, calls: Sequence[Coroutine[Any, Any, Any]], node: Busy) -> None:
        self.calls = tuple(calls)
        self.node = node

    def __await__(self) -> Generator[Any, Any, list[Any]]:
        results: list[Any] = [None] * len(self.calls)
        waiting: dict[int, Transfer] = {}
        going = list(range(len(self.calls)))
        named: dict[int, str] = {}
        """By call, what the node was at when it first moved words."""
        try:
            while going:
                for number in going:
                    result, request = yield from _until_it_moves(self.calls[number])
                    if request is None:
                        results[number] = result
                    else:
                        waiting[number] = request
                        named.setdefault(number, self.node.put_aside())
                if waiting:
                    self.node.hold(", ".join(named.values()))
                    yield joined(list(waiting.values()))
                going = list(waiting)
                waiting.clear()
        except GeneratorExit:  # the run has been given up here, and its report names the calls that are not over
            if waiting:
                self.node.release()
                self.node.hold(", ".join(named[number] for number in waiting))
            raise
        except BaseException:
            self.node.release()
            raise
        else:
            self.node.release()
        finally:
            for call in self.calls:
                call.close()
        return results


def _until_it_moves(call: Coroutine[Any, Any, Any]) -> Generator[Any, Any, tuple[Any, Transfer | None]]:
    """Run a call until it is over, then gives (its result, None), or until it moves words, then (None, the request). What an
    engine throws into the node, as when a run is given up, is thrown into the call."""
    try:
        request = call.send(None)
        while not (type(request) is Transfer and request.category is None):
            try:
                answer = yield request
            except BaseException as error:
                request = call.throw(error)
            else:
                request = call.send(answer)
    except StopIteration as over:
        return over.value, None
    return None, request


def joined(transfers: Sequence[Transfer]) -> Transfer:
    """A transfer of the lanes of all ``transfers``, in their order.

    Raises
    ------
    PointsmanError
        If two of them use the same interface register: then words of one would be taken for words of the other.
    """
    lanes: list[Lane] = []
    used: set[int] = set()
    for transfer in transfers:
        here = {register for lane in transfer.lanes for register in lane.registers}
        if used & here:
            raise PointsmanError(
                "calls that are to go on together use the same interface register, one operator after the other",
                hint="put the operators into a parallel group of the COP program",
            )
        used |= here
        first = len(lanes)
        for lane in transfer.lanes:
            moved = Lane(
                lane.write,
                lane.registers,
                lane.words,
                lane.data,
                after=None if lane.after is None else first + lane.after,
                after_all=lane.after_all,
                pair=None if lane.pair is None else first + lane.pair,
                window=lane.window,
            )
            lanes.append(moved.in_items(lane.item, lane.folds) if lane.item != 1 or lane.folds else moved)
    return Transfer(lanes)
