"""Model of a mesh: its nodes, and links that are only wires."""

from __future__ import annotations

from collections.abc import Mapping

from numesh.shape import NodeShape
from pointsman.network import Topology

from .node import NodeModel


class MeshModel:
    """A model of each node, and the wires between them.

    Ports of node i are named ``p_full_<i>`` at the mesh and ``node_<i>.out_valid_<d>`` inside it.
    """

    def __init__(self, shape: NodeShape, topology: Topology) -> None:
        self.shape = shape
        self.topology = topology
        self.nodes = [NodeModel(shape) for _ in range(topology.nodes)]

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        expected: dict[str, int | None] = {}
        for i, node in enumerate(self.nodes):
            for name, value in node.outputs().items():
                expected[f"{name}_{i}" if name.startswith("p_") else f"node_{i}.{name}"] = value
        return expected

    def clock(self, inputs: Mapping[str, int]) -> None:
        given = [node.outputs() for node in self.nodes]
        for i, node in enumerate(self.nodes):
            node.clock(self._inputs(i, inputs, given))

    def _inputs(self, i: int, inputs: Mapping[str, int], given: list[dict[str, int | None]]) -> dict[str, int]:
        values = {"rst": inputs["rst"]}
        for name in ("p_address", "p_write", "p_read", "p_write_data"):
            values[name] = inputs[f"{name}_{i}"]
        for d in range(self.shape.neighbours):
            other = self.topology.at_port[i].get(d)
            there: Mapping[str, int | None] = {} if other is None else given[other[0]]
            port = 0 if other is None else other[1]
            values[f"in_valid_{d}"] = there.get(f"out_valid_{port}") or 0
            values[f"in_data_{d}"] = there.get(f"out_data_{port}") or 0
            values[f"out_accept_{d}"] = there.get(f"in_accept_{port}") or 0
        return values
