"""The stream operator: words from one node to another (Metcalf 1997, A.1 and B.1)."""

from __future__ import annotations

from pointsman.cop.program import Operator
from pointsman.images.image import LaneImage
from pointsman.streams.stream import Stream

from .implementation import (
    Context,
    Implementation,
    Metric,
    RoleDraft,
    Wiring,
    is_constant,
    keep_in,
    operand,
    stream_name,
)


class StrStream(Implementation):
    """A stream for each instance, both ends known (str_stream)."""

    name = "str_stream"
    kinds = ("stream",)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not (is_constant(operator, "source") and is_constant(operator, "destination")):
            return None
        return Metric(words_per_cycle=0.5, latency=max(len(i.nodes) for i in operator.instances))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            source, destination = self._ends(operator, i)
            if source != destination:
                streams.append(
                    Stream(
                        stream_name(operator, i),
                        source,
                        (destination,),
                        weight=float(operator.m * operator.c),
                        chains=2,
                        group=operator.label,
                        keep_in=keep_in(instance, context),
                    )
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
            return RoleDraft("write", (LaneImage(True, wiring.registers(name, node, "inject")),))
        if node == destination:
            return RoleDraft("read", (LaneImage(False, wiring.registers(name, node, "deliver"), data="in"),))
        return RoleDraft("none")

    @staticmethod
    def _ends(operator: Operator, instance: int) -> tuple[int, int]:
        nodes = operator.instances[instance].nodes
        return (
            nodes[operand(operator, instance, "source", ())],
            nodes[operand(operator, instance, "destination", ())],
        )
