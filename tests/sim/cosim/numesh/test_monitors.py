"""What processors read must be what was written for them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cosim.numesh.monitors import check_streams, raise_violations
from cosim.record import EVENT
from pointsman.errors import PointsmanError

STREAM = SimpleNamespace(source=0, register=2, destinations=((1, 3), (2, 4)))


def violations(*events: tuple[int, int, int, bool, int]) -> list[str]:
    images: Any = SimpleNamespace(promises=[STREAM])
    record: Any = SimpleNamespace(events=np.array(list(events), dtype=EVENT))
    return [str(violation) for violation in check_streams(images, record)]


def test_every_reader_gets_every_word_in_order() -> None:
    sent = [(0, 0, 2, True, 7), (1, 0, 2, True, 8)]
    assert violations(*sent, (4, 1, 3, False, 7), (5, 2, 4, False, 7), (6, 1, 3, False, 8), (9, 2, 4, False, 8)) == []


@pytest.mark.parametrize("word", [8, 9])
def test_a_word_that_is_not_next_is_told_with_its_place(word: int) -> None:
    told = violations((0, 0, 2, True, 7), (1, 0, 2, True, 8), (4, 1, 3, False, word))
    assert told == [f"cycle 4, node 1, register 3: read {word:#x}, which is not next from node 0 (register 2)"]


def test_registers_without_a_promise_are_not_looked_at() -> None:
    assert violations((3, 5, 0, False, 1)) == []


def test_violations_stop_a_run() -> None:
    raise_violations([])
    with pytest.raises(PointsmanError, match="monitors found 1 violations"):
        raise_violations([SimpleNamespace(__str__=lambda self: "x")])  # type: ignore[list-item]
