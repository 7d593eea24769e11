"""Cost of a division in which threads run beside each other: that of all phases of the node for which they sum up to most.

Takes a Structure and the cost of each of its phases. Without threads all nodes go through all phases, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable

from pointsman.plan.structure.phase_graph import START
from pointsman.plan.structure.structure import Structure
from pointsman.program.program import Operator

Price = Callable[[tuple[Operator, ...], float], float]
"""(operators, exits) -> cost of a phase with these operators that is left ``exits`` times."""


def critical_path_cycles(structure: Structure, price: Price) -> float:
    """The largest sum, over the nodes, of the costs of a node's phases. Nodes in the same threads are looked at once."""
    costs = [price(phase.operators, phase.exits) for phase in structure.phases]
    if structure.threads is None:
        return sum(costs)
    nodes = frozenset().union(*(phase.nodes for phase in structure.phases))
    ways = {structure.threads.signature(node): node for node in sorted(nodes)}
    most = 0.0
    for node in ways.values():
        most = max(most, sum(costs[phase] for phase in sorted(structure.graph_of(node).later(START))))
    return most
