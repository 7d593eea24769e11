"""Scripts of all nodes of an operator, and messages whose combination depends on their order."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from pointsman.cop import compile_text
from pointsman.network import Topology
from pointsman.operators.messages import Decomposition
from pointsman.program.program import Operator


def _one(text: str, topology: Topology) -> Operator:
    return next(iter(compile_text(text, topology=topology).operators()))


def _scripts(operator: Operator, topology: Topology, way: Decomposition, values=()):
    return {
        node: way.script(operator, i, node, values, topology)
        for i, instance in enumerate(operator.instances)
        for node in instance.nodes
    }


def _chain(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Associative and not commutative: x -> a·x + b, as pairs (a, b)."""
    a, b = left
    c, d = right
    return np.array([(a * c) % 997, (c * b + d) % 997])


def _items(nodes) -> dict[int, np.ndarray]:
    random = np.random.default_rng(5)
    return {node: random.integers(1, 997, 2) for node in nodes}


def _fold(items):
    items = list(items)
    total = items[0]
    for item in items[1:]:
        total = _chain(total, item)
    return total


@pytest.fixture
def machine() -> SimpleNamespace:
    """``one``: the operator of a text; ``scripts`` of its nodes; ``items`` to combine by ``chain``, and their ``fold``."""
    return SimpleNamespace(one=_one, scripts=_scripts, chain=_chain, items=_items, fold=_fold)
