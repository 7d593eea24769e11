"""A node's own router: what it refuses before it starts."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType

import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.numesh.router import Router


class _Clock:
    time = 0


@pytest.mark.parametrize("preloaded", [False, True])
def test_a_loop_of_one_slot_is_refused(by_hand: ModuleType, preloaded: bool) -> None:
    images = by_hand.stream_1x2()
    Router(images, 0, _Clock(), preloaded=preloaded)
    with pytest.raises(PointsmanError) as caught:
        Router(replace(images, period=1), 0, _Clock(), preloaded=preloaded)
    assert str(caught.value.message) == "a period must have at least 2 slots, not 1"
