"""When nodes may leave a phase by its own messages, without a barrier, and what reason there is if they may not.

Source: Metcalf 1997, §5.2.3, §5.3, as corrected in docs/phase_rules.md. The judge has rules of its own
(``verify.phases.ends``, ``verify.phases.links``) and uses nothing of this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pointsman.operators.api.operands import streams_by_instance
from pointsman.plan.plan import PlannedOperator
from pointsman.routing.streams import RoutedPhase


def why_not_loose(
    part: set[int], planned: Sequence[PlannedOperator], routed: RoutedPhase, last: frozenset[str] | None
) -> str | None:
    """Why the nodes ``part`` need a barrier to leave a phase; None if each may leave when its own I/O functions are done.

    Each operator must tell a node by its own words that no more of them will come, and so must concern all nodes of the
    part. Operators that others follow need not, if every operator in ``last`` tells a node that all nodes have begun
    with it (§5.2.3, "Message-Bound Synchronization" and "Local Synchronization").

    Parameters
    ----------
    last : frozenset of str or None
        Labels of the operators after which a node may leave; None: any.
    """
    inside = [one for one in planned if not part.isdisjoint(one.operator.nodes)]
    if part != {node for one in inside for i in one.operator.instances if part.issuperset(i.nodes) for node in i.nodes}:
        return "words pass through nodes that take no part"
    for one in _responsible(part, inside, last):
        operator = one.operator
        what = f"'{operator.label}'" if len(planned) > 1 else "the operator"
        if not one.message_bound and not one.clear:
            return f"messages of {what} ({operator.m} words) can be buffered on their way"
        if not _covers(one, part):
            stray = _stray(one, routed)
            if stray is not None:
                return f"words of one instance of {what} pass through node {stray}, which is in another"
            # A node outside this operator does not hear when it is over.
            return f"not all nodes take part in {what}"
    return None


def leaves_nothing(parts: Iterable[set[int]], planned: Sequence[PlannedOperator], last: frozenset[str] | None) -> bool:
    """Are all operators that decide when nodes leave processor-bound, so that no word is left when their functions return?"""
    return all(
        one.clear
        for part in parts
        for one in _responsible(part, [p for p in planned if not part.isdisjoint(p.operator.nodes)], last)
    )


def _responsible(
    part: set[int], inside: Sequence[PlannedOperator], last: frozenset[str] | None
) -> Sequence[PlannedOperator]:
    """Operators whose end must tell a node that it may leave: the last operators, and those whose words take time to
    drain, if each of the last is message-bound and concerns the whole part; else all of ``inside``."""
    final = [one for one in inside if last is not None and one.operator.label in last]
    # An operator in which a node moves no word tells that node nothing.
    if final and all(one.message_bound and _covers(one, part) and one.silent.isdisjoint(part) for one in final):
        rest = [one for one in inside if one not in final]
        return [*final, *(one for one in rest if one.drain)]
    return inside


def _covers(one: PlannedOperator, part: set[int]) -> bool:
    own = [instance for instance in one.operator.instances if not part.isdisjoint(instance.nodes)]
    return len(own) == 1 and part == set(own[0].nodes)


def _stray(planned: PlannedOperator, routed: RoutedPhase) -> int | None:
    """Lowest node that carries words of an instance of the operator without being in it; None if there is none."""
    by_instance = streams_by_instance(planned.operator, planned.streams, routed.streams)
    found = {
        vfsm.node
        for instance, own in zip(planned.operator.instances, by_instance, strict=True)
        for stream in own
        for chain in routed.chains_of(stream)
        for vfsm in chain.vfsms
        if vfsm.node not in instance.nodes
    }
    return min(found, default=None)
