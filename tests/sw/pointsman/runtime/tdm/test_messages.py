"""Messages of a node on the switch: marks, and what comes before it is wanted."""

from __future__ import annotations

from typing import Any

import numpy as np

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.api.requests import Attend
from pointsman.runtime.tdm.messages import Messages
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape


def _messages(text: str, number: int) -> Messages:
    return Messages(make_tables(compile_text(text, topology=mesh(2)), SwitchShape(ports=2)), number)


def _feed(coroutine: Any, words: list[int]) -> Any:
    """Run a coroutine whose reads get ``words``, as many as they ask for."""
    try:
        request = coroutine.send(None)
        while True:
            assert isinstance(request, Attend)
            lane = request.lanes[-1]
            lane.data[: lane.words] = [words.pop(0) for _ in range(lane.words)]
            request.state[len(request.lanes) - 1] = lane.words
            request = coroutine.send(None)
    except StopIteration as end:
        return end.value


def test_a_mark_goes_before_the_words_where_operators_share_a_connection_in_no_order() -> None:
    words = np.arange(3, dtype=np.uint32)
    assert len(_messages("(stream 'a 0 1 :m 3)", 0).outgoing(0, 1, words)) == 1
    mark, _ = _messages("(parallel (stream 'a 0 1 :m 3) (stream 'b 0 1 :m 3))", 0).outgoing(1, 1, words)
    assert mark.data is not None
    assert (mark.words, mark.data.tolist()) == (1, [1])


def test_a_message_of_another_operator_is_put_aside_until_it_is_wanted() -> None:
    messages = _messages("(parallel (stream 'a 0 1 :m 2) (stream 'b 0 1 :m 1))", 1)
    assert _feed(messages.wait_for(1, 0, ()), [0, 70, 71, 1]) == (None, [])
    found, _ = _feed(messages.wait_for(0, 0, ()), [])
    assert found.tolist() == [70, 71]
    assert messages.put_aside(0, 0) is None
