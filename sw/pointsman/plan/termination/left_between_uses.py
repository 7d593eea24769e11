"""Is a phase left between any two uses of its operator, by all of its nodes?

Then load functions may rewrite the router before they enter the phase without a barrier of their own
(`pointsman.operators.api.loading.Loading.LEFT_BETWEEN_USES`): the end of the phase held back all nodes until all words
had come, and a node that enters again has rewritten. Takes a structure; routes do not matter, because a node that only
lends its router rewrites nothing.
"""

from __future__ import annotations

from pointsman.plan.structure.structure import Structure


def always_left_between_uses(structure: Structure, phase: int) -> bool:
    """Does every node leave ``phase`` between two uses of its only operator, whichever way it takes?

    A node that has no operator in the phases in between would not see that others leave. False for a phase that does
    not come again, because applications may call its operator several times all the same; and beside an operator that
    continues, because its load function may enter the phase, and rewrites nothing.
    """
    outline = structure.phases[phase]
    if len(outline.operators) != 1 or phase in structure.again or structure.threads is not None:
        return False
    if phase not in structure.graph.later(phase) or any(phase in one.phases for one in structure.through):
        return False
    first = structure.successors[phase]

    def unseen(node: int) -> set[int]:
        """Phases that may come after ``phase`` until the node next has a part in one, that one included."""
        return structure.graph.reached(first, lambda p: p != phase and node not in structure.phases[p].nodes)

    return all(phase not in unseen(node) for node in outline.operators[0].nodes)
