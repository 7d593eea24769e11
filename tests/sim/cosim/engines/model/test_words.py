"""Words at addresses: as NumPy has them there."""

from __future__ import annotations

import numpy as np
import pytest

from cosim.engines.model.words import load_word, store_word
from pointsman.kernels import kernel


@kernel
def _load(address: int, four: bool) -> int:
    return load_word(address, four)


@kernel
def _store(address: int, four: bool, word: int) -> None:
    store_word(address, four, word)


@pytest.mark.parametrize(("kind", "bits"), [(np.uint32, 32), (np.uint64, 64)])
def test_a_word_is_read_and_written_where_it_is_and_nowhere_else(kind: type, bits: int) -> None:
    words = np.array([1, (1 << bits) - 2, 3], dtype=kind)
    address, four = words.ctypes.data, words.itemsize == 4
    for i, word in enumerate(words.tolist()):
        assert _load(address + i * words.itemsize, four) % (1 << 64) == word
    _store(address + words.itemsize, four, -7)
    assert words.tolist() == [1, (1 << bits) - 7, 3]
