"""Header words, and messages as far as they are here."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pointsman.runtime.numesh.online_messages import HEADER_BITS, HeaderLayout, OnlineMessage, OnlineSending


@pytest.mark.parametrize(("nodes", "queues"), [(1, 1), (2, 1), (16, 5), (17, 4), (1024, 9)])
def test_a_header_says_what_was_put_into_it(nodes: int, queues: int) -> None:
    layout, chance = HeaderLayout.of(nodes, queues), random.Random(nodes)
    assert layout.round_bits > 0
    for _ in range(50):
        destination, source = chance.randrange(nodes), chance.randrange(nodes)
        queue, round_ = chance.randrange(queues), chance.randrange(1 << layout.round_bits)
        word = layout.pack(destination, source, queue, round_)
        assert 0 <= word < 1 << HEADER_BITS
        assert layout.unpack(word) == (destination, source, queue, round_)


def test_rounds_begin_again_when_their_field_is_full() -> None:
    layout = HeaderLayout.of(16, 4)
    assert layout.pack(1, 2, 3, 1 << layout.round_bits) == layout.pack(1, 2, 3, 0)


def test_a_message_is_whole_when_its_last_word_is_here() -> None:
    message = OnlineMessage(0, 0, 0, np.zeros(2, np.uint32))
    assert [not message.whole, message.total] == [True, 2]
    message.have = 2
    assert message.whole


def test_a_sending_has_a_word_to_send_as_soon_as_it_has_come() -> None:
    message = OnlineMessage(0, 0, 0, np.zeros(2, np.uint32))
    sending = OnlineSending(7, message, own=False)
    assert sending.ready, "the header goes before any word has come"
    sending.begun = True
    assert not sending.ready
    message.have = 1
    assert sending.ready
    sending.next, message.have = 2, 2
    assert not sending.ready
    assert sending.sent
