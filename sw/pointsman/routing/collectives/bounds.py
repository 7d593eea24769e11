"""Least periods and latencies of collectives: ports and cuts by counting, parity, and distances. None of them routes anything.

A set of nodes that some words have to leave bounds the period by the links that leave it; a port is such a set with one link.
How many words
leave a set depends on how many nodes, and whether the root, are in it, so nothing is listed by stream.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pointsman.artifacts.routes.collectives import PAIRWISE, CollectiveProblem
from pointsman.artifacts.routes.routes import Bound, RouteProblem
from pointsman.routing.bounds.counting import sides
from pointsman.routing.bounds.flooding import FLOODING, flooding_period
from pointsman.routing.bounds.ideal import counted_bounds
from pointsman.routing.bounds.parity import everyone_hears_odd

EITHER = ("all-gather", "reduce-scatter")
PARITY = (
    "at an even period arrivals of a word have a fixed parity of slot at each node, and no node has as many even as odd"
)


def period_bounds(problem: CollectiveProblem) -> list[Bound]:
    """Bounds of the period, tightest first."""
    count = len(problem.nodes)
    if count < 2:
        return []
    if problem.kind in PAIRWISE - {"all-to-all"}:
        streams = problem.streams()
        return counted_bounds(replace(problem.net, streams=streams)) if streams else []
    found = [*_ports(problem), *_cut(problem), *_hops(problem)]
    if problem.kind == "all-gather":
        # By reversal these hold for a reduce-scatter on a tree for each word, but its words may also go by themselves.
        if everyone_hears_odd(problem.net, count, problem.words):
            found.append(Bound((count - 1) * problem.words + 1, "parity", PARITY))
        flooding = None if problem.net.buffers else flooding_period(problem.net, problem.words)
        if flooding is not None:
            found.append(Bound(flooding, "flooding", FLOODING))
    return sorted(found, key=lambda bound: -bound.value)


def latency_bound(problem: CollectiveProblem) -> Bound | None:
    """Least slots from the first start to the last arrival: distances, and a word a slot at a port."""
    nodes, words, kind = problem.nodes, problem.words, problem.kind
    if len(nodes) < 2:
        return None
    if kind in ("broadcast", "reduce", "scatter", "gather"):
        centres = [problem.root]
    else:
        centres = list(nodes)
    if kind in PAIRWISE - {"all-to-all"}:
        return _pairs_latency(problem)
    turned = kind in ("reduce", "reduce-scatter", "gather")
    # Distances from each centre, or to it; by symmetry a word is late at one end as at the other.
    net = reversed_net(problem.net) if turned else problem.net
    best, where = 0, centres[0]
    if problem.net.topology.regular and not problem.net.dead_links and not problem.net.dead_nodes:
        if kind not in ("broadcast", "reduce", "scatter", "gather"):
            # All nodes of a torus see the same distances, and of a mesh a corner sees the greatest.
            centres = [0]
    for centre in centres:
        hops = net.distances(centre)
        away = np.array([hops[node] for node in nodes if node != centre])
        if kind in ("broadcast", "reduce", "all-reduce"):
            value = words - 1 + int(away.max())
        else:
            # Words from at least d links away need d slots, and then one each.
            value = max(int(d) - 1 + words * int((away >= d).sum()) for d in np.unique(away))
        if value > best:
            best, where = value, centre
    text = f"the words of node {where}, by their distances, with one word a slot at a port"
    return Bound(best, "latency", text)


def _pairs_latency(problem: CollectiveProblem) -> Bound | None:
    """The farthest pair, with its words behind each other."""
    pairs = list(problem.pairs())
    if not pairs:
        return None
    # A halo goes over single links.
    hops = {} if problem.kind == "halo" else {a: problem.net.distances(a) for a in {a for a, _ in pairs}}
    far = [hops[a][b] if hops else 1 for a, b in pairs]
    at = int(np.argmax(far))
    text = f"the words from node {pairs[at][0]} to node {pairs[at][1]}, with one word a slot at a port"
    return Bound(int(far[at]) + problem.words - 1, "latency", text)


def reversed_net(net: RouteProblem) -> RouteProblem:
    """The network with all links turned round."""
    if all((v, u) in net.dead_links for u, v in net.dead_links):
        return net
    return RouteProblem(
        net.topology,
        (),
        dead_nodes=net.dead_nodes,
        dead_links=frozenset((v, u) for u, v in net.dead_links),
        shape=net.shape,
        buffers=net.buffers,
    )


def _leaving(problem: CollectiveProblem, inside: int, has_root: bool) -> int:
    """Words that must leave a set of ``inside`` working nodes."""
    outside = len(problem.nodes) - inside
    if not inside or not outside:
        return 0
    count = {
        "broadcast": int(has_root),
        "reduce": int(not has_root),
        "all-reduce": 1,
        "all-gather": inside,
        "reduce-scatter": outside,
        "gather": 0 if has_root else inside,
        "scatter": outside if has_root else 0,
        "all-to-all": inside * outside,
    }[problem.kind]
    return count * problem.words


def _ports(problem: CollectiveProblem) -> list[Bound]:
    count, root = len(problem.nodes), problem.root
    other = next(node for node in problem.nodes if node != root)
    found = []
    for kind, verb, inside in (("injection", "injects", 1), ("ejection", "takes", count - 1)):
        needs = {
            node: _leaving(problem, inside, (node == root) == (inside == 1))
            for node in (min(root, other), max(root, other))
        }
        node = max(needs, key=lambda one: (needs[one], -one))
        if needs[node]:
            text = f"node {node} {verb} {needs[node]}, 1 a slot"
            found.append(Bound(needs[node], kind, text, (node,)))
    return found


def _cut(problem: CollectiveProblem) -> list[Bound]:
    net = problem.net
    links = np.array(net.links, np.int64).reshape(-1, 2)
    working = np.zeros(net.nodes, np.bool_)
    working[list(problem.nodes)] = True
    best: tuple[int, str] | None = None
    for name, inside in _sets(problem):
        width = int((inside[links[:, 0]] & ~inside[links[:, 1]]).sum())
        need = _leaving(problem, int((inside & working).sum()), bool(inside[problem.root]))
        if need and width and (best is None or -(-need // width) > best[0]):
            best = -(-need // width), f"{need} words leave {name} by {width} link{'s' * (width != 1)}"
    return [] if best is None else [Bound(best[0], "cut", best[1])]


def _sets(problem: CollectiveProblem) -> list[tuple[str, np.ndarray]]:
    found = list(sides(problem.net, problem.nodes))
    nodes = problem.nodes if not problem.net.topology.regular else problem.nodes[: 1 << 8]
    for node in nodes[:1024]:
        alone = np.arange(problem.net.nodes) == node
        found += [(f"node {node}", alone), (f"the nodes but {node}", ~alone)]
    return found


def _hops(problem: CollectiveProblem) -> list[Bound]:
    """All words together against all links."""
    net, nodes = problem.net, problem.nodes
    count = len(nodes)
    if problem.kind in ("broadcast", "reduce"):
        need = count - 1
    elif problem.kind == "all-reduce":
        need = 2 * (count - 1) if count > 2 else 2
    elif problem.kind in EITHER:
        need = count * (count - 1)
    elif problem.kind == "gather":
        need = _distances(reversed_net(net), problem.root, nodes)
    elif problem.kind == "scatter":
        need = _distances(net, problem.root, nodes)
    else:
        need = _all_distances(problem)
    need *= problem.words
    text = f"all words together cross {need} links at least, and there are {len(net.links)}"
    return [Bound(-(-need // len(net.links)), "hop capacity", text)]


def _all_distances(problem: CollectiveProblem) -> int:
    """Sum of the distances of all pairs."""
    net = problem.net
    if net.topology.kind == "torus" and net.topology.regular and not net.dead_nodes and not net.dead_links:
        return net.nodes * sum(net.distances(0))
    return sum(_distances(net, source, problem.nodes) for source in problem.nodes)


def _distances(net: RouteProblem, source: int, nodes: Sequence[int]) -> int:
    """Sum of the links from ``source`` to each of ``nodes``."""
    hops = net.distances(source)
    return sum(hops[node] for node in nodes)
