"""What a script sends and receives."""

from __future__ import annotations

from pointsman.operators.messages import NOTHING, Call, Combine, Exchange, Receive, Script, Send


def test_messages_of_a_script_are_those_of_all_its_steps() -> None:
    steps = (
        Exchange(Send(4, channel=1), Receive(5, forward=(Send(6),))),
        Combine(0, 0, 1),
        Receive(None, channel=2, forward=(Send(7),)),
        Send(8),
    )
    script = Script("func", {"func": (Call(steps),)})
    assert script.messages_in() == {(5, 0), (None, 2)}
    assert script.messages_out() == {(4, 1), (6, 0), (7, 0), (8, 0)}


def test_a_node_without_a_part_sends_and_receives_nothing() -> None:
    assert not NOTHING.messages_in() | NOTHING.messages_out()
