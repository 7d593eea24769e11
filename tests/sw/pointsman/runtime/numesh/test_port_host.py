"""A node of the mesh is what its ports expect of it."""

from __future__ import annotations

from types import ModuleType

from pointsman.runtime.numesh.port_host import PortHost
from pointsman.runtime.numesh.substrate import NumeshSubstrate


class _Clock:
    time = 0


def test_a_node_has_all_that_its_ports_look_at(by_hand: ModuleType) -> None:
    node: PortHost = NumeshSubstrate(by_hand.stream_1x2(), 1, _Clock())
    assert all(hasattr(node, name) for name in (*PortHost.__annotations__, "agent", "leave"))
    assert (node.number, node.router.number) == (1, 1)
