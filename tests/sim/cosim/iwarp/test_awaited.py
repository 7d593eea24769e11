"""One program of connections, and one of messages, on every target and on the machine with logical channels."""

from __future__ import annotations

import pytest

import pointsman
from cosim.iwarp.awaited import awaited
from cosim.iwarp.exchanges import paths_of
from cosim.iwarp.machine import ChannelMachine
from cosim.iwarp.session import ChannelSession
from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels import divide
from pointsman.network import mesh, torus
from pointsman.runtime.phased import ConnectionsApplication, MessagesApplication

TARGETS = [
    ("numesh", {"engine": "model", "period": 16, "effort": 0.05}),
    ("tdm", {"engine": "model"}),
    ("packet", {"engine": "model"}),
    ("optical", {"engine": "model"}),
]


def connections_of(topology, channels):
    """Irregular: a node with many connections, a node with none, two on the same pair."""
    pairs = [(0, 4, 3), (4, 0, 2), (1, 4, 1), (3, 4, 2), (0, 1, 4), (0, 1, 1), (1, 3, 2)]
    return divide(ChannelProblem(topology, channels, tuple(Demand(*one) for one in pairs)))


class Exchange(ConnectionsApplication):
    """In each of two rounds every connection carries its words, which tell round, connection and place."""

    rounds = 2

    async def cell_main(self, cell):
        return await exchange(cell, self.answer, self.rounds)

    def check(self, results):
        proved(results, self.answer, self.rounds)
        return "right"


async def exchange(cell, answer, rounds):
    demands, got = answer.problem.connections, []
    for turn in range(rounds):
        for number, routes in enumerate(answer.phases):
            await cell.instantiate_phase(str(number))
            for route in sorted(routes, key=lambda route: (route.start, route.connection)):
                one = demands[route.connection]
                for k in range(one.words):
                    value = 100 * turn + 10 * route.connection + k
                    if one.source == cell.number:
                        await cell.send_element(route.connection, value)
                    elif one.destination == cell.number:
                        got.append((value, int(await cell.receive_element(route.connection))))
    return got


def proved(results, answer, rounds):
    assert all(wanted == found for got in results for wanted, found in got)
    assert sum(map(len, results)) == rounds * sum(one.words for one in answer.problem.connections)


@pytest.mark.parametrize(("target", "options"), TARGETS, ids=[name for name, _ in TARGETS])
@pytest.mark.parametrize("channels", [2, 12])
def test_connections_element_by_element(target, options, channels):
    answer = connections_of(mesh(3, 2), channels)
    assert (len(answer.phases) > 1) is (channels == 2)
    assert pointsman.run(Exchange(answer), target=target, **options).answer == "right"


def test_the_same_on_a_machine_with_logical_channels():
    answer = connections_of(torus(3, 2), 2)
    session = ChannelSession(ChannelMachine(torus(3, 2)), paths_of(answer))
    done = session.run(awaited(lambda cell: exchange(cell, answer, 2)))
    proved(done.returned, answer, 2)
    assert len(done.phases) == 2 * len(answer.phases)


async def converse(cell, nodes):
    """Blocks of different lengths to all others, two each; what came, by source."""
    for other in range(nodes):
        if other != cell.number:
            await cell.msg_send(other, range(cell.number, cell.number + 30))
            await cell.msg_send(other, [7] * other)
    await cell.compute(5)
    got = {}
    for _ in range(2 * (nodes - 1)):
        source, block = await cell.msg_receive()
        got.setdefault(source, []).append([int(word) for word in block])
    return got


class Conversation(MessagesApplication):
    async def cell_main(self, cell):
        return await converse(cell, self.topology.nodes)

    def check(self, results):
        conversed(results, self.topology.nodes)
        return "right"


def conversed(results, nodes):
    for number, got in enumerate(results):
        assert sorted(got) == [other for other in range(nodes) if other != number]
        for source, blocks in got.items():
            assert blocks == [list(range(source, source + 30)), [7] * number]


@pytest.mark.parametrize("target", [name for name, _ in TARGETS])
def test_messages_of_any_length_in_the_order_of_each_sender(target):
    assert pointsman.run(Conversation, mesh(2, 2), target=target, engine="model").answer == "right"


def test_the_same_messages_on_a_machine_with_logical_channels():
    done = ChannelSession(ChannelMachine(torus(2, 2)), {}, messages=24).run(awaited(lambda cell: converse(cell, 4)))
    conversed(done.returned, 4)
