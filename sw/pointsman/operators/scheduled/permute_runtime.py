"""Permutations and shifts whose schedule is made at run time (Metcalf 1997, §4.1.1 and B.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import ceil, prod
from statistics import mean

from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import (
    box,
    is_constant,
    is_partial,
    keep_in,
    operand,
    runtime_values,
    stream_name,
    taking_part,
)
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.protocol.scheduling import Moves, moves_of, schedule_cost, typical_permutation
from pointsman.routing.streams import Stream

from .synchronised import Synchronised, shifted

PERIOD = 24
"""Slots of a schedule, at least, for which the metric is worked out."""
COMMAND = 4
"""Cycles of each of `Metric.reload_words`."""
MOST_NODES = 64
"""Most nodes of an instance: on an 8x8 mesh a permutation puts at most 8 streams on a link."""
VALUES = 6
"""Values, at most, of which the metric takes the mean."""
BARRIERS = 14
"""Moves of the two barriers at a node, about: of the phase's end and of the load function. A router in the middle of both trees,
with three nodes below it, has that many: it hands on three words up and three down in either, and one at its own processor."""
MARGIN = 1.5
"""Slots kept for each move of a permutation at its busiest node. With 1 slots are often lacking, with 1.5 none was in
any that was tried (docs/online_routing.md has the counts)."""


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
            or context.shape.aliased_handshake  # words go both ways between two nodes in a slot
            or any(len(i.nodes) > MOST_NODES for i in operator.instances)
        ):
            return None
        if any(box(i.nodes, context.topology) != frozenset(i.nodes) for i in operator.instances):
            return None
        most = max(len(i.nodes) for i in operator.instances)
        moves = max(busiest_moves(box_size(i.nodes, context.topology)) for i in operator.instances)
        if operator.impl is None and moves + BARRIERS > context.shape.pipelines * (context.shape.vfsms - 2):
            return None
        period = max(PERIOD, self.least_period(operator, context))
        costs = [
            schedule_cost(context.topology, context.shape, m, period, operator.m) for m in self.some_moves(operator)
        ]
        words, work = (mean(getattr(cost, what) for cost in costs) for what in ("words", "cycles"))
        return Metric(words_per_cycle=words / period, latency=4 * most**0.5, reload_words=round(work / COMMAND))

    def some_moves(self, operator: Operator) -> list[Moves]:
        """Moves of the largest instance for a few values."""
        nodes = max((i.nodes for i in operator.instances), key=len)
        return [moves_of(operator.kind, nodes, 0, typical_permutation(len(nodes), k)) for k in range(VALUES)]

    def least_period(self, operator: Operator, context: Context) -> int:
        moves = max(busiest_moves(box_size(i.nodes, context.topology)) for i in operator.instances)
        return max(2, ceil((moves * MARGIN + BARRIERS) / context.shape.pipelines))

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


def box_size(nodes: Sequence[int], topology: Topology) -> tuple[int, ...]:
    """Nodes along each dimension of the box around ``nodes``.

    >>> from pointsman.network import mesh
    >>> box_size((0, 1, 4, 5, 8, 9), mesh(4, 4))
    (2, 3)
    """
    return tuple(max(along) - min(along) + 1 for along in zip(*map(topology.coordinates, nodes), strict=True))


def busiest_moves(size: Sequence[int]) -> int:
    """Most words that a permutation can have pass a node of a box when ways cross its dimensions one after the other: those that
    leave by each of its links, and the word that is delivered.

    A link is passed by words that come from nodes behind it and have crossed the dimensions before, and that go to nodes
    beyond it and have the dimensions after still to cross: no more than there are of either.

    >>> [busiest_moves(size) for size in ((1,), (2, 2), (4, 4), (8, 8), (3, 3, 3), (16, 1))]
    [1, 3, 9, 17, 13, 17]
    """
    most = 0
    for place in product(*map(range, size)):
        moves = 1
        for axis, (at, extent) in enumerate(zip(place, size, strict=True)):
            before, after = prod(size[:axis]), prod(size[axis + 1 :])
            moves += min(before * (at + 1), (extent - 1 - at) * after)
            moves += min(before * (extent - at), at * after)
        most = max(most, moves)
    return most


class SchShiftRuntime(SchPermuteRuntime):
    """A shift whose distance is given at run time, scheduled as a permutation (sch_shift_runtime)."""

    name = "sch_shift_runtime"
    kinds = ("cshift", "eoshift")
    operand = "distance"

    def some_moves(self, operator: Operator) -> list[Moves]:
        nodes, legal = max((i.nodes for i in operator.instances), key=len), runtime_values(operator)
        few = legal[:: max(1, len(legal) // VALUES)]
        return [moves_of(operator.kind, nodes, operand(operator, 0, self.operand, values)) for values in few]
