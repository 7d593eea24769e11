"""Endpoints: what handlers must not do is an error that names them, and a batch does what its messages do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.active import Endpoint, Handlers, Reply
from pointsman.runtime.active.carrier import Batch, Kind
from pointsman.runtime.active.credits import CreditCarrier
from pointsman.runtime.active.endpoint import part_of
from pointsman.runtime.active.handlers import HandlerError, HandlerSendsError, HandlerWaitsError
from pointsman.runtime.splitc.memory import CODE_BYTES, HandlerAllocatesError, HandlerMemory

from .machine import MemoryLink, run_all


def _pair(does: Any) -> list[Endpoint]:
    links: list[MemoryLink] = []
    links += [MemoryLink(number, links) for number in range(2)]
    ends: list[Endpoint] = []
    handlers = Handlers()
    handlers.add("h", lambda state, source, arguments, data: does(ends[1]))
    handlers.add("r", lambda state, source, arguments, data: Reply("r"), reply=True)
    ends += [Endpoint(CreditCarrier(link, dispatch=0), handlers, None) for link in links]
    return ends


@pytest.mark.parametrize(
    ("does", "kind", "text"),
    [
        (lambda end: end.request(0, "h"), HandlerSendsError, "handler 'h' at node 1 sends a request"),
        (lambda end: end.until(lambda: True), HandlerWaitsError, "handler 'h' at node 1 waits"),
        (lambda end: end.poll(), HandlerWaitsError, "handler 'h' at node 1 polls"),
        (
            lambda end: HandlerMemory(1, 1 << 20, end.refuse_in_handler).allocate(8),
            HandlerAllocatesError,
            "handler 'h' at node 1 allocates memory",
        ),
        (lambda end: Reply("h"), HandlerSendsError, "'h' is one of requests, not of replies"),
        (lambda end: MemoryLink(0, []).start(), HandlerWaitsError, "gives something to await"),
    ],
)
def test_what_a_handler_must_not_do_is_an_error_that_names_it(does: Any, kind: type[HandlerError], text: str) -> None:
    ends = _pair(does)
    with pytest.raises(kind, match=text):
        run_all([ends[0].request(1, "h"), ends[1].until(lambda: ends[1].handled[0] == 2)])


def test_a_reply_is_not_answered() -> None:
    ends = _pair(lambda end: Reply("r"))
    with pytest.raises(HandlerSendsError, match="handler 'r' at node 0 answers a reply"):
        run_all([_asks(ends[0]), ends[1].until(lambda: ends[1].handled[0] == 2)])


async def _asks(end: Endpoint) -> None:
    await end.request(1, "h")
    await end.until(lambda: end.handled[1] == 1)


def test_requests_go_to_nodes_that_there_are() -> None:
    with pytest.raises(PointsmanError, match="must go to a node 0 to 1, not 2"):
        run_all([_pair(lambda end: None)[0].request(2, "h")])
    with pytest.raises(PointsmanError, match="asks for 17 replies, and this target takes 16"):
        run_all([_pair(lambda end: None)[0].request(1, "h", replies=17)])


def test_memory_may_be_allocated_where_no_handler_runs() -> None:
    end = _pair(lambda end: None)[0]
    assert HandlerMemory(0, 1 << 20, end.refuse_in_handler).allocate(8) == CODE_BYTES


@pytest.mark.parametrize("last", [8, 3])
def test_parts_of_a_batch_have_their_messages_bytes(last: int) -> None:
    data = bytes(range(24 + last))
    batch = Batch(0, Kind.REQUEST, 0, np.arange(4) * 8, (7,), data, 8)
    part = part_of(batch, np.array([1, 3]))
    assert part.firsts.tolist() == [8, 24]
    assert part.data == data[8:16] + data[24:]
    assert part_of(batch, np.arange(4)) is batch
