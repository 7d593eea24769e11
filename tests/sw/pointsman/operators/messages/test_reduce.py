"""Reductions, prefixes and barriers by messages, on a machine without a network."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.network import mesh
from pointsman.operators.messages import decompose
from pointsman.operators.messages.replay import StuckError, replay

MESHES = [mesh(1, 1), mesh(1, 2), mesh(2, 2), mesh(3, 5), mesh(2, 2, 2), mesh(7)]


@pytest.mark.parametrize("topology", MESHES, ids=str)
def test_reductions_combine_in_the_order_of_the_nodes(machine, topology):
    n = topology.nodes
    items = machine.items(range(n))
    calls = {node: [("func", items[node])] for node in range(n)}
    for destination in {0, n // 2, n - 1}:
        operator = machine.one("(reduce 'r 'f (runtime) :m 2)", topology)
        scripts = machine.scripts(operator, topology, decompose(operator, topology), (destination,))
        assert np.array_equal(replay(scripts, calls, 2, machine.chain)[destination][0], machine.fold(items.values()))
    operator = machine.one("(allreduce 'r 'f :m 2)", topology)
    results = replay(machine.scripts(operator, topology, decompose(operator, topology)), calls, 2, machine.chain)
    assert all(np.array_equal(result[0], machine.fold(items.values())) for result in results.values())
    operator = machine.one("(prefix 'r 'f :m 2)", topology)
    for seed in range(3):
        results = replay(
            machine.scripts(operator, topology, decompose(operator, topology)), calls, 2, machine.chain, seed=seed
        )
        for node in range(n):
            assert np.array_equal(results[node][0], machine.fold(items[k] for k in range(node + 1)))


@pytest.mark.parametrize("valid", [(0,), (1, 2), (0, 2, 4, 6), (7,)])
def test_nodes_that_are_not_valid_take_no_part(machine, valid):
    topology = mesh(8)
    items = machine.items(range(8))
    calls = {node: [("func", items[node])] for node in range(8)}
    listed = " ".join(map(str, valid))
    for text in (
        "(prefix 'p 'f :m 2 :valid '({}))",
        "(allreduce 'p 'f :m 2 :valid '({}))",
        "(reduce 'p 'f (runtime) :m 2 :valid '({}))",
    ):
        operator = machine.one(text.format(listed), topology)
        results = replay(
            machine.scripts(operator, topology, decompose(operator, topology), (3,)), calls, 2, machine.chain
        )
        if operator.kind == "prefix":
            for k, node in enumerate(valid):
                assert np.array_equal(results[node][0], machine.fold(items[v] for v in valid[: k + 1]))
        else:
            for node in valid if operator.kind == "allreduce" else (3,):
                assert np.array_equal(results[node][0], machine.fold(items[v] for v in valid))


@pytest.mark.parametrize("topology", MESHES, ids=str)
def test_barrier_lets_nobody_on_before_all_are_there(machine, topology):
    operator = machine.one("(barrier 'b)", topology)
    scripts = machine.scripts(operator, topology, decompose(operator, topology))
    everybody = {node: [("func", None)] for node in scripts}
    replay(scripts, everybody, 1, machine.chain)
    for missing in scripts:
        if topology.nodes == 1:
            continue
        with pytest.raises(StuckError) as stuck:
            replay(scripts, {**everybody, missing: []}, 1, machine.chain)
        waiting = str(stuck.value)
        assert all(f"{node}" in waiting for node in scripts if node != missing)
