"""Which implementations can do an operator; and if none can, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pointsman.errors import PointsmanError
from pointsman.operators import Context, Implementation
from pointsman.operators.api.cached import metric_of
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import chosen_operands, is_partial, runtime_operands, runtime_values
from pointsman.operators.scheduled.schedules_per_value import MOST_SCHEDULES
from pointsman.program.program import Operator

from .call_attributes import call_cycles


def feasible_implementations(
    operator: Operator, implementations: Sequence[Implementation], context: Context, *, fallbacks: bool = False
) -> list[tuple[float, Implementation]]:
    """(cycles of a message, implementation) for implementations that can do an operator. Those that are `played_only` are
    among them only if the program names one, or if ``fallbacks`` asks for them; if there is no other, those by messages."""
    found = []
    for implementation in implementations:
        if operator.kind not in implementation.kinds:
            continue
        if operator.impl is not None and operator.impl != implementation.name:
            continue
        if operator.overlaps and not implementation.one_way:
            continue
        metric = metric_of(implementation, operator, context)
        if metric is not None:
            answered = implementation.processor_bound
            cycles = call_cycles(operator, 1 / metric.words_per_cycle, metric.latency, answered=answered)
            found.append((cycles, implementation))
    if operator.impl is None and not fallbacks:
        begun = [pair for pair in found if not pair[1].played_only]
        return begun or [pair for pair in found if pair[1].loading is Loading.ONLINE] or found
    return found


def hint_none(operator: Operator, implementations: Sequence[Implementation], context: Context) -> str | None:
    """What to do about `why_none`: implementations that could do an operator if ``:impl`` did not ask for another."""
    if operator.impl is None:
        return None
    free = replace(operator, impl=None)
    others = sorted({one.name for _, one in feasible_implementations(free, implementations, context, fallbacks=True)})
    hints = [f"leave out :impl, or use {' or '.join(others)}"] if others else []
    if all(one.name != operator.impl for one in implementations):
        hints.append(f"--implementations names the file that defines {operator.impl}, if one does")
    return "; ".join(hints) or None


def _values(operator: Operator, implementations: Sequence[Implementation]) -> str:
    """Too many values for an implementation that has a schedule for each?"""
    asked = [one for one in implementations if one.name == operator.impl and one.loading is Loading.PER_VALUE]
    if not asked or any(is_partial(operator, name) for name in runtime_operands(operator)):
        return ""
    try:
        number = len(runtime_values(operator)) if chosen_operands(operator) == runtime_operands(operator) else 0
    except PointsmanError as error:
        return f": {error.message}"
    if number <= MOST_SCHEDULES:
        return ""
    return f": it has a schedule for each value, {MOST_SCHEDULES} at most, and there are {number} values"


def why_none(operator: Operator, implementations: Sequence[Implementation]) -> str:
    where = f"{operator.position}: " if operator.position is not None else ""
    known = sorted({i.name for i in implementations if operator.kind in i.kinds})
    if not known:
        kinds = sorted({kind for i in implementations for kind in i.kinds})
        return (
            f"{where}operator '{operator.label}': no implementation of {operator.kind} on numesh yet "
            f"(there is for {', '.join(kinds)})"
        )
    if operator.impl is not None and operator.impl not in known:
        return (
            f"{where}operator '{operator.label}' asks for implementation {operator.impl}, "
            f"which {operator.kind} does not have ({', '.join(known)})"
        )
    names = " and ".join(runtime_operands(operator))
    given = f" with {names} given at run time" if names else " of this shape"
    if operator.impl is not None:
        return (
            f"{where}operator '{operator.label}' asks for implementation {operator.impl}, which cannot do it"
            f"{given}{_values(operator, implementations)}"
        )
    return (
        f"{where}operator '{operator.label}': no implementation of {operator.kind}{given} on numesh yet "
        f"({', '.join(known)} cannot do it)"
    )
