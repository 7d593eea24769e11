"""A ring through all nodes."""

import pytest

from cosim.numesh.machine import Machine
from cosim.numesh.rings import ring_memories, ring_order
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.runtime.api.requests import Lane, Transfer, Wait

SHAPE = NodeShape(vfsms=4, schedule_depth=8, registers=8)


@pytest.mark.parametrize("topology", [mesh(2, 2), mesh(3, 2), mesh(2, 4), mesh(5, 6), torus(3, 4)], ids=str)
def test_a_ring_visits_every_node_and_each_is_a_neighbour_of_the_next(topology):
    order = ring_order(topology)
    assert sorted(order) == list(range(topology.nodes))
    for node, following in zip(order, order[1:] + order[:1], strict=True):
        assert following in {other for other, _ in topology.at_port[node].values()}


@pytest.mark.parametrize("topology", [mesh(1, 2), mesh(3, 3), mesh(4), mesh(2, 2, 2), graph(2, [(0, 1)])], ids=str)
def test_not_every_network_has_this_ring(topology):
    with pytest.raises(PointsmanError, match=r"^a ring needs a mesh with an even number of rows and at least two"):
        ring_order(topology)


def test_a_torus_of_two_columns_sends_and_receives_on_the_same_link():
    topology = torus(2, 2)
    with Machine(SHAPE, topology, engine="model") as machine:
        machine.preload(ring_memories(SHAPE, topology, [(2, 3), (4, 5)]))

        def program():
            yield Transfer([Lane(True, (2, 4), 10), Lane(False, (3, 5), 10)])

        machine.run([program() for _ in range(4)], quiet_cycles=50)


def test_an_endless_ring_moves_words_without_any_processor():
    topology = mesh(2, 2)
    with Machine(SHAPE, topology, engine="model") as machine:
        machine.preload(ring_memories(SHAPE, topology, [(2, 3)], endless=True))

        def program():
            yield Transfer(Lane(True, 2, 1))
            yield Wait(20, 0)
            for _ in range(5):
                yield Transfer(Lane(False, 3, 1))

        machine.run([program() for _ in range(4)], quiet_cycles=50)
