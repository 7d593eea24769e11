"""The agent's parts: headers, messages on their way out, requests that registers break off."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pointsman.artifacts.images.images import OnlineNode
from pointsman.errors import PointsmanError
from pointsman.protocol.costs import LOAD_CYCLES, AgentCosts
from pointsman.runtime.api.requests import Attend, Category, Lane, Transfer, Wait
from pointsman.runtime.numesh.online_agent import Agent
from pointsman.runtime.numesh.online_messages import HeaderLayout, OnlineMessage, OnlineSending


class Clock:
    time = 0


def agent() -> Agent:
    table = OnlineNode(((2,), (3,)), ((4,), (5,)), (-1, 0, 1, -1))
    return Agent(0, table, HeaderLayout.of(4, 2), (2, 1), Clock(), AgentCosts())


@pytest.mark.parametrize(("nodes", "queues"), [(1, 1), (2, 1), (16, 3), (455, 9), (4096, 16)])
def test_a_header_says_what_was_put_into_it(nodes: int, queues: int):
    layout = HeaderLayout.of(nodes, queues)
    assert layout.round_bits >= 4
    rng = random.Random(nodes)
    for _ in range(200):
        what = rng.randrange(nodes), rng.randrange(nodes), rng.randrange(queues), rng.randrange(1 << layout.round_bits)
        word = layout.pack(*what)
        assert 0 <= word < 1 << 32
        assert layout.unpack(word) == what
    assert layout.unpack(layout.pack(0, 0, 0, (1 << layout.round_bits) + 3))[3] == 3


def message(source: int, queue: int, round_: int, words: int = 2) -> OnlineMessage:
    return OnlineMessage(source, queue, round_, np.zeros(words, np.uint32))


def test_a_message_goes_out_as_far_as_it_has_come():
    coming = message(1, 0, 0)
    sending = OnlineSending(99, coming, False)
    assert sending.ready
    sending.begun = True
    assert not sending.ready
    coming.have = 1
    assert sending.ready
    sending.next = 1
    assert not sending.ready
    coming.have = 2
    assert coming.whole
    assert sending.ready
    sending.next = 2
    assert sending.sent
    assert not sending.ready


def test_messages_are_found_by_queue_source_and_round():
    one = agent()
    one.queues[0] = [message(1, 0, 5), message(2, 0, 4), message(1, 0, 6)]
    assert one.find(None, 0) is one.queues[0][0]
    assert one.find(2, 0) is one.queues[0][1]
    assert one.find(None, 0, 6) is one.queues[0][2]
    assert one.find(3, 0) is None
    assert one.find(None, 1) is None
    one.take(one.queues[0][0])
    assert one.find(1, 0).round == 6  # type: ignore[union-attr]


def test_a_message_without_a_way_is_refused():
    with pytest.raises(PointsmanError, match=r"^node 0 has no way for a message to node 3"):
        agent().send(3, 0, [1, 2])
    with pytest.raises(PointsmanError, match=r"^node 0 sends a message to itself$"):
        agent().send(0, 0, [1, 2])


def test_an_agent_is_idle_when_nothing_waits_in_it():
    one = agent()
    assert one.idle()
    one.send(1, 0, [1, 2])
    assert not one.idle()


def test_a_request_to_attend_keeps_its_progress_and_tells_who_called():
    request = Attend(Transfer([Lane(False, 2, 3), Lane(True, 4, 0)]), full=(2, 3), empty=(4,))
    assert not request.done
    request.moved[0] = 3
    assert request.done
    assert request.look({2: True, 3: False, 4: True}.__getitem__)
    assert request.calls == ((2,), ())
    assert request.look({2: True, 3: False, 4: True}.__getitem__, {2: False, 3: True}.__getitem__)
    assert request.calls == ((3,), ())
    assert request.moved.tolist() == [3, 0]


def test_a_request_that_waits_for_nothing_is_refused():
    with pytest.raises(PointsmanError, match="must have words to move, a time, or a register to wait for"):
        Attend()
    with pytest.raises(PointsmanError, match="an interface register must be a number from 0 on"):
        Attend(full=(-1,))
    once = Attend(Transfer([Lane(False, 2, 3), Lane(True, 4, 2)]), beside=(0, 1))
    once.moved[:] = 2, 1
    assert not once.done
    once.moved[1] = 2
    assert once.done
    waits = Attend(until=7, category=Category.READ)
    assert (waits.lanes, waits.done, waits.until) == ((), False, 7)
    assert waits.state.dtype == np.int64


def test_the_word_that_opens_a_barrier_calls_the_handler_off():
    """Neighbours count on it that a node leaves soon after that word has come, whatever messages there are."""
    one = agent()
    one.urgent = (7,)
    # A message half in, of which a word comes every cycle: the handler would stay for all of it.
    one.arriving[0] = message(1, 0, 0, words=1000)
    steps = one.serve(one.costs.interrupt, one.costs.patience)
    next(steps)
    for _ in range(3):
        piece = steps.send(None)
        assert isinstance(piece, Attend)
        assert 7 in piece.full
        piece.state[0] = 1
    piece.look(lambda register: register == 7)
    with pytest.raises(StopIteration):
        steps.send(None)
    assert one.called
    # The barrier's own words are moved without a break now.
    barrier = Transfer([Lane(False, 7, 1)], Category.PSYNC)
    piece = next(one.carry_out(barrier))
    assert isinstance(piece, Attend)
    assert not piece.full
    assert not piece.empty


def test_a_load_function_is_not_interrupted():
    """A node that was about to send a message of its own would else pass on all that come by before."""
    one = agent()
    (wait,) = one.carry_out(Wait(LOAD_CYCLES, Category.REPROG))
    assert isinstance(wait, Wait)
    assert isinstance(next(one.carry_out(Wait(LOAD_CYCLES + 1, Category.CPU))), Attend)


def test_words_moved_until_one_lane_is_through_are_interrupted_too():
    one = agent()
    request = Attend(Transfer([Lane(False, 7, 4), Lane(True, 8, 2)]), beside=(0, 1))
    steps = one.carry_out(request)
    piece = next(steps)
    assert isinstance(piece, Attend)
    assert (piece.lanes, piece.beside, piece.full) == (request.lanes, (0, 1), (2, 3))
    piece.moved[:] = 1, 1
    assert steps.send(None).category == Category.ONLINE  # a header has come: the handler is entered
    assert request.moved.tolist() == [1, 1]


def test_a_message_handled_at_once_is_not_queued_and_its_answer_goes_out():
    here = agent()
    here.at_once = lambda one: (7, [(one.source, 1, np.array([5], np.uint32))]) if one.queue == 0 else None
    asked, told = message(2, 0, 0), message(2, 1, 0, 1)
    for one in (asked, told):
        one.have = one.total
        here.queues[one.queue].append(one)
        here.held += one.total
        here._handle(one)
    assert here.queues == [[], [told]]
    assert here.held == 1
    assert [sending.message.queue for channel in here.out for sending in channel] == [1]
    assert here._cycles_at_once == 7
