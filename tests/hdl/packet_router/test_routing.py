"""Freedom from deadlock: channels in dimension order depend on each other without a cycle, adaptive detours included."""

from __future__ import annotations

from collections.abc import Callable

import networkx
import pytest

from packet_router.mesh import neighbour
from packet_router.routing import Ways, ways
from packet_router.shape import RouterShape

Choose = Callable[[RouterShape, tuple[int, ...], tuple[int, ...]], Ways | None]

SHAPES = [
    RouterShape(size=size, torus=torus, routing=routing)
    for routing in ("e-cube", "adaptive")
    for size, torus in [
        ((1, 1), False),
        ((1, 4), False),
        ((4, 4), False),
        ((3, 5), False),
        ((3, 2, 3), False),
        ((2, 2), True),
        ((5,), True),
        ((4, 4), True),
        ((3, 5), True),
        ((3, 3, 3), True),
        ((2, 4, 3), True),
    ]
]


def graph_shape(graph: networkx.Graph) -> RouterShape:
    links = tuple((int(one), int(other)) for one, other in graph.edges())
    return RouterShape(size=(graph.number_of_nodes(),), routing="up-down", graph=links)


def diamond(columns: int, rows: int) -> networkx.Graph:
    """A lattice in which every inner node of a row is joined to two of the row above and two of that below."""
    found = networkx.Graph()
    found.add_nodes_from(range(columns * rows))
    for y in range(rows - 1):
        for x in range(columns):
            for step in (0, 1) if y % 2 else (-1, 0):
                if 0 <= x + step < columns:
                    found.add_edge(x + columns * y, x + step + columns * (y + 1))
    return found


GRAPHS = {
    "one": networkx.path_graph(1),
    "path": networkx.path_graph(5),
    "ring": networkx.cycle_graph(7),
    "star": networkx.star_graph(8),
    "complete": networkx.complete_graph(6),
    "petersen": networkx.petersen_graph(),
    "diamond": diamond(4, 6),
    "hypercube": networkx.convert_node_labels_to_integers(networkx.hypercube_graph(4)),
    "torus": networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(4, 4, periodic=True)),
    **{
        f"random {seed}": networkx.random_regular_graph(3 + seed % 3, 12 + 2 * seed, seed=seed)
        for seed in range(20)
        if networkx.is_connected(networkx.random_regular_graph(3 + seed % 3, 12 + 2 * seed, seed=seed))
    },
}


def dependencies(shape: RouterShape, choose: Choose = ways) -> networkx.DiGraph:
    """The extended channel dependency graph of the escape channels (Duato 1993).

    A channel is (node, port, channel). There is an edge from a to b if some message may hold a, where it came in dimension
    order, and ask for b: at once, or after any detour over adaptive channels. Only what a message can reach counts.
    """
    found = networkx.DiGraph()
    for to in range(shape.nodes):
        there = shape.place(to)

        def step(node: int, there: tuple[int, ...] = there) -> tuple[tuple[int, int, int] | None, list[int]]:
            """Escape channel at a node, and nodes that adaptive channels lead to."""
            choice = choose(shape, shape.place(node), there)
            if choice is None:
                return None, []
            beyond = []
            for port in choice.adaptive:
                end = neighbour(shape, node, port)
                assert end is not None
                beyond.append(end[0])
            return (node, *choice.escape), beyond

        for start in range(shape.nodes):
            escape, _ = step(start)
            if escape is None:
                continue
            found.add_node(escape)
            end = neighbour(shape, start, escape[1])
            assert end is not None
            seen, stack = {end[0]}, [end[0]]
            while stack:
                wanted, beyond = step(stack.pop())
                if wanted is not None:
                    found.add_edge(escape, wanted)
                for node in beyond:
                    if node not in seen:
                        seen.add(node)
                        stack.append(node)
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.routing} {'x'.join(map(str, s.size))}{' torus' * s.torus}")
def test_escape_channels_depend_on_each_other_without_a_cycle(shape):
    assert networkx.is_directed_acyclic_graph(dependencies(shape))


