"""Random messages know what they promise: every word once, in order, at the address it was sent to."""

from __future__ import annotations

from random import Random

import pytest

from cosim.packet.messages import Messages, WrongMessageError
from packet_router.shape import RouterShape

SHAPE = RouterShape(size=(2, 2), buffer=4, addresses=4, queue=4)


def test_the_same_seed_sends_the_same() -> None:
    one, other = (Messages(SHAPE, Random(3), count=5) for _ in range(2))
    assert [sending.queue for sending in one.sending] == [sending.queue for sending in other.sending]


def test_all_words_that_are_to_come_are_counted() -> None:
    messages = Messages(SHAPE, Random(3), count=5, longest=9)
    queued = [message for sending in messages.sending for message in sending.queue]
    assert len(queued) == 5 * SHAPE.nodes
    assert messages.left > 0
    assert not messages.finished


def test_a_word_that_nobody_sent_is_found() -> None:
    messages = Messages(SHAPE, Random(3), count=1)
    messages.taking[0] = 1
    with pytest.raises(WrongMessageError):
        messages.check(0, 0xFFFF_FFFF)
