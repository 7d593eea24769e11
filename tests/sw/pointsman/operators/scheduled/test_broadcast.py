"""Trees of multicasts, and how fast a known source's broadcast is."""

from __future__ import annotations

from collections import Counter

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.operators.scheduled.broadcast import StrBcast
from pointsman.operators.trees.multicast_trees import narrow_tree, two_arms
from pointsman.plan.make_plan import make_plan
from pointsman.routing.errors import RoutingError
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import Stream
from pointsman.runtime import Category, WaitUntil, numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

NETWORKS = [
    mesh(1, 1),
    mesh(1, 5),
    mesh(2, 2),
    mesh(3, 3),
    mesh(3, 5),
    mesh(4, 4),
    mesh(2, 2, 2),
    mesh(3, 2, 4),
    torus(4, 4),
]


def adjacent(topology: Topology, node: int, after: int) -> bool:
    return any(other == after for other, _ in topology.at_port[node].values())


def check_tree(
    links: tuple[tuple[int, int], ...], source: int, readers: set[int], topology: Topology, legs: int
) -> None:
    reached = {source}
    count = Counter(readers)
    for node, after in links:
        assert node in reached
        assert after not in reached
        assert adjacent(topology, node, after)
        reached.add(after)
        count[node] += 1
    assert readers <= reached
    assert max(count.values(), default=0) <= legs


@pytest.mark.parametrize("topology", NETWORKS, ids=str)
@pytest.mark.parametrize("legs", [2, 3])
def test_trees_reach_all_readers_from_every_source_with_few_legs(topology: Topology, legs: int) -> None:
    nodes = tuple(range(topology.nodes))
    for source in nodes:
        for readers in (set(nodes) - {source}, set(nodes[::3]) - {source}):
            given = tuple(sorted(readers))
            if legs == 2:
                links = two_arms(nodes, source, given, topology)
            else:
                links = narrow_tree(nodes, source, given, topology, legs)
            assert links is not None
            check_tree(links, source, readers, topology, legs)


def test_a_star_has_no_tree_of_few_legs() -> None:
    # The middle of a cross of five nodes has four neighbours, and they have no others.
    cross = (1, 3, 4, 5, 7)
    assert narrow_tree(cross, 4, (1, 3, 5, 7), mesh(3, 3), 3) is None
    assert two_arms(cross, 4, (1, 3, 5, 7), mesh(3, 3)) is None


def cycles(topology: Topology, source: int, m: int) -> float:
    """From the moment at which all begin to the end of the last."""
    program = compile_text(f"(broadcast 'o {source} :m {m} :impl 'str_bcast)", topology=topology)
    images = make_images(make_plan(program, NodeShape(), name="long"))
    assert check_images(images).ok
    ends = {}

    async def main(node):  # type: ignore[no-untyped-def]
        await node.cop.o_load()
        await WaitUntil(3000, Category.CPU)
        if node.number == source:
            await node.cop.o_write(range(m))
        else:
            assert list(await node.cop.o_read()) == list(range(m))
        ends[node.number] = node.time - 3000

    with Machine(NodeShape(), topology, engine="model", progress=False) as machine:
        run_nodes([numesh_node(images, n, machine) for n in range(topology.nodes)], main, machine)
    return max(ends.values())


@pytest.mark.long
@pytest.mark.parametrize(("size", "source"), [((3, 3), 0), ((3, 3), 1), ((4, 4), 0), ((8, 8), 0), ((8, 8), 27)])
def test_a_long_broadcast_takes_less_than_two_cycles_a_word(size: tuple[int, int], source: int) -> None:
    # Metcalf 1997, §8.3.2: 2 cycles a word.
    topology = mesh(*size)
    assert (cycles(topology, source, 512) - cycles(topology, source, 256)) / 256 < 1.75


@pytest.mark.parametrize("legs", [2, 3])
@pytest.mark.parametrize("size", [(3, 3), (5, 5), (8, 8)])
def test_narrow_multicasts_are_routed_at_half_a_word_a_cycle_and_more(size: tuple[int, int], legs: int) -> None:
    program = compile_text("(broadcast 'o 0 :m 512)", topology=mesh(*size))
    plan = make_plan(program, NodeShape(), name="long", period=16, implementations=(StrBcast(legs),))
    (phase,) = plan.phases
    assert phase.routed.bandwidth(0) >= (0.875 if legs == 2 else 0.5)


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (((1, 2),), "its tree goes on from node 1, which it has not reached"),
        (((0, 1), (0, 3), (1, 4), (3, 4)), "its tree reaches node 4 twice"),
        (((0, 4),), "its tree goes from node 0 to node 4, which are not adjacent"),
        (((0, 3),), "its tree misses destination 4"),
    ],
)
def test_a_tree_that_is_none_is_refused(tree: tuple[tuple[int, int], ...], message: str) -> None:
    with pytest.raises(RoutingError, match=f"^stream s: {message}$"):
        route_phase([Stream("s", 0, (4,), tree=tree)], mesh(3, 3), NodeShape(), period=8)