def test_one_channel_on_a_torus_would_deadlock():
    def faulty(shape: RouterShape, here: tuple[int, ...], there: tuple[int, ...]) -> Ways | None:
        found = ways(shape, here, there)
        return None if found is None else Ways((found.escape[0], 0), found.adaptive)

    with pytest.raises(networkx.NetworkXNoCycle):
        networkx.find_cycle(dependencies(RouterShape(size=(5,), torus=True)))
    assert networkx.find_cycle(dependencies(RouterShape(size=(5,), torus=True), faulty))


def test_escaping_in_any_dimension_would_deadlock():
    def faulty(shape: RouterShape, here: tuple[int, ...], there: tuple[int, ...]) -> Ways | None:
        found = ways(shape, here, there)
        if found is None:
            return None
        return Ways((found.adaptive[sum(here) % len(found.adaptive)], 0), found.adaptive)

    assert networkx.find_cycle(dependencies(RouterShape(size=(4, 4), routing="adaptive"), faulty))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.routing} {'x'.join(map(str, s.size))}{' torus' * s.torus}")
def test_every_way_is_a_shortest_way_and_ends_at_its_destination(shape):
    graph = networkx.Graph()
    graph.add_nodes_from(range(shape.nodes))
    for node in range(shape.nodes):
        for port in range(shape.links):
            end = neighbour(shape, node, port)
            if end is not None:
                assert neighbour(shape, *end) == (node, port)
                graph.add_edge(node, end[0])
    distance = dict(networkx.all_pairs_shortest_path_length(graph))
    for here in range(shape.nodes):
        for to in range(shape.nodes):
            choice = ways(shape, shape.place(here), shape.place(to))
            if here == to:
                assert choice is None
                continue
            assert choice is not None
            for port in {choice.escape[0], *choice.adaptive}:
                end = neighbour(shape, here, port)
                assert end is not None
                assert distance[end[0]][to] == distance[here][to] - 1


@pytest.mark.parametrize("name", GRAPHS)
def test_channels_of_any_graph_depend_on_each_other_without_a_cycle(name):
    shape = graph_shape(GRAPHS[name])
    found = dependencies(shape)
    assert networkx.is_directed_acyclic_graph(found)
    assert shape.nodes == 1 or found.number_of_nodes() >= 2 * (shape.nodes - 1), (
        "both senses of a tree at least are used"
    )


@pytest.mark.parametrize("name", GRAPHS)
def test_every_way_in_a_graph_ends_at_its_destination(name):
    """The shortest one in a tree; elsewhere it may be longer, for it never goes up after it went down."""
    shape = graph_shape(GRAPHS[name])
    for start in range(shape.nodes):
        for to in range(shape.nodes):
            here, hops = start, 0
            while (choice := ways(shape, (here,), (to,))) is not None:
                end = neighbour(shape, here, choice.escape[0])
                assert end is not None
                assert choice.escape[1] == 0
                here, hops = end[0], hops + 1
                assert hops <= shape.nodes
            assert here == to
            if GRAPHS[name].number_of_edges() == shape.nodes - 1:
                assert hops == networkx.shortest_path_length(GRAPHS[name], start, to), "in a tree there is one way"
        assert all(neighbour(shape, start, port) is None for port in range(GRAPHS[name].degree(start), shape.links))


def test_shortest_ways_round_a_ring_would_deadlock():
    shape = graph_shape(networkx.cycle_graph(5))

    def faulty(shape: RouterShape, here: tuple[int, ...], there: tuple[int, ...]) -> Ways | None:
        if here == there:
            return None
        step = 1 if (there[0] - here[0]) % 5 <= 2 else -1
        ports = range(shape.links)
        return Ways((next(p for p in ports if neighbour(shape, here[0], p)[0] == (here[0] + step) % 5), 0), ())

    assert networkx.find_cycle(dependencies(shape, faulty))
