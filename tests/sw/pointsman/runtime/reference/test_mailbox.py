"""What the nodes of an operator share on the reference machine."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.api.substrate import Given
from pointsman.runtime.reference.mailbox import Cast, Mailbox, Until
from pointsman.runtime.reference.meaning import signature_of_operator


def _mailbox(text: str) -> Mailbox:
    (operator,) = compile_text(text, topology=mesh(3)).operators()
    return Mailbox(operator, signature_of_operator(operator))


def test_waiting_is_asked_of_whoever_runs_the_node() -> None:
    until = Until(lambda: True)
    assert list(until.__await__()) == [until]


def test_a_round_has_one_meaning_for_all() -> None:
    mailbox = _mailbox("(cshift 'c (runtime) :m 1)")
    assert mailbox.round(0, 0, 0, Given((1,), 1)) is mailbox.round(0, 0, 2, Given((1,), 1))
    with pytest.raises(PointsmanError, match="others in the same round with 1"):
        mailbox.round(0, 0, 1, Given((0,), 0))


def test_messages_that_are_left_are_told_with_their_ends() -> None:
    mailbox = _mailbox("(stream 's 0 2 :m 1)")
    assert mailbox.unread() == []
    mailbox.queues[0, 0, 2] += [np.zeros(1, np.uint32)] * 2
    mailbox.casts[0, 0] = Cast(1, np.zeros(1, np.uint32), {0, 2})
    queue, cast = mailbox.unread()
    assert queue.endswith("2 messages of operator 's' from node 0 to node 2 never read")
    assert cast.endswith("1 message of operator 's' from node 1 to node 0, 2 never read")
