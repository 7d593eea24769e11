"""Traces of an algorithm, read by Google's protobuf package and carried out."""

from __future__ import annotations

import math
from collections import Counter
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from tests.sw.pointsman.artifacts.algorithms.random_algorithms import random_algorithm
from tests.sw.pointsman.artifacts.chakra.protobuf_trace import messages

from pointsman.artifacts.algorithms.algorithm import Algorithm, Buffers, Message
from pointsman.artifacts.algorithms.msccl import from_msccl
from pointsman.artifacts.chakra.reader import import_chakra
from pointsman.artifacts.chakra.wire import records
from pointsman.artifacts.chakra.writer import chakra_traces
from pointsman.errors import PointsmanError

EXAMPLES = Path(__file__).parents[5] / "examples/formats"


def ring():
    with (EXAMPLES / "ring_allreduce.xml").open("rb") as file:
        return from_msccl(file)


def test_every_node_can_be_carried_out_and_a_ring_takes_its_steps():
    known = messages()
    waiting = {}
    for rank, trace in enumerate(chakra_traces(ring(), chunk_bytes=64)):
        first, *rest = records(BytesIO(trace))
        assert known["GlobalMetadata"].FromString(first).version == "0.0.4"
        for record in rest:
            node = known["Node"].FromString(record)
            # The fields in which Chakra's own feeder looks for them; where a value stands in another, it reads 0.
            sizes = {"comm_size": "int64_val", "is_cpu_op": "bool_val"}
            values = {one.name: getattr(one, sizes.get(one.name, "int32_val")) for one in node.attr}
            assert all(one.HasField(sizes.get(one.name, "int32_val")) for one in node.attr)
            ends = values["comm_src"], values["comm_dst"]
            assert ends[node.type - 5] == rank
            assert (values["comm_size"], values["comm_tag"]) == (64, node.id)
            assert node.type == 5 or not node.data_deps
            waiting[rank, node.id, node.type] = ends, set(node.data_deps)
    assert len(waiting) == 48
    done, steps = set(), 0
    while len(done) < len(waiting):
        # A send needs what its rank has received, a receive its message.
        ready = {
            key
            for key, (ends, needs) in waiting.items()
            if key not in done
            and all((key[0], one, 6) in done for one in needs)
            and (key[2] == 5 or (ends[0], key[1], 5) in done)
        }
        assert ready, "some nodes wait for ever"
        done |= ready
        steps += 1
    assert steps == 2 * 6  # six steps of the ring, each a send and a receive


def test_traces_of_random_algorithms_are_read_again_with_the_bytes_of_their_messages(tmp_path):
    random = Random(4)
    for case in range(30):
        algorithm = random_algorithm(random)
        traces = chakra_traces(algorithm, chunk_bytes=random.choice([1, 4, 1 << 42]))
        for rank, trace in enumerate(traces):
            path = tmp_path / f"run{case}.{rank}.et"
            path.write_bytes(trace)
        moved = Counter()
        for one in algorithm.messages:
            moved[one.source, (one.destination,)] += one.count
        flows = import_chakra(path).flows
        assert {(flow.source, flow.destinations) for flow in flows} == moved.keys()
        first = flows[0]
        scale = first.bandwidth / moved[first.source, first.destinations]
        assert all(math.isclose(flow.bandwidth, scale * moved[flow.source, flow.destinations]) for flow in flows)


def test_nothing_to_write_and_messages_beyond_what_is_read_are_refused():
    buffers = Buffers(1, 2, 0)
    with pytest.raises(PointsmanError, match=r"^the algorithm has no messages, so there is nothing to write$"):
        chakra_traces(Algorithm("x", "allgather", 2, buffers, (), ()), chunk_bytes=4)
    with pytest.raises(
        PointsmanError, match=r"^messages\[0\] has 4096 chunks of \d+ bytes, and a message has at most \d+\n"
    ):
        chakra_traces(Algorithm("x", "allgather", 2, buffers, (Message(0, 1, 4096),), ()), chunk_bytes=1 << 42)


def test_the_example_is_what_is_written():
    for rank, trace in enumerate(chakra_traces(ring(), chunk_bytes=64)):
        assert (EXAMPLES / f"ring_allreduce.{rank}.et").read_bytes() == trace
