"""Is a phase left between any two uses of its operator, by all of its nodes?

Then implementations will do whose load functions rewrite the router before they enter the phase, without a barrier of their own
(`pointsman.operators.api.loading.Loading.LEFT_BETWEEN_USES`): what closes the phase held back everybody until
all words had come,
and who enters again has rewritten. Takes a structure; routes do not matter, because a node that only lends its router
rewrites nothing.
"""

from __future__ import annotations

from pointsman.plan.structure.structure import Structure


def always_left(structure: Structure, phase: int) -> bool:
    """Does every node leave ``phase`` between two uses of its one operator, whichever way it takes?

    A node that has no operator in the phases in between would not see that others leave. Of a phase that does not come again
    nothing is claimed: applications may call its operator several times all the same. Nor where an operator continues: its load
    function may enter the phase, and rewrites nothing.
    """
    outline = structure.phases[phase]
    if len(outline.operators) != 1 or phase in structure.again or structure.threads is not None:
        return False
    if phase not in structure.reachable(phase) or any(phase in one.phases for one in structure.through):
        return False
    for node in sorted(outline.operators[0].nodes):
        reached: set[int] = set()
        stack = [p for p in structure.successors[phase] if p >= 0]
        while stack:
            other = stack.pop()
            if other == phase:
                return False
            if other in reached or node in structure.phases[other].nodes:
                continue
            reached.add(other)
            stack += [p for p in structure.successors[other] if p >= 0]
    return True
