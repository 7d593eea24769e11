"""Permutations and shifts whose schedule is made at run time (Metcalf 1997, §4.1.1 and B.1)."""

from __future__ import annotations

from pointsman.operators.api.implementation import Context, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import box, is_constant, is_partial, keep_in, stream_name, taking_part
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.protocol.costs import scheduled_words, scheduling_cycles
from pointsman.routing.streams import Stream

from .synchronised import Synchronised, shifted

PERIOD = 24
"""Slots of a schedule for which the metric is worked out."""
COMMAND = 4
"""Cycles of each of `Metric.reload_words`."""
MOST_NODES = 64
"""Most nodes of an instance: on an 8x8 mesh a permutation puts at most 8 streams on a link."""


class SchPermuteRuntime(Synchronised):
    """At compile time a stream from each node to the next in the subset reserves resources; the load function works out a
    schedule for the permutation that it is given, and loads it instead (sch_permute_runtime;
    `pointsman.runtime.numesh.scheduling`)."""

    name: str = "sch_permute_runtime"
    kinds: tuple[str, ...] = ("permute",)
    operand = "permutation"
    alone = True
    loading = Loading.RESCHEDULED

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if is_constant(operator, self.operand) or is_partial(operator, self.operand):
            return None
        if operator.valid is not None:
            return None
        if (
            context.topology.kind != "mesh"
            or not context.topology.regular
            or any(len(i.nodes) > MOST_NODES for i in operator.instances)
        ):
            return None
        if any(box(i.nodes, context.topology) != frozenset(i.nodes) for i in operator.instances):
            return None
        most = max(len(i.nodes) for i in operator.instances)
        work = scheduling_cycles(most, PERIOD)
        return Metric(
            words_per_cycle=scheduled_words(most, PERIOD) / PERIOD,
            latency=4 * most**0.5,
            reload_words=round(work / COMMAND),
        )

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            if len(instance.nodes) == 1:
                continue
            for k, node in enumerate(instance.nodes):
                streams.append(
                    Stream(
                        stream_name(operator, i, str(k)),
                        node,
                        (instance.nodes[(k + 1) % len(instance.nodes)],),
                        max_words=1,
                        group=operator.label,
                        keep_in=keep_in(instance, context),
                        rewritten=True,
                    )
                )
        return [*streams, *self.meeting_streams(operator, context)]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        position = nodes.index(node)
        void = position not in taking_part(operator, instance)
        if len(nodes) == 1:
            return RoleDraft("func", void=void)
        meeting = self.meeting_lanes(operator, wiring, instance, node)
        before = stream_name(operator, instance, str((position - 1) % len(nodes)))
        lanes = [
            wiring.write_lane(stream_name(operator, instance, str(position)), node),
            wiring.read_lane(before, node),
        ]
        return RoleDraft("func", (*meeting, *shifted(lanes, len(meeting))), void=void)


class SchShiftRuntime(SchPermuteRuntime):
    """A shift whose distance is given at run time, scheduled as a permutation (sch_shift_runtime)."""

    name = "sch_shift_runtime"
    kinds = ("cshift", "eoshift")
    operand = "distance"
