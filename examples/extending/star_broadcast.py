"""An implementation of one's own: a broadcast as one stream to each reader.

It does without forks and chains, so it wins only for few nodes; it shows the parts that an implementation has.
`docs/extending.md` goes through them.
"""

from __future__ import annotations

from pointsman.cop import Operator
from pointsman.operators import Context, Implementation, Metric, RoleDraft, Wiring
from pointsman.operators.api.operands import is_constant, message_stream, operand, stream_name
from pointsman.routing.streams import Stream

MOST_READERS = 8
"""The source needs an interface register for each reader, of which a node has 16 for all its operators."""


class StarBroadcast(Implementation):
    """A stream from the source to each other node of the subset; the source known."""

    name = "star_bcast"
    kinds = ("broadcast",)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "source"):
            return None
        readers = max(len(instance.nodes) for instance in operator.instances) - 1
        if readers > MOST_READERS:
            return None
        return Metric(words_per_cycle=0.5 / max(1, readers), latency=float(readers))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            source = instance.nodes[operand(operator, i, "source", ())]
            for node in instance.nodes:
                if node != source:
                    streams.append(message_stream(operator, i, context, source, (node,), f"to{node}"))
        return streams

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        source = nodes[operand(operator, instance, "source", ())]
        if node != source:
            return RoleDraft("read", (wiring.read_lane(stream_name(operator, instance, f"to{node}"), node),))
        readers = [other for other in nodes if other != source]
        return RoleDraft(
            "write",
            tuple(
                wiring.write_lane(
                    stream_name(operator, instance, f"to{reader}"),
                    source,
                    # Lanes in a ring wait for each other, so that no reader gets far ahead.
                    pair=(k + 1) % len(readers) if len(readers) > 1 else None,
                    window=4 if len(readers) > 1 else None,
                )
                for k, reader in enumerate(readers)
            ),
        )
