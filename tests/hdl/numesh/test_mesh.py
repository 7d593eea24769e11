# amaranth: UnusedElaboratable=no
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from numesh.codes import FIRST_READ, Codes, MoveType
from numesh.memories import NodeMemories
from numesh.mesh import Link, LinkError, Mesh
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape(pipelines=1, vfsms=8, schedule_depth=8, neighbours=2, registers=2, width=16)
CODES = Codes(SHAPE)
WEST, EAST = CODES.neighbour(0), CODES.neighbour(1)
IN, OUT = CODES.register(0), CODES.register(1)
Make = Callable[..., Any]
LEAD = FIRST_READ - 2
"""Cycles after reset that are not recorded: cycle 0 is two cycles before the first read stage."""


def line(nodes: int) -> list[Link]:
    return [(i, 1, i + 1, 0) for i in range(nodes - 1)]


def run(
    nodes: int,
    links: Sequence[Link],
    memories: Sequence[NodeMemories],
    cycles: int,
    accesses: Mapping[int, Mapping[str, int]],
    shape: NodeShape = SHAPE,
) -> list[Sample]:
    mesh = Mesh(shape=shape, nodes=nodes, links=links, memories=memories)
    watch = {
        f"{name}_{i}": getattr(node, name)
        for i, node in enumerate(mesh.nodes)
        for name in ("out_valid_1", "out_accept_1", "out_data_1")
    }
    return record(mesh, cycles + LEAD, lambda c, before: accesses.get(c - LEAD, {}), watch=watch)[LEAD:]


def test_word_goes_one_hop_a_cycle(program: Make, move: Make) -> None:
    # A line of five: the VFSM of node i that moves the word is scheduled in slot i mod 4.
    nodes, period = 5, 4
    memories = []
    for i in range(nodes):
        source, destination = WEST if i else IN, EAST if i < nodes - 1 else OUT
        slots = [(2,) if t == i % period else (0,) for t in range(period)]
        memories.append(program(SHAPE, slots, [{2: move(source, destination)}]))
    samples = run(nodes, line(nodes), memories, 14, {0: {"p_write_0": 1, "p_write_data_0": 0x1234}})
    # Slot 0 is the read stage of cycle 2; the word is on link i -> i + 1 in cycle 3 + i.
    on_links = [
        (c, i)
        for c, s in enumerate(samples)
        for i in range(nodes - 1)
        if s[f"out_valid_1_{i}"] and s[f"out_accept_1_{i}"]
    ]
    assert on_links == [(3, 0), (4, 1), (5, 2), (6, 3)]
    assert next(c for c, s in enumerate(samples) if s["p_full_4"]) == 8


def test_stream_holds_when_the_reader_does_not_read_and_loses_nothing(program: Make, move: Make) -> None:
    nodes = 3
    ends = [(IN, EAST), (WEST, EAST), (WEST, OUT)]
    memories = [
        program(SHAPE, [(2,) if t == i % 2 else (0,) for t in range(2)], [{2: move(*ends[i])}]) for i in range(nodes)
    ]
    sent: list[int] = []
    got: list[int] = []

    def drive(cycle: int, before: Sequence[Sample]) -> dict[str, int]:
        # The register is empty if it was so in the cycle before and nothing was put there.
        writing = cycle < 60 and bool(before) and not before[-1]["p_full_0"] & 1 and not before[-1]["p_write_0"]
        if writing:
            sent.append(100 + cycle)
        if before and before[-1]["p_read_2"] and before[-1]["p_full_2"] & 2:
            got.append(-1)  # the word follows below, one cycle later
        if len(before) > 1 and before[-2]["p_read_2"] and before[-2]["p_full_2"] & 2:
            got[got.index(-1)] = before[-1]["p_read_data_2"]
        reading = cycle > 30 and cycle % 3 == 0
        return {
            "p_write_0": int(writing),
            "p_write_data_0": 100 + cycle,
            "p_read_2": int(reading),
            "p_address_2": 1,
        }

    mesh = Mesh(shape=SHAPE, nodes=nodes, links=line(nodes), memories=memories)
    record(mesh, 110, drive)
    assert len(sent) > 5
    assert got == sent


