"""Every decomposition against the meaning of its operator, on a machine without a network."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh
from pointsman.operators.api.operands import runtime_operands
from pointsman.operators.messages import DECOMPOSITIONS, Decomposition, decompose
from pointsman.operators.messages.replay import StuckError, replay
from pointsman.program.program import Operator

MESHES = [mesh(1, 1), mesh(1, 2), mesh(2, 2), mesh(3, 5), mesh(2, 2, 2), mesh(7)]


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


@pytest.mark.parametrize("topology", MESHES, ids=str)
@pytest.mark.parametrize("name", ["dyn_bcast", "dyn_bcast_dense", "dyn_bcast_tree"])
def test_every_node_reads_what_the_source_broadcasts(topology, name):
    for source in {0, topology.nodes // 2, topology.nodes - 1}:
        text = f"(broadcast 'b {source} :m 2)" if name == "dyn_bcast_tree" else "(broadcast 'b (runtime) :m 2)"
        operator = _one(text, topology)
        way = decompose(operator, topology, name)
        scripts = _scripts(operator, topology, way, (source,))
        message = np.array([source + 3, 9])
        calls = {n: [("write", message)] if n == source else [("read", None)] for n in range(topology.nodes)}
        results = replay(scripts, calls, 2, _chain)
        assert results[source] == [None]
        assert all(np.array_equal(results[n][0], message) for n in scripts if n != source)


def test_flood_fill_sends_over_single_links_only():
    topology = mesh(4, 3)
    operator = _one("(broadcast 'b (runtime))", topology)
    way = decompose(operator, topology)
    assert way.name == "dyn_bcast_dense"
    sent = 0
    for source in range(12):
        for node, script in _scripts(operator, topology, way, (source,)).items():
            for to, _ in script.messages_out():
                assert to in {other for other, _ in topology.at_port[node].values()}
                sent += 1
    assert sent == 12 * 11


@pytest.mark.parametrize("topology", MESHES, ids=str)
def test_reductions_combine_in_the_order_of_the_nodes(topology):
    n = topology.nodes
    items = _items(range(n))
    calls = {node: [("func", items[node])] for node in range(n)}
    for destination in {0, n // 2, n - 1}:
        operator = _one("(reduce 'r 'f (runtime) :m 2)", topology)
        scripts = _scripts(operator, topology, decompose(operator, topology), (destination,))
        assert np.array_equal(replay(scripts, calls, 2, _chain)[destination][0], _fold(items.values()))
    operator = _one("(allreduce 'r 'f :m 2)", topology)
    results = replay(_scripts(operator, topology, decompose(operator, topology)), calls, 2, _chain)
    assert all(np.array_equal(result[0], _fold(items.values())) for result in results.values())
    operator = _one("(prefix 'r 'f :m 2)", topology)
    for seed in range(3):
        results = replay(_scripts(operator, topology, decompose(operator, topology)), calls, 2, _chain, seed=seed)
        for node in range(n):
            assert np.array_equal(results[node][0], _fold(items[k] for k in range(node + 1)))


@pytest.mark.parametrize("valid", [(0,), (1, 2), (0, 2, 4, 6), (7,)])
def test_nodes_that_are_not_valid_take_no_part(valid):
    topology = mesh(8)
    items = _items(range(8))
    calls = {node: [("func", items[node])] for node in range(8)}
    listed = " ".join(map(str, valid))
    for text in (
        "(prefix 'p 'f :m 2 :valid '({}))",
        "(allreduce 'p 'f :m 2 :valid '({}))",
        "(reduce 'p 'f (runtime) :m 2 :valid '({}))",
    ):
        operator = _one(text.format(listed), topology)
        results = replay(_scripts(operator, topology, decompose(operator, topology), (3,)), calls, 2, _chain)
        if operator.kind == "prefix":
            for k, node in enumerate(valid):
                assert np.array_equal(results[node][0], _fold(items[v] for v in valid[: k + 1]))
        else:
            for node in valid if operator.kind == "allreduce" else (3,):
                assert np.array_equal(results[node][0], _fold(items[v] for v in valid))


@pytest.mark.parametrize("topology", MESHES, ids=str)
def test_barrier_lets_nobody_on_before_all_are_there(topology):
    operator = _one("(barrier 'b)", topology)
    scripts = _scripts(operator, topology, decompose(operator, topology))
    everybody = {node: [("func", None)] for node in scripts}
    replay(scripts, everybody, 1, _chain)
    for missing in scripts:
        if topology.nodes == 1:
            continue
        with pytest.raises(StuckError) as stuck:
            replay(scripts, {**everybody, missing: []}, 1, _chain)
        waiting = str(stuck.value)
        assert all(f"{node}" in waiting for node in scripts if node != missing)


@pytest.mark.parametrize("topology", MESHES, ids=str)
def test_shifts_and_permutations(topology):
    n = topology.nodes
    items = _items(range(n))
    calls = {node: [("func", items[node])] for node in range(n)}
    for distance in (-n - 1, -1, 0, 1, 2, n):
        for kind in ("cshift", "eoshift"):
            operator = _one(f"({kind} 's (runtime) :m 2)", topology)
            results = replay(_scripts(operator, topology, decompose(operator, topology), (distance,)), calls, 2, _chain)
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
        operator = _one(text, topology)
        way = decompose(operator, topology)
        scripts = {
            node: way.script(
                operator, 0, node, (permutation[node] if "distributed" in text else permutation,), topology
            )
            for node in range(n)
        }
        results = replay(scripts, calls, 2, _chain)
        assert all(np.array_equal(results[permutation[node]][0], items[node]) for node in range(n))


def test_streams_spread_gather_and_sequences():
    topology = mesh(2, 3)
    items = _items(range(6))
    for source, destination in product(range(6), range(6)):
        operator = _one("(stream 's (runtime) (runtime) :m 2)", topology)
        scripts = _scripts(operator, topology, decompose(operator, topology), (source, destination))
        calls: dict[int, list] = {n: [] for n in range(6)}
        calls[source].append(("write", items[source]))
        calls[destination].append(("read", None))
        assert np.array_equal(replay(scripts, calls, 2, _chain)[destination][-1], items[source])
    rest = [1, 2, 3, 4, 5]
    operator = _one("(gather 'g 0 :m 2)", topology)
    scripts = _scripts(operator, topology, decompose(operator, topology))
    calls = {0: [("read", None)] * 10, **{n: [("write", items[n]), ("write", items[n] + 1)] for n in rest}}
    got = replay(scripts, calls, 2, _chain)[0]
    assert np.array_equal(got, [items[n] for n in rest] + [items[n] + 1 for n in rest])
    operator = _one("(spread 'g 0 :m 2)", topology)
    scripts = _scripts(operator, topology, decompose(operator, topology))
    results = replay(
        scripts, {0: [("write", items[n]) for n in rest], **{n: [("read", None)] for n in rest}}, 2, _chain
    )
    assert all(np.array_equal(results[n][0], items[n]) for n in rest)
    operator = _one("(seqread 'q '(4 2 5) 0 :m 2)", topology)
    scripts = _scripts(operator, topology, decompose(operator, topology))
    calls = {0: [("read", None)] * 3, **{n: [("write", items[n])] for n in (2, 4, 5)}}
    assert np.array_equal(replay(scripts, calls, 2, _chain)[0], [items[4], items[2], items[5]])
    operator = _one("(seqwrite 'q 0 '(4 2 5) :m 2)", topology)
    scripts = _scripts(operator, topology, decompose(operator, topology))
    calls = {0: [("write", items[n]) for n in (4, 2, 5)], **{n: [("read", None)] for n in (2, 4, 5)}}
    results = replay(scripts, calls, 2, _chain)
    assert all(np.array_equal(results[n][0], items[n]) for n in (2, 4, 5))
    operator = _one("(collect 'q 3 :m 2)", topology)
    scripts = _scripts(operator, topology, decompose(operator, topology))
    results = replay(scripts, {1: [("write", items[1])], 3: [("read", None)]}, 2, _chain)
    assert np.array_equal(results[3][0], items[1])


def test_distributed_source_needs_no_knowledge_at_the_readers():
    topology = mesh(3)
    operator = _one("(broadcast 'b (runtime :distributed t) :m 2)", topology)
    way = decompose(operator, topology)
    assert way.name == "dyn_bcast"
    scripts = {n: way.script(operator, 0, n, (n if n == 1 else -1,), topology) for n in range(3)}
    message = np.array([4, 5])
    results = replay(scripts, {0: [("read", None)], 1: [("write", message)], 2: [("read", None)]}, 2, _chain)
    assert np.array_equal(results[0][0], message)
    assert np.array_equal(results[2][0], message)


def test_instances_keep_to_their_own_nodes():
    topology = mesh(3, 4)
    operator = _one("(subset (make-1d 'x) (broadcast 'b (runtime)))", topology)
    assert len(operator.instances) == 4
    for way in (one for one in DECOMPOSITIONS if one.name in ("dyn_bcast", "dyn_bcast_dense")):
        for i, instance in enumerate(operator.instances):
            for node in instance.nodes:
                script = way.script(operator, i, node, (1,), topology)
                assert {to for to, _ in script.messages_out()} <= set(instance.nodes)


def test_every_kind_has_a_way_and_names_are_unique():
    from pointsman.program.catalogue import OPERATORS

    assert {kind for one in DECOMPOSITIONS for kind in one.kinds} == set(OPERATORS)
    assert len({one.name for one in DECOMPOSITIONS}) == len(DECOMPOSITIONS)


def test_unknown_and_unfit_implementations_are_refused():
    topology = mesh(3)
    operator = _one("(broadcast 'b (runtime) :impl 'dyn_bcast_tree)", topology)
    assert runtime_operands(operator) == ("source",)
    with pytest.raises(PointsmanError, match="dyn_bcast_tree cannot do this broadcast by messages"):
        decompose(operator, topology)
    with pytest.raises(PointsmanError, match="no implementation 'dyn_wave' of a broadcast by messages"):
        decompose(operator, topology, "dyn_wave")
