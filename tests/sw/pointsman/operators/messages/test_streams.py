"""Messages between named nodes, on a machine without a network."""

from __future__ import annotations

from itertools import product

import numpy as np

from pointsman.network import mesh
from pointsman.operators.messages import decompose
from pointsman.operators.messages.replay import replay


def test_streams_spread_gather_and_sequences(machine):
    topology = mesh(2, 3)
    items = machine.items(range(6))
    for source, destination in product(range(6), range(6)):
        operator = machine.one("(stream 's (runtime) (runtime) :m 2)", topology)
        scripts = machine.scripts(operator, topology, decompose(operator, topology), (source, destination))
        calls: dict[int, list] = {n: [] for n in range(6)}
        calls[source].append(("write", items[source]))
        calls[destination].append(("read", None))
        assert np.array_equal(replay(scripts, calls, 2, machine.chain)[destination][-1], items[source])
    rest = [1, 2, 3, 4, 5]
    operator = machine.one("(gather 'g 0 :m 2)", topology)
    scripts = machine.scripts(operator, topology, decompose(operator, topology))
    calls = {0: [("read", None)] * 10, **{n: [("write", items[n]), ("write", items[n] + 1)] for n in rest}}
    got = replay(scripts, calls, 2, machine.chain)[0]
    assert np.array_equal(got, [items[n] for n in rest] + [items[n] + 1 for n in rest])
    operator = machine.one("(spread 'g 0 :m 2)", topology)
    scripts = machine.scripts(operator, topology, decompose(operator, topology))
    results = replay(
        scripts, {0: [("write", items[n]) for n in rest], **{n: [("read", None)] for n in rest}}, 2, machine.chain
    )
    assert all(np.array_equal(results[n][0], items[n]) for n in rest)
    operator = machine.one("(seqread 'q '(4 2 5) 0 :m 2)", topology)
    scripts = machine.scripts(operator, topology, decompose(operator, topology))
    calls = {0: [("read", None)] * 3, **{n: [("write", items[n])] for n in (2, 4, 5)}}
    assert np.array_equal(replay(scripts, calls, 2, machine.chain)[0], [items[4], items[2], items[5]])
    operator = machine.one("(seqwrite 'q 0 '(4 2 5) :m 2)", topology)
    scripts = machine.scripts(operator, topology, decompose(operator, topology))
    calls = {0: [("write", items[n]) for n in (4, 2, 5)], **{n: [("read", None)] for n in (2, 4, 5)}}
    results = replay(scripts, calls, 2, machine.chain)
    assert all(np.array_equal(results[n][0], items[n]) for n in (2, 4, 5))
    operator = machine.one("(collect 'q 3 :m 2)", topology)
    scripts = machine.scripts(operator, topology, decompose(operator, topology))
    results = replay(scripts, {1: [("write", items[1])], 3: [("read", None)]}, 2, machine.chain)
    assert np.array_equal(results[3][0], items[1])