def test_links_join_both_directions_and_any_ports(program: Make, move: Make) -> None:
    # Two nodes joined crosswise: port 0 of each to port 1 of the other.
    links = [(0, 0, 1, 1), (1, 0, 0, 1)]
    there, back = {2: move(IN, WEST), 3: move(EAST, OUT)}, {2: move(EAST, WEST)}
    # Node 0 sends in slot 0; node 1 returns it in slot 1; node 0 takes it in slot 2.
    memories = [program(SHAPE, [(2,), (0,), (3,), (0,)], [there]), program(SHAPE, [(0,), (2,), (0,), (0,)], [back])]
    samples = run(
        2, links, memories, 10, {0: {"p_write_0": 1, "p_write_data_0": 99}, 7: {"p_read_0": 1, "p_address_0": 1}}
    )
    assert [c for c, s in enumerate(samples) if s["p_full_0"] & 2] == [6, 7]
    assert samples[8]["p_read_data_0"] == 99


def test_node_may_be_joined_to_itself(program: Make, move: Make) -> None:
    memories = [program(SHAPE, [(2,), (3,), (0,), (0,)], [{2: move(IN, EAST), 3: move(WEST, OUT)}])]
    samples = run(1, [(0, 0, 0, 1)], memories, 9, {0: {"p_write_0": 1, "p_write_data_0": 5}})
    assert next(c for c, s in enumerate(samples) if s["p_full_0"] & 2) == 5


def test_port_without_a_link_offers_and_accepts_nothing(program: Make, move: Make) -> None:
    memories = [program(SHAPE, [(2,), (3,)], [{2: move(IN, EAST), 3: move(WEST, OUT)}])]
    samples = run(1, [], memories, 12, {0: {"p_write_0": 1, "p_write_data_0": 5}})
    assert any(s["out_valid_1_0"] for s in samples)
    assert not any(s["out_accept_1_0"] for s in samples)
    assert not any(s["p_full_0"] & 2 for s in samples)


def test_fork_in_a_node_feeds_two_neighbours(program: Make, move: Make) -> None:
    # Node 0 in the middle: west to node 1, east to node 2.
    links = [(0, 0, 1, 1), (0, 1, 2, 0)]
    middle = program(SHAPE, [(2,), (3,), (0,), (0,)], [{2: move(IN, WEST), 3: move(WEST, EAST, MoveType.FORK)}])
    ends = [
        program(SHAPE, [(0,), (2,), (0,), (0,)], [{2: move(EAST, OUT)}]),
        program(SHAPE, [(0,), (0,), (2,), (0,)], [{2: move(WEST, OUT)}]),
    ]
    samples = run(3, links, [middle, *ends], 20, {0: {"p_write_0": 1, "p_write_data_0": 5}})
    assert next(c for c, s in enumerate(samples) if s["p_full_1"] & 2) == 5
    assert next(c for c, s in enumerate(samples) if s["p_full_2"] & 2) == 6


@pytest.mark.parametrize(
    ("nodes", "links", "message"),
    [
        (0, [], "nodes must be at least 1, not 0"),
        (2, [(0, 1, 2, 0)], "link (0, 1, 2, 0): node must be 0 to 1, not 2"),
        (2, [(-1, 1, 1, 0)], "link (-1, 1, 1, 0): node must be 0 to 1, not -1"),
        (2, [(0, 1, 1, 2)], "link (0, 1, 1, 2): port must be 0 to 1, not 2"),
        (
            3,
            [(0, 1, 1, 0), (2, 0, 0, 1)],
            "link (2, 0, 0, 1): port 1 of node 0 is joined already by (0, 1, 1, 0)",
        ),
        (1, [(0, 1, 0, 1)], "link (0, 1, 0, 1): port 1 of node 0 is joined already by (0, 1, 0, 1)"),
    ],
)
def test_links_that_cannot_be_built_are_named(nodes: int, links: list[Link], message: str) -> None:
    with pytest.raises(LinkError, match=f"^{re.escape(message)}$"):
        Mesh(shape=SHAPE, nodes=nodes, links=links)


def test_memories_are_given_for_every_node() -> None:
    memories = [NodeMemories.at_reset(SHAPE)]
    with pytest.raises(LinkError, match=r"^memories must be given for 2 nodes, not 1$"):
        Mesh(shape=SHAPE, nodes=2, links=[], memories=memories)
