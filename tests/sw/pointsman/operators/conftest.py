"""Operators of one line of COP, implementations by name, and their streams routed on a small mesh."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.operators import IMPLEMENTATIONS, Context, Implementation, RoleDraft, Wiring
from pointsman.operators.api.implementation import role
from pointsman.program.program import Operator
from pointsman.routing.phase_router.router import route_phase

SMALL = mesh(3, 2)


def _operator(text: str, topology: Topology = SMALL) -> Operator:
    (operator,) = compile_text(text, topology=topology).operators()
    return operator


def _context(topology: Topology = SMALL) -> Context:
    return Context(topology, NodeShape())


def _able(name: str, operator: Operator, topology: Topology = SMALL) -> Implementation:
    """The first implementation of this name that can do the operator."""
    context = _context(topology)
    return next(
        one
        for one in IMPLEMENTATIONS
        if one.name == name and operator.kind in one.kinds and one.metric(operator, context) is not None
    )


@dataclass
class Wired:
    """An implementation of an operator with its routed streams."""

    implementation: Implementation
    operator: Operator
    wiring: Wiring

    def roles(self, values: tuple[int, ...] = (), instance: int = 0) -> dict[int, RoleDraft]:
        """By node."""
        nodes = self.operator.instances[instance].nodes
        return {n: role(self.implementation, self.operator, self.wiring, instance, n, values) for n in nodes}


def _wired(name: str, text: str, topology: Topology = SMALL) -> Wired:
    operator = _operator(text, topology)
    implementation = _able(name, operator, topology)
    streams = implementation.streams(operator, _context(topology))
    return Wired(implementation, operator, Wiring(route_phase(streams, topology, NodeShape(), period=32)))


@pytest.fixture
def operator_of() -> Callable[..., Operator]:
    """The only operator of a program, from its text and a network."""
    return _operator


@pytest.fixture
def wired() -> Callable[..., Wired]:
    """An implementation by its name, for the only operator of a program, with its streams routed."""
    return _wired
