"""Cycles of a single call of an operator: played like a whole program, from a cycle at which all its nodes begin together.

Takes a plan with routes, an operator and its run-time values; gives cycles. Slots, latency, accesses and commands
count, but neither loads nor changes of phase.
"""

from __future__ import annotations

from collections.abc import Collection

from pointsman.plan.errors import PlanError
from pointsman.plan.plan import Plan

from . import kernel as k
from .board import BoardNumbers
from .memories import PlannedMemories
from .processor_steps import Step, StepWriter

LIMIT = 400_000
"""Most cycles that are played after the call began."""


def call_cycles(
    plan: Plan,
    label: str,
    value: tuple[int, ...],
    start: int,
    *,
    writers: Collection[int] | None = None,
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

    Raises
    ------
    PlanError
        If the operator has no such values, loading takes longer, or the call does not end.
    """
    network = BoardNumbers(plan)
    writer = StepWriter(plan, network, PlannedMemories(plan, network))
    number = next((n for n in writer.by_label[label] if value in writer.parts.operators[n][1].values), None)
    if number is None:
        raise PlanError(f"operator '{label}' has no schedule for the values {value}")
    one = writer.parts.operators[number][1]
    index = one.values.index(value)
    for node in range(network.nodes):
        steps: list[Step] = [*writer.start(node)]
        if node in one.operator.nodes:
            steps += writer.load(node, number, index)
            draft = writer.parts.role(number, node, index, 0)
            calls = [] if draft.local else [writer.call(node, number, index, n) for n in range(draft.turns)]
            if writers is not None and node not in writers:
                calls = [writer.call(node, number, index, n, writes=False) for n in range(draft.turns)]
            steps.append((k.AT, start, 0))
            steps += [step for call in calls for step in call]
        writer.add(node, steps)
    book, board = writer.book(), network.board(writer.standing())
    nodes, phases = network.nodes, len(plan.phases)
    _, ended, through = k.play(board, book, writer.messages.post(), nodes, phases, writer.most_lanes, start + LIMIT)
    if not through:
        raise PlanError(f"a call of operator '{label}' at cycle {start} cannot begin, or does not come to its end")
    return int(ended) - 1 - start
