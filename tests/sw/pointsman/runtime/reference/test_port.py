"""One operator at one node of the reference machine."""

from __future__ import annotations

from typing import Any

import numpy as np

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.runtime.api.substrate import Given
from pointsman.runtime.reference.early_loads import EarlyLoads
from pointsman.runtime.reference.mailbox import Mailbox, Until
from pointsman.runtime.reference.meaning import signature_of_operator
from pointsman.runtime.reference.port import ReferencePort


def _ports(text: str, nodes: int) -> list[ReferencePort]:
    program = compile_text(text, topology=mesh(nodes))
    (operator,), early = program.operators(), EarlyLoads(program)
    mailbox = Mailbox(operator, signature_of_operator(operator))
    ports = [ReferencePort(mailbox, [0], node, early) for node in range(nodes)]
    for port in ports:
        assert list(port.load(Given()).__await__()) == []
    return ports


def _waits(coroutine: Any) -> Until:
    until = coroutine.send(None)
    assert isinstance(until, Until)
    return until


def _words(*words: int) -> np.ndarray:
    return np.array(words, np.uint32)


def test_a_reader_waits_until_the_message_is_written() -> None:
    source, _, destination = _ports("(stream 's 0 2 :m 2)", 3)
    into = _words(0, 0)
    reading = destination.read(into)
    until = _waits(reading)
    assert not until.ready()
    list(source.write(_words(4, 5)).__await__())
    assert until.ready()
    assert _rest(reading) == []
    assert into.tolist() == [4, 5]


def _rest(coroutine: Any) -> list[Any]:
    try:
        return [coroutine.send(None)]
    except StopIteration:
        return []


def test_a_written_message_may_change_afterwards() -> None:
    source, destination = _ports("(stream 's 0 1 :m 1)", 2)
    words, into = _words(4), _words(0)
    list(source.write(words).__await__())
    words[0] = 9
    list(destination.read(into).__await__())
    assert into.tolist() == [4]


def test_messages_of_spread_go_to_one_reader_after_the_other() -> None:
    ports = _ports("(spread 's 0 :m 1)", 3)
    for word in (5, 6):
        list(ports[0].write(_words(word)).__await__())
    got = [_words(0), _words(0)]
    for port, into in zip(ports[1:], got, strict=True):
        list(port.read(into).__await__())
    assert [into.tolist() for into in got] == [[5], [6]]


def test_a_round_is_forgotten_when_all_have_had_their_result() -> None:
    ports = _ports("(allreduce 'r 'add :m 1)", 2)
    results = [_words(0), _words(0)]
    first = ports[0].func(_words(1), results[0], np.add)
    _waits(first)
    list(ports[1].func(_words(2), results[1], np.add).__await__())
    assert _rest(first) == []
    assert [into.tolist() for into in results] == [[3], [3]]
    assert not ports[0].mailbox.rounds
