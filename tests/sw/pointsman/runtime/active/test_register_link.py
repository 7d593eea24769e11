"""Words that come in any pieces, at several registers, are the messages that were sent."""

from __future__ import annotations

from typing import Any

import numpy as np

from pointsman.runtime.active.carrier import Kind, Message, message_of, words_of
from pointsman.runtime.active.register_link import RegisterLink
from pointsman.runtime.api.requests import Attend


class _Clock:
    time = 0


class _Link(RegisterLink):
    def source(self, place: int, message: np.ndarray) -> int:
        return place

    async def start(self) -> None:
        """Nothing."""

    async def send(self, to: int, words: np.ndarray) -> None:
        """Nothing."""


def test_messages_are_put_together_from_the_words_of_each_register() -> None:
    rng = np.random.default_rng(1)
    sent: list[list[Message]] = [[], []]
    words: list[list[int]] = [[], []]
    for place in range(2):
        for k in range(20):
            message = Message(place, Kind.REQUEST, k, tuple(range(rng.integers(5))), bytes(int(rng.integers(65))))
            sent[place].append(message)
            words[place] += [99] * 2 + words_of(message).tolist()  # two words of the network
    link = _Link(2, 3, _Clock(), [4, 5], 2)
    while any(words):
        program: Any = link.wait()
        try:
            while True:
                request = program.send(None)
                assert isinstance(request, Attend)
                place = int(rng.integers(2)) if all(words) else int(bool(words[1]))
                lane = request.lanes[place]
                count = min(int(rng.integers(1, 9)), lane.words, len(words[place]))
                assert lane.data is not None
                lane.data[:count] = words[place][:count]
                del words[place][:count]
                request.moved[place] = count
        except StopIteration:
            for source, found in link.arrived:
                assert message_of(source, found) == sent[source].pop(0)
            link.arrived.clear()
    assert sent == [[], []]
