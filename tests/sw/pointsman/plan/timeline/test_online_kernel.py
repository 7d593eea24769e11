"""The compiled game of online messages, on a row of nodes with a wire between registers."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest

from pointsman.plan.timeline import online_kernel as k
from pointsman.protocol.costs import AgentCosts


class Row:
    """Nodes in a row; channel c leads from node c to node c + 1, from register 2c to register 2c + 1."""

    def __init__(self, nodes: int, *mails: tuple[int, int, int]) -> None:
        onward = np.full((nodes, nodes), -1, np.int64)
        for node in range(nodes):
            onward[node, node + 1 :] = node
        state = np.zeros((nodes, 10), np.int64)
        state[:, [k.HEADER, k.GOT, k.FIRST, k.LAST]] = -1
        channels = np.full((nodes - 1, 7), -1, np.int64)
        channels[:, [k.TURN_OUT, k.TURN_IN]] = 0
        self.nodes, self.time = nodes, 0
        self.full = np.zeros(2 * nodes, np.int64)
        self.words = [0] * (nodes - 1)
        self.post = k.Post(
            mails=np.array(mails, np.int64).reshape(-1, 3),
            outputs=np.arange(nodes - 1),
            first_output=np.minimum(np.arange(nodes + 1), nodes - 1),
            inputs=np.arange(nodes - 1),
            first_input=np.maximum(np.arange(nodes + 1) - 1, 0),
            onward=onward,
            ends=np.array([[[2 * c, 1], [2 * c + 1, 1]] for c in range(nodes - 1)], np.int64),
            registers=np.arange(2 * nodes),
            costs=np.array(astuple(AgentCosts()), np.int64),
            nodes=state,
            sendings=np.zeros((60, 8), np.int64),
            copies=np.zeros((60, 5), np.int64),
            channels=channels,
            used=np.zeros(2, np.int64),
            passed=np.zeros((0, 2), np.int64),
            first_passed=np.zeros(9 * nodes, np.int64),
        )  # fmt: skip

    def cycle(self) -> None:
        for node in range(self.nodes):
            register = k.attend(self.post, node, node, self.time, True, self.full)
            if register >= 0:
                # Even registers are written, odd ones read.
                assert self.full[register] == register % 2, "an access was made that cannot succeed"
                self.full[register] = 1 - register % 2
        for c in range(self.nodes - 1):
            if self.full[2 * c] and not self.full[2 * c + 1]:
                self.full[2 * c], self.full[2 * c + 1] = 0, 1
                self.words[c] += 1
        self.time += 1

    def cycles(self, count: int) -> None:
        for _ in range(count):
            self.cycle()


@pytest.mark.parametrize("nodes", [2, 3, 5])
@pytest.mark.parametrize("words", [0, 1, 7])
def test_a_message_comes_whole_with_a_header_over_every_link(nodes: int, words: int) -> None:
    row = Row(nodes, (nodes - 1, 4, words))
    assert k.send(row.post, 0, 0, 0)
    assert not k.met(row.post, 0, 2, 0, 0), "the sending is not through"
    row.cycles(40 * nodes + 8 * words * nodes)
    assert row.words == [1 + words] * (nodes - 1)
    assert k.met(row.post, 0, 2, 0, 0)
    assert k.met(row.post, nodes - 1, 0, -1, 4)
    assert k.met(row.post, nodes - 1, 1, 0, 0)
    assert not k.met(row.post, nodes - 1, 0, -1, 4), "it has been taken"
    assert not any(row.full)


def test_messages_of_one_channel_come_in_their_order() -> None:
    row = Row(3, (2, 0, 3), (2, 0, 5), (1, 0, 2))
    for mail in range(3):
        assert k.send(row.post, 0, 0, mail)
    row.cycles(300)
    totals = []
    for node in (2, 2, 1):
        copy = k.find(row.post, node, 0, 0)
        totals.append(int(row.post.copies[copy, k.TOTAL]))
        assert row.post.copies[copy, k.HAVE] == totals[-1]
        k.take(row.post, node, copy)
    assert totals == [3, 5, 2]
    assert row.post.nodes[:, k.FIRST].tolist() == row.post.nodes[:, k.LAST].tolist() == [-1] * 3


def test_what_a_node_passes_on_goes_on_as_it_comes_and_stays_for_its_program_too() -> None:
    row = Row(3, (1, 0, 6), (2, 0, 6))
    # Node 1 passes on what it has from node 0 in queue 0, as mail 1; nothing that it has from others.
    first = np.zeros(9 * 3, np.int64)
    first[0 * 3 + 1 + 1 :] = 2
    row.post = row.post._replace(passed=np.array([[0, 1], [2, 1]], np.int64), first_passed=first)
    assert k.send(row.post, 0, 0, 0)
    row.cycles(300)
    assert row.words == [7, 7]
    assert k.find(row.post, 1, 0, 0) >= 0
    copy = k.find(row.post, 2, 1, 0)
    assert row.post.copies[copy, [k.HAVE, k.TOTAL]].tolist() == [6, 6]
    assert row.post.nodes[:, k.OWN].tolist() == [0, 0, 0]


def test_queues_and_sources_are_kept_apart() -> None:
    row = Row(3, (2, 1, 2), (2, 6, 2))
    assert k.send(row.post, 0, 0, 0)
    assert k.send(row.post, 1, 1, 1)
    row.cycles(200)
    assert k.find(row.post, 2, -1, 5) == -1
    assert k.find(row.post, 2, 0, 6) == -1
    assert k.find(row.post, 2, 1, 6) == k.find(row.post, 2, -1, 6) >= 0
    assert k.find(row.post, 2, 0, 1) == k.find(row.post, 2, -1, 1) >= 0


def test_where_no_channel_leads_nothing_is_sent() -> None:
    row = Row(2, (0, 0, 3))
    assert not k.send(row.post, 1, 1, 0)
    row.cycles(50)
    assert row.words == [0]


def test_a_message_that_was_taken_up_goes_on_as_the_nodes_own() -> None:
    row = Row(3, (1, 0, 4), (2, 3, 4))
    assert k.send(row.post, 0, 0, 0)
    while not k.met(row.post, 1, 0, 0, 0):
        row.cycle()
        assert row.time < 200
    assert k.forward(row.post, 1, 1, 1)
    row.cycles(200)
    assert k.find(row.post, 2, 1, 3) >= 0
    assert row.words == [5, 5]
    assert k.met(row.post, 1, 1, 0, 0)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_a_message_is_taken_out_wherever_it_stands(order: tuple[int, ...]) -> None:
    row = Row(2, *((1, queue, 1) for queue in range(3)))
    for mail in range(3):
        assert k.send(row.post, 0, 0, mail)
    row.cycles(200)
    left = {0, 1, 2}
    for queue in order:
        k.take(row.post, 1, k.find(row.post, 1, -1, queue))
        left.remove(queue)
        assert {q for q in range(3) if k.find(row.post, 1, -1, q) >= 0} == left
