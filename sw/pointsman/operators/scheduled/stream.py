"""Streams from node to node: both ends known, or source or destination chosen at run time (Metcalf 1997, A.1 and B.1)."""

from __future__ import annotations

from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import (
    cycles_on_the_way,
    is_constant,
    is_partial,
    message_stream,
    operand,
    runtime_values,
    stream_name,
)
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream, largest_gap

from .stream_linear import way_cycles
from .synchronised import Synchronised


class StrStream(Implementation):
    """A stream for each instance; source and destination are known at compile time (str_stream)."""

    name = "str_stream"
    kinds = ("stream",)
    one_way = True

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not (is_constant(operator, "source") and is_constant(operator, "destination")):
            return None
        ends = (self._ends(operator, i) for i in range(len(operator.instances)))
        return Metric(words_per_cycle=0.5, latency=cycles_on_the_way(operator, context, ends))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i in range(len(operator.instances)):
            source, destination = self._ends(operator, i)
            if source != destination:
                streams.append(
                    message_stream(operator, i, context, source, (destination,), chains=2, message=operator.m)
                )
        return streams

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        source, destination = self._ends(operator, instance)
        name = stream_name(operator, instance)
        if node == source == destination:
            return RoleDraft("both", local=True)
        if node == source:
            return RoleDraft("write", (wiring.write_lane(name, node),))
        if node == destination:
            return RoleDraft("read", (wiring.read_lane(name, node),))
        return RoleDraft("none")

    @staticmethod
    def _ends(operator: Operator, instance: int) -> tuple[int, int]:
        nodes = operator.instances[instance].nodes
        return (
            nodes[operand(operator, instance, "source", ())],
            nodes[operand(operator, instance, "destination", ())],
        )


def source_and_destinations(operator: Operator, instance: int) -> tuple[int, tuple[int, ...]]:
    """The (constant) source of a stream operator, and all other nodes that may be its destination."""
    nodes = operator.instances[instance].nodes
    source = nodes[operand(operator, instance, "source", ())]
    others = dict.fromkeys(nodes[operand(operator, instance, "destination", v)] for v in runtime_values(operator))
    return source, tuple(node for node in others if node != source)


class StrStreamRtdest(Synchronised):
    """A multicast to all possible destinations; all routers but that of the actual destination drop its words
    (str_stream_rtdest; §4.1.1, "Output Discarding")."""

    name = "str_stream_rtdest"
    kinds = ("stream",)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "source") or is_constant(operator, "destination"):
            return None
        if is_partial(operator, "destination"):
            return None
        far = max(len(i.nodes) for i in operator.instances) ** 0.5
        return Metric(words_per_cycle=0.45, latency=4.0 * far, reload_words=8)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i in range(len(operator.instances)):
            source, destinations = source_and_destinations(operator, i)
            if destinations:
                streams.append(
                    message_stream(
                        operator, i, context, source, destinations, chains=2, rewritten=len(destinations) > 1
                    )
                )
        return [*streams, *self.meeting_streams(operator, context)]

    def drain(self, operator: Operator, wiring: Wiring) -> int:
        """Most cycles of a word to the farthest router: dropped words wait for no processor, and load functions meet, so all
        nodes are in the phase when a word sets out."""
        routed = wiring.routed
        longest = 0
        for chain in routed.chains:
            name = routed.streams[chain.stream].name
            if name.startswith(f"{operator.label}[") and "." not in name:
                gap = largest_gap(chain.vfsms[0].slots, routed.period)
                longest = max(longest, way_cycles(chain, routed.period) + gap + 4)
        return longest

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        instance = next(i for i, one in enumerate(operator.instances) if node in one.nodes)
        name = stream_name(operator, instance)
        if len(source_and_destinations(operator, instance)[1]) < 2 or name not in wiring.index:
            return ()
        return tuple(s for s in wiring.settings(name, node) if s.vfsm.destination.kind == "deliver")

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        nodes = operator.instances[instance].nodes
        chosen = node == nodes[operand(operator, instance, "destination", values)]
        return tuple(s if chosen else s.discard() for s in self.gen_router(operator, wiring, node))

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        meeting = self.meeting_lanes(operator, wiring, instance, node)
        nodes = operator.instances[instance].nodes
        source, _ = source_and_destinations(operator, instance)
        destination = nodes[operand(operator, instance, "destination", values)]
        name = stream_name(operator, instance)
        if node == source == destination:
            return RoleDraft("both", meeting, local=True)
        if source == destination or node not in (source, destination):
            return RoleDraft("none", meeting)
        if node == source:
            return RoleDraft("write", (*meeting, wiring.write_lane(name, node)))
        return RoleDraft("read", (*meeting, wiring.read_lane(name, node)))


class StrStreamSources(Implementation):
    """A stream from each possible source to the known destination, which reads the stream of the actual source
    (str_stream_rtsrc). No VFSM is rewritten and load functions do not meet, but the streams share the links' slots."""

    name = "str_stream_rtsrc"
    kinds = ("stream",)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "destination") or is_constant(operator, "source"):
            return None
        if is_partial(operator, "source"):
            return None
        sources = [self._sources(operator, i) for i in range(len(operator.instances))]
        ends = ((source, self._destination(operator, i)) for i, several in enumerate(sources) for source in several)
        most = max(map(len, sources))
        return Metric(words_per_cycle=0.9 / max(1, most), latency=cycles_on_the_way(operator, context, ends))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            message_stream(operator, i, context, source, (self._destination(operator, i),), f"from{source}", chains=2)
            for i, instance in enumerate(operator.instances)
            for source in self._sources(operator, i)
        ]

    @staticmethod
    def _destination(operator: Operator, instance: int) -> int:
        return operator.instances[instance].nodes[operand(operator, instance, "destination", ())]

    def _sources(self, operator: Operator, instance: int) -> list[int]:
        nodes = operator.instances[instance].nodes
        found = dict.fromkeys(nodes[operand(operator, instance, "source", v)] for v in runtime_values(operator))
        return [node for node in found if node != self._destination(operator, instance)]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        source = operator.instances[instance].nodes[operand(operator, instance, "source", values)]
        destination = self._destination(operator, instance)
        if node == source == destination:
            return RoleDraft("both", local=True)
        if source == destination or node not in (source, destination):
            return RoleDraft("none")
        name = stream_name(operator, instance, f"from{source}")
        if node == source:
            return RoleDraft("write", (wiring.write_lane(name, node),))
        return RoleDraft("read", (wiring.read_lane(name, node),))
