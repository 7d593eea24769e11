"""The calls of a run played again on a cycle model, by an application that computes nothing: what the way that a program took
is predicted to cost.

What the text of a program does not say, the calls of a run do: how often loops went round, which optional groups were taken, with
which run-time values, and in which order each node called. A run that is too long is played from its start as far as there is
time for, and calls of a function that are left out cost what its played ones have cost on the mean. Leaves alone: scheduled
routers, whose plans are played without a machine (`pointsman.plan.timeline.path_taken`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.operators.api.operands import is_partial
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator, Runtime
from pointsman.runtime import Node
from pointsman.runtime.api.substrate import HERE, UNKNOWN

from .errors import StuckError, TooLongError
from .machine import ProcessorMachine
from .playing import LIMIT, Played, functions_of, message_of
from .session import run_nodes
from .spans import Call


def replay(
    operators: Iterable[Operator],
    calls: Sequence[Call],
    machine: ProcessorMachine,
    nodes: Callable[[Mapping[str, Any]], Sequence[Node]],
    *,
    limit: int = LIMIT,
) -> Played | None:
    """Cycles that the ``calls`` of a run take on ``machine`` if nothing is computed between them. None if no call of some
    function ends within ``limit`` cycles times nodes, or if nodes wait for ever: what each called when it pleased may
    need the times of the run.

    Parameters
    ----------
    operators : iterable of Operator
        As they were compiled.
    nodes : callable
        Makes the nodes, given the functions of the application by their names.
    """
    made = {operator.label: operator for operator in operators}
    mine = [one for one in calls if one.label in made]
    every = nodes(functions_of(made.values()))
    replayer = Replayer(made, mine, machine)
    try:
        record = run_nodes(every, replayer.main, machine, max_cycles=max(1000, limit // len(every)))
    except TooLongError:
        return replayer.extended(machine.time, len(every))
    except StuckError:
        return None
    ends = (record.finished - record.started).tolist()
    return Played(max(map(float, ends)), _by_label(replayer.spent, len(every)))


class Replayer:
    """The application that is played: each node makes its own of ``calls``, in their order. ``spent``, ``done``: by label and
    function, cycles in and number of the calls that have ended."""

    def __init__(self, made: Mapping[str, Operator], calls: Sequence[Call], machine: ProcessorMachine) -> None:
        self.made = made
        self.machine = machine
        self.calls: dict[int, list[Call]] = {}
        for one in sorted(calls, key=lambda call: (call.start, call.end)):
            self.calls.setdefault(one.node, []).append(one)
        self.messages = {label: message_of(operator, operator.m) for label, operator in made.items()}
        self.spent: dict[tuple[str, str], float] = {}
        self.done: Counter[tuple[str, str]] = Counter()

    async def main(self, node: Node) -> None:
        for call in self.calls.get(node.number, ()):
            function = getattr(node.cop, f"{call.label}_{call.what}")
            before = self.machine.time
            if call.what == "load":
                await function(*_given(self.made[call.label], call))
            elif call.what == "read" or self.made[call.label].kind == "barrier":
                await function()
            else:
                await function(self.messages[call.label])
            function_called = call.label, call.what
            self.spent[function_called] = self.spent.get(function_called, 0.0) + self.machine.time - before
            self.done[function_called] += 1

    def extended(self, cycles: int, nodes: int) -> Played | None:
        """All calls, from those of the first ``cycles`` cycles; None if some function is not among these."""
        wanted = Counter((one.label, one.what) for own in self.calls.values() for one in own)
        if any(not self.done[called] for called in wanted):
            return None
        spent = {called: self.spent[called] * count / self.done[called] for called, count in wanted.items()}
        longer = sum(spent.values()) / max(1.0, sum(self.spent.values()))
        return Played(cycles * longer, _by_label(spent, nodes))


def _by_label(spent: Mapping[tuple[str, str], float], nodes: int) -> dict[str, float]:
    """Cycles of a node, on the mean of all, in all functions of each operator."""
    found: dict[str, float] = {}
    for (label, _), cycles in spent.items():
        found[label] = found.get(label, 0.0) + cycles / nodes
    return found


def _given(operator: Operator, call: Call) -> Iterator[Any]:
    """Arguments of a load function that was called with these values."""
    numbers = iter(call.values)
    sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
    for name, value in operator.instances[0].operands:
        if not isinstance(value, Runtime):
            continue
        if sorts[name] == "function":
            yield np.maximum
        elif sorts[name] == "permutation" and call.permutation is not None:
            yield list(call.permutation)
        else:
            number = next(numbers)
            yield {UNKNOWN: None, HERE: True}.get(number, number) if is_partial(operator, name) else number
