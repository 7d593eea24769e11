"""Several schedules for an operator, of which its load function chooses (Metcalf 1997, §4.1.1, "Multiple Schedules", and
§4.1.3, run-time subphases).

Each run-time value of the operator has a phase of its own, with a block of the schedule memory, in which the operator is
implemented as if the value were constant (`pointsman.plan.candidates.value_schedules` makes the phases). All nodes know the
value, so a load function goes to the phase of its value as to the phase of any other operator: through the end of the phase
before, which is proved safe. No VFSM is rewritten.

Instances choose independently, so each must have routers of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pointsman.errors import PointsmanError
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import (
    chosen_operands,
    is_partial,
    keep_in,
    runtime_operands,
    runtime_values,
    values_alike,
)
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator, Runtime, Value
from pointsman.routing.streams import Stream

from .broadcast import StrBcast
from .collect import StrCollectDimensions
from .reduce import StrReduce
from .shift import StrShift
from .stream import StrStream

MOST_SCHEDULES = 64
"""Most values, and so schedules, of an operator: those of a broadcast on an 8x8 mesh."""
SHORT = 8
"""Slots of the shortest schedule that is worth planning."""
CHANGE = 16
"""Estimated time of a load with another value, in commands sent: the barrier of a phase and a jump."""


class ByValue(Implementation):
    """``inner``, an implementation for constant operands, planned once for each run-time value."""

    loading = Loading.PER_VALUE

    def __init__(self, name: str, inner: Implementation, at_best: float, *, in_turn: bool) -> None:
        self.name = name
        self.in_turn = in_turn
        """Only where the schedules do not all fit the schedule memory and take turns there, or else only where they fit?"""
        self.played_only = in_turn
        self.at_best = at_best
        """Estimated words per cycle."""
        self.inner = inner
        self.kinds = inner.kinds
        self.processor_bound = inner.processor_bound
        self.traceable = inner.traceable

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        """``at_best`` words per cycle, the latency of the worst value, and CHANGE for a load (0 for a single value)."""
        values = schedule_values(operator)
        if values is None or not _apart(operator, context):
            return None
        if self.in_turn != ((len(values) + 1) * SHORT > context.shape.schedule_depth):
            return None
        found = [self.inner.metric(settled(operator, value), context) for value, *_ in values]
        if not found or any(metric is None for metric in found):
            return None
        metrics = [metric for metric in found if metric is not None]
        return Metric(
            self.at_best,
            max(metric.latency for metric in metrics),
            0 if len(values) == 1 else CHANGE,
        )

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return self.inner.streams(self._settled(operator), context)

    def stages(self, operator: Operator) -> int:
        return self.inner.stages(operator)

    def drain(self, operator: Operator, wiring: Wiring) -> int:
        return self.inner.drain(self._settled(operator), wiring)

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        return self.inner.gen_router(self._settled(operator), wiring, node)

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        return self.inner.gen_io(settled(operator, values), wiring, instance, node, ())

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        return self.inner.gen_load(settled(operator, values), wiring, instance, node, ())

    def _settled(self, operator: Operator) -> Operator:
        """The operator with its value constant: in a phase of its own it has a single value; before, the first is taken."""
        return settled(operator, runtime_values(operator)[0])


def schedule_values(operator: Operator) -> list[list[tuple[int, ...]]] | None:
    """Run-time values among which a load function chooses, those together with which the operator moves the same words; None if
    there are none, more than MOST_SCHEDULES sets of them, or if some node does not know them."""
    if not runtime_operands(operator) or chosen_operands(operator) != runtime_operands(operator):
        return None
    if any(is_partial(operator, name) for name in runtime_operands(operator)):
        return None
    try:
        values = values_alike(operator, runtime_values(operator))
    except PointsmanError:
        return None
    return values if 0 < len(values) <= MOST_SCHEDULES else None


def settled(operator: Operator, values: tuple[int, ...]) -> Operator:
    """The operator with these run-time values as constants."""
    names = runtime_operands(operator)
    known = dict(zip(names, values, strict=True))
    return replace(
        operator,
        instances=tuple(
            replace(one, operands=tuple((name, known.get(name, value)) for name, value in one.operands))
            for one in operator.instances
        ),
    )


def for_values(operator: Operator, several: Sequence[tuple[int, ...]]) -> Operator:
    """The operator in the phase of values with which it moves the same words: its operands are still given at run time, but only
    these are legal. Of several operands there is one value."""
    known = dict(zip(runtime_operands(operator), zip(*several, strict=True), strict=True))

    def only(name: str, value: Value) -> Value:
        return replace(value, values=known[name]) if isinstance(value, Runtime) else value

    return replace(
        operator,
        instances=tuple(
            replace(one, operands=tuple((name, only(name, value)) for name, value in one.operands))
            for one in operator.instances
        ),
    )


def _apart(operator: Operator, context: Context) -> bool:
    """Is each instance connected, and are instances disjoint?"""
    nodes = [node for instance in operator.instances for node in instance.nodes]
    if len(set(nodes)) < len(nodes):
        return False
    return all(keep_in(instance, context) == frozenset(instance.nodes) for instance in operator.instances)


BY_VALUE: tuple[Implementation, ...] = tuple(
    ByValue(name, inner, at_best, in_turn=in_turn)
    for name, inner, at_best in (
        ("sch_bcast_dense", StrBcast(), 0.8),
        ("sch_collect_dim", StrCollectDimensions(), 0.5),
        ("sch_shift", StrShift(), 0.5),
        ("sch_stream", StrStream(), 0.5),
        ("sch_reduce", StrReduce(), 0.25),
    )
    for in_turn in (False, True)
)
