"""Greatest smallest bandwidth / weight that streams can have on the NuMesh node, each bound with its reason."""

from __future__ import annotations

from fractions import Fraction

from pointsman.artifacts.routes.routes import Bound, RouteProblem

from .capacity import capacity_of
from .counting import limits
from .ideal import MAX_LINEAR_NODES
from .linear_program import MAX_COLUMNS, max_concurrent_flow
from .prices import throughput_bound
from .subgradient import link_prices


def numesh_bounds(
    problem: RouteProblem, length: int | None, *, free_slots: int | None = None, flow: bool = True
) -> list[Bound]:
    """All bounds for a schedule of ``length`` slots, the smallest first.

    Injection and ejection count the slots of a node's pipelines, hop capacity those of all nodes (or all links). By the
    back-to-back rule (Metcalf 1997, §7.1.2) an interface register, which belongs to a VFSM, moves a word every other slot.
    ``flow``: also the linear program, or above 256 nodes link and node prices.
    """
    capacity = capacity_of(problem.shape, length, free_slots)
    found = _back_to_back(problem, length)
    for limit in limits(problem, capacity):
        assert limit.throughput is not None
        found.append(Bound(float(limit.throughput), limit.kind, limit.text, limit.nodes, limit.links, 1e-12))
    if flow and problem.streams:
        sources = len({stream.source for stream in problem.streams})
        several = sum(len(stream.destinations) for stream in problem.streams if len(stream.destinations) > 1)
        if problem.nodes <= MAX_LINEAR_NODES and (sources + several) * len(problem.links) <= MAX_COLUMNS // 4:
            throughput = max_concurrent_flow(problem, problem.shape, length, free_slots=free_slots).throughput
            text = "maximum concurrent flow with node capacities"
            found.append(Bound(float(throughput), "linear program", text, tolerance=1e-12))
        else:
            priced = throughput_bound(problem, capacity, link_prices(problem, capacity))
            if priced is not None:
                text = "prices of links and nodes, from multiplicative weights"
                found.append(Bound(float(priced), "link and node prices", text, tolerance=1e-12))
    found.sort(key=lambda bound: bound.value)
    return found


def _back_to_back(problem: RouteProblem, length: int | None) -> list[Bound]:
    needs: dict[int, Fraction] = {}
    for stream in problem.streams:
        for node in (stream.source, *stream.destinations):
            needs[node] = needs.get(node, Fraction(0)) + Fraction(stream.weight)
    if not needs:
        return []
    usable = problem.shape.registers - problem.shape.pipelines
    half = Fraction(1, 2) if length is None else Fraction(length // 2, length)
    node = max(needs, key=lambda n: (needs[n], -n))
    text = f"node {node} has {usable} interface registers for words, each in use every other slot at most"
    return [Bound(float(usable * half / needs[node]), "back-to-back", text, (node,), tolerance=1e-12)]
