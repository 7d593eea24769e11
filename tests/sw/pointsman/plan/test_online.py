"""Online streams of a phase: there where operators are done by messages, and for each node a table of where they go on."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Wiring
from pointsman.operators.messages.online import ONLINE
from pointsman.plan.make_plan import make_plan
from pointsman.plan.online import online_node, online_part, spans_of, stands_for
from pointsman.plan.plan import ONLINE_KIND, OnlinePart
from pointsman.plan.structure.structure import outline
from pointsman.program.program import Program
from pointsman.routing.phase_router.router import route_phase


def program(size: int = 4) -> Program:
    return compile_text("(permute 'p (runtime) :m 2)", topology=mesh(size))


def part_of(own: Program, express: int = 0) -> OnlinePart:
    """Its only phase, with channels to all neighbours and those that are asked for."""
    phase = outline(own).phases[0]
    (way,) = (one for one in ONLINE if phase.operators[0].kind in one.kinds)
    part = online_part(phase, (way,), own, "p", express)
    assert part is not None
    return part


def test_a_phase_without_messages_has_none() -> None:
    own = compile_text("(broadcast 'b 0 :m 2)", topology=mesh(4))
    way = next(one for one in IMPLEMENTATIONS if one.name == "str_bcast")
    assert online_part(outline(own).phases[0], (way,), own, "b") is None


@pytest.mark.parametrize("express", [0, 2])
def test_following_the_tables_a_message_comes_to_every_node(express: int) -> None:
    own = program(6)
    part = part_of(own, express)
    wiring = Wiring(route_phase(list(part.streams), own.topology, NodeShape(registers=64), period=48))
    carrier = stands_for(part, wiring, range(len(part.streams)), own.topology)
    assert carrier.operator.kind == ONLINE_KIND
    assert carrier.operator.nodes == part.network.nodes
    tables = {}
    for node in sorted(part.network.nodes):
        registers = [lane.registers for lane in carrier.roles[node][0].lanes]
        tables[node] = online_node(part, node, registers, own.topology.nodes)
    targets = {node: [channel.target for channel in part.network.channels if channel.source == node] for node in tables}
    for source in tables:
        for destination in set(tables) - {source}:
            node, hops = source, 0
            while node != destination:
                node = targets[node][tables[node].onward[destination]]
                hops += 1
                assert hops <= own.topology.nodes
    assert all(len(set(table.outputs)) == len(table.outputs) for table in tables.values())


def test_each_channel_joins_the_nodes_on_its_path() -> None:
    part = part_of(program())
    assert [set(channel.path) for channel in part.network.channels] == spans_of(part)
    assert all(len(span) == 2 for span in spans_of(part))


def test_the_crowd_is_what_the_busiest_node_does_for_a_word_of_all_messages() -> None:
    """On a line of four, node 1 reads from node 0, writes to node 2, and passes on what node 3 sends to node 0."""
    own = compile_text("(cshift 'c 1 :m 10 :impl 'dyn_shift)", topology=mesh(4))
    (phase,) = make_plan(own, NodeShape(), name="test").phases
    assert phase.part is not None
    load = phase.part.loads["c"]
    assert (load.served, set(load.carried.values())) == (4, {1})
    assert phase.part.crowd("c", phase.routed) == max(4, phase.part.gap("c", phase.routed))


def test_trees_with_few_children_are_more_crowded_than_channels_to_all_neighbours() -> None:
    own = compile_text("(permute 'p (runtime) :m 2)", topology=mesh(4, 4))
    (phase,) = outline(own).phases
    (way,) = (one for one in ONLINE if "permute" in one.kinds)
    parts = [online_part(phase, (way,), own, "p", narrow=narrow) for narrow in (False, True)]
    plain, narrow = (part.loads["p"] for part in parts if part is not None)
    assert narrow.served > 2 * plain.served
    assert max(narrow.carried.values()) > 2 * max(plain.carried.values())
