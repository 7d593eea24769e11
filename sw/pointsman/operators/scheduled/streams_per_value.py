"""A set of streams for each run-time value of an operator, all in a single phase (Metcalf 1997, §4.1.3, runtime-parallel).

The load function chooses which of them the I/O functions use; no VFSM is rewritten and no node waits. The slots of streams not
in use are lost, so this suits few values. Values with which the operator moves the same words have one set.
"""

from __future__ import annotations

from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring, with_suffix
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream, most_ends

from .reduce import StrReduce
from .schedules_per_value import schedule_values, settled
from .shift import StrShift
from .stream import StrStream

MOST_SETS = 16
"""Most sets of streams of an operator."""
STREAM = 0.5
"""Words a cycle of a stream that waits for nothing but its slots, at least."""


class ByStreams(Implementation):
    """``inner``, an implementation for constant operands, with streams for each run-time value."""

    traceable = False

    def __init__(self, name: str, inner: Implementation) -> None:
        self.name = name
        self.inner = inner
        self.kinds = inner.kinds
        self.processor_bound = inner.processor_bound

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        """Speed for the worst value. Streams of all values share the slots; where it is not slots that a stream waits for but its
        word's way there and back, they need not share that."""
        values = schedule_values(operator)
        if values is None or len(values) > MOST_SETS:
            return None
        found = [self.inner.metric(settled(operator, value), context) for value, *_ in values]
        metrics = [metric for metric in found if metric is not None]
        if not metrics or len(metrics) < len(found):
            return None
        if most_ends(self.streams(operator, context)) > context.shape.registers - context.shape.pipelines:
            return None
        slowest = min(metric.words_per_cycle for metric in metrics)
        shared = max(slowest, STREAM) / len(values)
        return Metric(min(slowest, shared), max(metric.latency for metric in metrics))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        values = schedule_values(operator)
        assert values is not None
        return [
            with_suffix(stream, _suffix(value))
            for value, *_ in values
            for stream in self.inner.streams(settled(operator, value), context)
        ]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        first = next(alike[0] for alike in schedule_values(operator) or () if values in alike)
        return self.inner.gen_io(settled(operator, values), wiring.ending_in(_suffix(first)), instance, node, ())


def _suffix(values: tuple[int, ...]) -> str:
    """Suffix of the names of the streams for these values."""
    return f"@{','.join(map(str, values))}"


BY_STREAMS: tuple[Implementation, ...] = (
    ByStreams("par_shift", StrShift(window=1)),
    ByStreams("par_stream", StrStream()),
    ByStreams("par_reduce", StrReduce()),
)
