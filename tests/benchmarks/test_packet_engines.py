"""The benchmark of packet engines measures what it says."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from packet_router.shape import RouterShape


def test_every_message_is_sent_and_read(load: Callable[[str], ModuleType]):
    module = load("packet_engines.py")
    found = module.measure(RouterShape(size=(2, 2)), "model", 16, 100, 5_000)
    assert found["cycles"] > 2 * 116
    assert found["node_cycles_per_second"] > 0
