"""The benchmark of packet engines measures what it says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from packet_router.shape import RouterShape


def test_every_message_is_sent_and_read():
    path = Path(__file__).parents[2] / "benchmarks" / "packet_engines.py"
    specification = importlib.util.spec_from_file_location("packet_engines", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    found = module.measure(RouterShape(size=(2, 2)), "model", 16, 100, 5_000)
    assert found["cycles"] > 2 * 116
    assert found["node_cycles_per_second"] > 0
