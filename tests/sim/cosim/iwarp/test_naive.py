"""The naive fabric by itself: a header waits for a channel of its pool, and the trailer gives it back."""

from __future__ import annotations

from cosim.iwarp.fabric import MESSAGES, RECEIVING, SENDING, Flow
from cosim.iwarp.machine import ChannelMachine
from cosim.iwarp.naive import NaiveFabric
from pointsman.network import mesh


def test_a_message_waits_until_the_trailer_of_the_one_before_has_left_the_channel():
    fabric = NaiveFabric(ChannelMachine(mesh(3), buffer=4))
    first, second = fabric.message(Flow((0, 1, 2), (0, 0), 6)), fabric.message(Flow((1, 2), (0,), 6))
    fabric.begin(0, SENDING, first, 6, 2, 0)
    clock, arrived = 0, []
    while not arrived:
        clock, _, arrived, _ = fabric.advance(clock, 1000)
    assert (clock - 1, arrived) == (11, [first])  # asks and goes at either node: 1 + 1 + 4, and again 1 + 4
    fabric.begin(1, SENDING, second, 6, 2, clock)
    went = fabric.advance(clock, 1000)
    while not went.stuck:
        went = fabric.advance(went.clock, 1000)
    assert fabric.message(Flow((0, 1), (0,), 6)) == MESSAGES + 2
    fabric.begin(2, RECEIVING, first, 6, 2, went.clock)
    taken = fabric.advance(went.clock, 5000)
    assert taken.done == [(2, RECEIVING)]
    sent = fabric.advance(taken.clock, 5000)
    assert sent.done == [(1, SENDING)]
    assert fabric.advance(sent.clock, 5000).arrived == [second]
