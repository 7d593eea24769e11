"""Bounded buffers: nothing is lost or doubled, nobody holds more than there is room for, and everybody comes to an end."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.active import Endpoint, Handlers, Reply
from pointsman.runtime.active.carrier import Kind, Message, NodeEndedError, words_of
from pointsman.runtime.active.credits import CreditCarrier

from .machine import MemoryLink, run_all


class Counting:
    def __init__(self) -> None:
        self.asked: Counter[tuple[int, int]] = Counter()
        self.answered: Counter[int] = Counter()
        self.told: Counter[tuple[int, int]] = Counter()


def _handlers() -> Handlers:
    handlers = Handlers()

    def ask(state: Counting, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
        state.asked[source, arguments[0]] += 1
        return Reply("answer", arguments)

    def answer(state: Counting, source: int, arguments: tuple[int, ...], data: bytes) -> None:
        state.answered[arguments[0]] += 1

    def tell(state: Counting, source: int, arguments: tuple[int, ...], data: bytes) -> None:
        state.told[source, arguments[0]] += 1

    handlers.add("ask", ask)
    handlers.add("tell", tell)
    handlers.add("answer", answer, reply=True)
    return handlers


@pytest.mark.parametrize(("window", "replies"), [(1, 1), (2, 3), (255, 1000)])
def test_all_ask_all_and_tell_all_at_once_with_the_smallest_buffers(window: int, replies: int) -> None:
    nodes, rounds = 5, 30
    links: list[MemoryLink] = []
    links += [MemoryLink(number, links) for number in range(nodes)]
    carriers = [CreditCarrier(link, window=window, replies=replies) for link in links]
    states = [Counting() for _ in range(nodes)]
    ends = [Endpoint(carrier, _handlers(), state) for carrier, state in zip(carriers, states, strict=True)]

    async def program(number: int) -> None:
        end = ends[number]
        for k in range(rounds):
            for other in range(nodes):
                await end.request(other, "ask", (k * nodes + other,))
                await end.request(other, "tell", (k,), replies=0)
        await end.until(lambda: end.due == 0)
        # What others send still has to be handled, until all have sent all.
        while not all(
            state.told.total() == state.asked.total() == state.answered.total() == nodes * rounds for state in states
        ):
            await end.poll()
        await carriers[number].finish()

    run_all([program(number) for number in range(nodes)])
    for number, state in enumerate(states):
        assert state.told == Counter({(source, k): 1 for source in range(nodes) for k in range(rounds)})
        asked = {(source, k * nodes + number): 1 for source in range(nodes) for k in range(rounds)}
        assert state.asked == Counter(asked)
        assert set(state.answered.values()) == {1}
        assert carriers[number].peak <= (nodes - 1) * window + replies
        assert carriers[number].room == [window] * nodes


def test_a_request_for_which_there_is_no_room_is_an_error() -> None:
    links: list[MemoryLink] = []
    links += [MemoryLink(number, links) for number in range(2)]
    carrier = CreditCarrier(links[0], window=1)
    for _ in range(2):
        links[0].arrived.append((1, words_of(Message(1, Kind.REQUEST, 0))))
    with pytest.raises(PointsmanError, match="node 1 sent node 0 a request for which it had no room"):
        run_all([carrier.receive(replies_only=False)])


def test_more_credits_than_requests_are_an_error() -> None:
    links: list[MemoryLink] = []
    links += [MemoryLink(number, links) for number in range(2)]
    links[0].arrived.append((1, words_of(Message(1, Kind.CREDIT, 0, credits=1))))
    with pytest.raises(PointsmanError, match="gave node 0 more credits than it had requests"):
        run_all([CreditCarrier(links[0]).wait(None, replying=False)])


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"window": 0}, "room for 1 to 255 requests of each other, not 0"),
        ({"window": 256}, "room for 1 to 255 requests of each other, not 256"),
        ({"window": "4"}, "room for 1 to 255 requests of each other, not '4'"),
        ({"replies": 0}, "room for 1 reply or more, not 0"),
        ({"replies": 1.5}, "room for 1 reply or more, not 1.5"),
    ],
)
def test_buffers_must_have_a_size(sizes: dict[str, Any], said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        CreditCarrier(MemoryLink(0, []), **sizes)


def test_words_are_what_the_link_gets() -> None:
    assert words_of(Message(0, Kind.REQUEST, 1, (2,))).dtype == np.uint32


def test_a_message_to_a_node_that_has_ended_is_an_error_and_so_is_an_end_before_the_last_message() -> None:
    links: list[MemoryLink] = []
    links += [MemoryLink(number, links) for number in range(2)]
    peers: dict[int, CreditCarrier] = {}
    first, second = (CreditCarrier(link, peers=peers) for link in links)
    run_all([second.finish()])
    with pytest.raises(NodeEndedError, match=r"^node 1 has ended, and node 0 sends it a request"):
        run_all([first.send(1, Message(0, Kind.REQUEST, 0))])

    links = []
    links += [MemoryLink(number, links) for number in range(2)]
    peers = {}
    first, second = (CreditCarrier(link, peers=peers) for link in links)
    run_all([first.send(1, Message(0, Kind.REQUEST, 0))])
    with pytest.raises(NodeEndedError, match=r"^node 1 has ended, and has not handled 1 of the requests of node 0"):
        run_all([second.finish()])
    links[0].arrived.append((1, words_of(Message(1, Kind.REPLY, 0, credits=1))))
    with pytest.raises(NodeEndedError, match=r"^node 0 has ended, and has not handled a reply"):
        run_all([first.finish()])
