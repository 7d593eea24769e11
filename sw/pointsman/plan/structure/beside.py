"""Tree of extents -> operators that may continue beside phases (Metcalf 1997, §5.1).

A parallel group such as ``(parallel (broadcast 'k 0) (sequential (cshift 'a 1) (cshift 'b 2)))`` may end a phase between ``a``
and ``b``. The broadcast ``k`` then continues over the change of phase if no load function rewrites its VFSMs; else the whole
group has to stay in a single phase. Takes a tree of extents; leaves alone: whether that pays, routes, in which phase nodes enter.
"""

from __future__ import annotations

from dataclasses import dataclass

from pointsman.operators.api.operands import runtime_values
from pointsman.operators.messages.online import ONLINE
from pointsman.operators.scheduled.broadcast_variants import ParBcast
from pointsman.operators.scheduled.streams_per_value import BY_STREAMS
from pointsman.program.program import Operator

from .extents import ProgramPart
from .phase_tree import breakable

_PAR_BCAST = ParBcast()


def may_continue(operator: Operator) -> bool:
    """May the operator continue, because its VFSMs or channels are the same for all values of its operands?"""
    return by_messages(operator) or by_sets_of_streams(operator) or runtime_values(operator) == ((),)


def by_sets_of_streams(operator: Operator) -> bool:
    """Does the program ask for a set of streams for each run-time value? A load function then chooses registers and rewrites
    nothing."""
    return any(operator.impl == one.name and operator.kind in one.kinds for one in (*BY_STREAMS, _PAR_BCAST))


def by_messages(operator: Operator) -> bool:
    """Does the program ask for an implementation by online messages? Its channels are the same for all values."""
    return any(operator.impl == one.name and operator.kind in one.kinds for one in ONLINE)


@dataclass(frozen=True)
class Beside:
    """Labels of operators that may continue beside phases, and the parallel groups that have to stay in a single phase."""

    labels: frozenset[str]
    whole: frozenset[ProgramPart]


def beside_phases(root: ProgramPart) -> Beside:
    """For each parallel group with a child in which phases may end: may all operators of its other children continue?"""
    labels: set[str] = set()
    whole = set()
    for part in root.walk():
        if part.kind != "parallel" or breakable(part) < 0:
            continue
        through = breakable(part)
        beside = [o for i, child in enumerate(part.children) if i != through for o in child.operators()]
        if beside and all(map(may_continue, beside)):
            labels |= {operator.label for operator in beside}
        else:
            whole.add(part)
    return Beside(frozenset(labels), frozenset(whole))
