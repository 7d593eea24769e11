"""Shifts and permutations by messages, on a machine without a network."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.network import mesh
from pointsman.operators.messages import decompose
from pointsman.operators.messages.replay import replay

MESHES = [mesh(1, 1), mesh(1, 2), mesh(2, 2), mesh(3, 5), mesh(2, 2, 2), mesh(7)]


@pytest.mark.parametrize("topology", MESHES, ids=str)
def test_shifts_and_permutations(machine, topology):
    n = topology.nodes
    items = machine.items(range(n))
    calls = {node: [("func", items[node])] for node in range(n)}
    for distance in (-n - 1, -1, 0, 1, 2, n):
        for kind in ("cshift", "eoshift"):
            operator = machine.one(f"({kind} 's (runtime) :m 2)", topology)
            results = replay(
                machine.scripts(operator, topology, decompose(operator, topology), (distance,)), calls, 2, machine.chain
            )
            for node in range(n):
                origin = node - distance
                if kind == "cshift":
                    assert np.array_equal(results[node][0], items[origin % n])
                elif 0 <= origin < n:
                    assert np.array_equal(results[node][0], items[origin])
                else:
                    assert not results[node][0].any()
    permutation = np.random.default_rng(1).permutation(n).tolist()
    for text in ("(permute 's (runtime) :m 2)", "(permute 's (runtime :distributed t) :m 2)"):
        operator = machine.one(text, topology)
        way = decompose(operator, topology)
        scripts = {
            node: way.script(
                operator, 0, node, (permutation[node] if "distributed" in text else permutation,), topology
            )
            for node in range(n)
        }
        results = replay(scripts, calls, 2, machine.chain)
        assert all(np.array_equal(results[permutation[node]][0], items[node]) for node in range(n))
