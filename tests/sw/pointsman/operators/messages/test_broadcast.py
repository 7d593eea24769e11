"""Broadcasts by messages, on a machine without a network."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.network import mesh
from pointsman.operators.messages import decompose
from pointsman.operators.messages.replay import replay

MESHES = [mesh(1, 1), mesh(1, 2), mesh(2, 2), mesh(3, 5), mesh(2, 2, 2), mesh(7)]


@pytest.mark.parametrize("topology", MESHES, ids=str)
@pytest.mark.parametrize("name", ["dyn_bcast", "dyn_bcast_dense", "dyn_bcast_tree"])
def test_every_node_reads_what_the_source_broadcasts(machine, topology, name):
    for source in {0, topology.nodes // 2, topology.nodes - 1}:
        text = f"(broadcast 'b {source} :m 2)" if name == "dyn_bcast_tree" else "(broadcast 'b (runtime) :m 2)"
        operator = machine.one(text, topology)
        way = decompose(operator, topology, name)
        scripts = machine.scripts(operator, topology, way, (source,))
        message = np.array([source + 3, 9])
        calls = {n: [("write", message)] if n == source else [("read", None)] for n in range(topology.nodes)}
        results = replay(scripts, calls, 2, machine.chain)
        assert results[source] == [None]
        assert all(np.array_equal(results[n][0], message) for n in scripts if n != source)


def test_flood_fill_sends_over_single_links_only(machine):
    topology = mesh(4, 3)
    operator = machine.one("(broadcast 'b (runtime))", topology)
    way = decompose(operator, topology)
    assert way.name == "dyn_bcast_dense"
    sent = 0
    for source in range(12):
        for node, script in machine.scripts(operator, topology, way, (source,)).items():
            for to, _ in script.messages_out():
                assert to in {other for other, _ in topology.at_port[node].values()}
                sent += 1
    assert sent == 12 * 11


def test_distributed_source_needs_no_knowledge_at_the_readers(machine):
    topology = mesh(3)
    operator = machine.one("(broadcast 'b (runtime :distributed t) :m 2)", topology)
    way = decompose(operator, topology)
    assert way.name == "dyn_bcast"
    scripts = {n: way.script(operator, 0, n, (n if n == 1 else -1,), topology) for n in range(3)}
    message = np.array([4, 5])
    results = replay(scripts, {0: [("read", None)], 1: [("write", message)], 2: [("read", None)]}, 2, machine.chain)
    assert np.array_equal(results[0][0], message)
    assert np.array_equal(results[2][0], message)
