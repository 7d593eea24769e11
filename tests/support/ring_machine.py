"""A mesh of four nodes whose routers pass words round a ring, for the tests of ``cosim.numesh.machine``."""

from __future__ import annotations

import numpy as np
import pytest

from cosim.engines.verilated.build import find_compiler
from cosim.numesh.machine import Machine
from cosim.numesh.rings import ring_memories, ring_order
from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.runtime.api.requests import Category, Lane, Transfer

CPU, WRITE, READ, PSYNC, ROUTER, REPROG, _ = Category
SHAPE = NodeShape(vfsms=8, schedule_depth=16)
TOPOLOGY = mesh(2, 2)
NODES = 4
RING = ring_memories(SHAPE, TOPOLOGY, [(2, 3)])
"""Register 2 of each node comes out of register 3 of the next; a word every other cycle."""
PREVIOUS = {node: ring_order(TOPOLOGY)[place - 1] for place, node in enumerate(ring_order(TOPOLOGY))}
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
ENGINES = ["model", "amaranth", pytest.param("verilated", marks=needs_compiler)]


def write(word: int, register: int = 2, category: Category | None = None) -> Transfer:
    return Transfer(Lane(True, register, 1, np.array([word], dtype=np.uint32)), category)


def alone(machine: Machine, program, **options):
    """Run a program on node 0 and none on the others."""
    return machine.run([program, None, None, None], **options)
