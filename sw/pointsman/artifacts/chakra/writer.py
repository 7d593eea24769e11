"""An algorithm -> Chakra traces, a file a rank: a COMM_SEND and a COMM_RECV node for each message, with what a send waits for."""

from __future__ import annotations

from pointsman.artifacts.algorithms.algorithm import Algorithm
from pointsman.artifacts.algorithms.goal import check_messages, receives_before

from . import schema
from .schema import NodeType
from .wire import framed, record_bytes


def chakra_traces(algorithm: Algorithm, *, chunk_bytes: int) -> list[bytes]:
    """The trace of each rank. A message has the number of its place in the algorithm, as id of its nodes and as their tag; a send
    has the receives whose chunks it sends on, or adds up, before it as data dependences.

    Raises
    ------
    PointsmanError
        If there are no messages, or one is too long.
    """
    check_messages(algorithm, chunk_bytes)
    traces = [
        bytearray(framed(record_bytes([(schema.METADATA_VERSION, schema.VERSION)]))) for _ in range(algorithm.ranks)
    ]
    before = receives_before(algorithm)
    for at, message in enumerate(algorithm.messages):
        # Chakra's feeder takes each of them in the field of its own size alone, and 0 where it stands in another.
        values = (
            ("comm_src", schema.INT32, message.source),
            ("comm_dst", schema.INT32, message.destination),
            ("comm_size", schema.INT64, message.count * chunk_bytes),
            ("comm_tag", schema.INT32, at),
        )
        attributes: list[tuple[int, int | str | bytes]] = [
            (schema.NODE_ATTRIBUTE, record_bytes([(schema.ATTRIBUTE_NAME, name), (size, value)]))
            for name, size, value in values
        ]
        attributes.append(
            (schema.NODE_ATTRIBUTE, record_bytes([(schema.ATTRIBUTE_NAME, "is_cpu_op"), (schema.BOOL, 0)]))
        )
        for kind, rank in ((NodeType.COMM_SEND, message.source), (NodeType.COMM_RECV, message.destination)):
            needs = before[at] if kind is NodeType.COMM_SEND else frozenset()
            node: list[tuple[int, int | str | bytes]] = [
                (schema.NODE_ID, at),
                (schema.NODE_NAME, f"{'send' if kind is NodeType.COMM_SEND else 'receive'} {at}"),
                (schema.NODE_TYPE, int(kind)),
                *((schema.NODE_DATA_DEPS, one) for one in sorted(needs)),
            ]
            traces[rank] += framed(record_bytes([*node, *attributes]))
    return [bytes(trace) for trace in traces]
