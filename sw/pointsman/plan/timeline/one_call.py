"""Cycles of a single call of an operator: played like a whole program, from a cycle at which all its nodes begin together; and of
all calls of a phase one after the other.

Takes a plan with routes, an operator and its run-time values; gives cycles. Slots, latency, accesses and commands
count, but neither loads nor changes of phase.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from pointsman.plan.errors import PlanError
from pointsman.plan.plan import Plan, PlannedOperator
from pointsman.program.catalogue import OPERATORS

from . import kernel as k
from .board import BoardNumbers, NumberedOperators
from .memories import PlannedMemories
from .steps.operator_calls import OperatorSteps
from .steps.together import Step

LIMIT = 400_000
"""Most cycles that are played after the call began."""
LOADED = 2000
"""Cycle in which the nodes make the calls that come one after the other; their load functions have ended by then."""
MOST_PLAYED = 60_000_000
"""Most cycles times nodes that are played for these."""


def call_cycles(
    plan: Plan,
    label: str,
    value: tuple[int, ...],
    start: int,
    *,
    writers: Collection[int] | None = None,
    at_once: bool = False,
) -> int:
    """Cycles from ``start``, when all nodes make their calls, to the end of the last.

    Parameters
    ----------
    label, value :
        The operator, and the run-time values that were loaded before.
    start : int
        Cycle since reset at which all nodes call; their load functions must have ended by then.
    writers : collection of int or None
        Nodes that write, where some that may write do not (collects); None: all that may.
    at_once : bool
        Do nodes that write and read do both at the same time? Else they write first.

    Raises
    ------
    PlanError
        If the operator has no such values, loading takes longer, or the call does not end.
    """
    network = BoardNumbers(plan)
    operators = OperatorSteps(plan, network, PlannedMemories(plan, network))
    number = next((n for n in operators.by_label[label] if value in operators.parts.operators[n][1].values), None)
    if number is None:
        raise PlanError(f"operator '{label}' has no schedule for the values {value}")
    one = operators.parts.operators[number][1]
    index = one.values.index(value)
    for node in range(network.nodes):
        steps: list[Step] = [*operators.phases.start(node)]
        if node in one.operator.nodes:
            steps += operators.load(node, number, index)
            draft = operators.parts.role(number, node, index, 0)
            make = operators.call_at_once if at_once else operators.call
            calls = [] if draft.local else [make(node, number, index, n) for n in range(draft.turns)]
            if writers is not None and node not in writers:
                calls = [operators.call(node, number, index, n, writes=False) for n in range(draft.turns)]
            steps.append((k.AT, start, 0))
            steps += [step for call in calls for step in call]
        operators.tables.add(operators.ways[node], steps)
    book, board = operators.tables.table(operators.ways), network.board(operators.standing())
    nodes, phases = network.nodes, len(plan.phases)
    most = operators.tables.most_lanes
    _, ended, _, through = k.play(board, book, operators.messages.post(), nodes, phases, 0, most, start + LIMIT, k.CALM)
    if not through:
        raise PlanError(f"a call of operator '{label}' at cycle {start} cannot begin, or does not come to its end")
    return int(ended) - 1 - start


def in_sequence(plan: Plan, rounds: Mapping[str, int]) -> dict[int, float]:
    """By phase in which a node writes messages and reads others, the cycles that all its messages take one after the other: a
    bound from above where nodes write only what they have read, as in a token ring. A program leaves that open, and the timeline
    plays messages side by side. Phases are left out in which processors pass messages on.

    Operators that all nodes call together, and those with values given at run time, count nothing.

    Parameters
    ----------
    rounds : mapping
        By label, how often the loops around an operator go round.
    """
    network = BoardNumbers(plan)
    parts = NumberedOperators(network.parts)
    messages: dict[int, list[PlannedOperator]] = {}
    writing: dict[int, set[int]] = {}
    reading: dict[int, set[int]] = {}
    for number, (phase, one) in enumerate(parts.operators):
        if OPERATORS[one.operator.kind].flow != "directional" or one.values != ((),):
            continue
        messages.setdefault(phase, []).append(one)
        for node in one.operator.nodes:
            draft = parts.role(number, node, 0, 0)
            if draft.kind in ("write", "both"):
                writing.setdefault(phase, set()).add(node)
            if draft.kind in ("read", "both"):
                reading.setdefault(phase, set()).add(node)
    found: dict[int, float] = {}
    for phase in sorted(writing.keys() & reading.keys()):
        if writing[phase].isdisjoint(reading[phase]) or len(messages[phase]) * network.nodes * LOADED > MOST_PLAYED:
            continue
        try:
            found[phase] = sum(
                len(one.operator.instances)
                * one.operator.c
                * max(1, rounds.get(one.operator.label, 1))
                * call_cycles(plan, one.operator.label, (), LOADED, at_once=True)
                for one in messages[phase]
            )
        except PlanError:
            continue  # messages that processors pass on are not played call by call
    return found
