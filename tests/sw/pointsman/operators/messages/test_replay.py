"""The machine that carries messages without a network."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.operators.messages import Call, Receive, Script, Send
from pointsman.operators.messages.replay import StuckError, replay

WRITE = Script("write", {"write": (Call((Send(1),)),)})
READ = Script("read", {"read": (Call((Receive(0),), 0),)})


def test_messages_of_a_sender_come_in_order() -> None:
    sent = [("write", np.array([k])) for k in range(5)]
    for seed in range(4):
        results = replay({0: WRITE, 1: READ}, {0: sent, 1: [("read", None)] * 5}, 1, np.add, seed=seed)
        assert np.array_equal(np.concatenate(results[1]), range(5))
        assert results[0] == [None] * 5


def test_messages_of_different_senders_come_in_any_order() -> None:
    anybody = Script("read", {"read": (Call((Receive(None),), 0),)})
    to_2 = Script("write", {"write": (Call((Send(2),)),)})
    calls = {0: [("write", np.array([0]))], 1: [("write", np.array([1]))], 2: [("read", None)] * 2}
    seen = {
        tuple(np.concatenate(replay({0: to_2, 1: to_2, 2: anybody}, calls, 1, np.add, seed=k)[2])) for k in range(20)
    }
    assert seen == {(0, 1), (1, 0)}


def test_a_node_that_waits_for_ever_is_named() -> None:
    with pytest.raises(StuckError, match=r"nodes \[1\] wait"):
        replay({0: WRITE, 1: READ}, {1: [("read", None)]}, 1, np.add)


def test_messages_that_nobody_reads_are_left_over() -> None:
    with pytest.raises(AssertionError, match="left over"):
        replay({0: WRITE, 1: READ}, {0: [("write", np.array([1]))]}, 1, np.add)


def test_a_node_reads_what_it_has_written_to_itself() -> None:
    calls = {0: [("write", np.array([1])), ("write", np.array([2])), ("read", None), ("read", None)]}
    results = replay({0: Script("both", local=True)}, calls, 1, np.add)
    assert [None if r is None else r.tolist() for r in results[0]] == [None, None, [1], [2]]
