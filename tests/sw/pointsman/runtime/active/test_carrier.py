"""Messages as words, and back."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.runtime.active.carrier import DATA_BYTES, LONG_WORDS, Kind, Message, length_of, message_of, words_of


@pytest.mark.parametrize("size", [0, 1, 4, 7, DATA_BYTES])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_message_comes_out_of_its_words_whatever_follows_them(size: int, count: int) -> None:
    given = Message(3, Kind.REPLY, 255, tuple(range(1 << 31, (1 << 31) + count)), bytes(range(1, size + 1)), 255)
    words = words_of(given)
    assert len(words) == length_of(int(words[0])) <= LONG_WORDS
    assert message_of(3, np.append(words, words[:1])) == given
