"""What programs of connections and of messages may not do; what they do: `tests/sim/cosim/iwarp/test_awaited.py`."""

from __future__ import annotations

import pytest

import pointsman
from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels import divide
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.network.faults import with_faults
from pointsman.runtime.phased import ConnectionsApplication, MessagesApplication

PAIRS = divide(ChannelProblem(mesh(3), 2, (Demand(0, 1, 2), Demand(1, 2, 2), Demand(0, 2, 2))))


def misused(cell_main, application=ConnectionsApplication, given=(PAIRS,), **attributes):
    body = {"cell_main": cell_main, "check": lambda self, results: "right", **attributes}
    made = type("Misuse", (application,), body)
    with pytest.raises(PointsmanError) as caught:
        pointsman.run(made(*given) if given else made, None if given else mesh(2), target="packet", engine="model")
    return str(caught.value)


def test_phases_come_in_their_order():
    async def skipping(self, cell):
        await cell.instantiate_phase("1")

    assert "asks for phase '1' when '0' is next" in misused(skipping)


def test_a_connection_is_used_at_its_ends_while_its_phase_is_active():
    async def early(self, cell):
        await cell.send_element(0, 1)

    async def strange(self, cell):
        await cell.instantiate_phase("0")
        first = self.answer.phases[0][0].connection
        if cell.number == self.answer.problem.connections[first].destination:
            await cell.send_element(first, 1)

    assert "uses connection 0, which is not active" in misused(early)
    assert "whose end it is not" in misused(strange)


@pytest.mark.parametrize(
    ("element", "words", "said"),
    [("complex", 2, "an element must be int32"), ("float64", 3, "connection 0 has 3 words; a float64 takes 2")],
)
def test_elements_have_a_type_that_fits(element, words, said):
    answer = divide(ChannelProblem(mesh(2), 2, (Demand(0, 1, words),)))
    made = type("Typed", (ConnectionsApplication,), {"element": element, "cell_main": None, "__abstractmethods__": ()})
    with pytest.raises(PointsmanError, match=said):
        made(answer)


def test_without_connections_there_is_no_program():
    made = type("Nothing", (ConnectionsApplication,), {"cell_main": None, "__abstractmethods__": ()})
    with pytest.raises(PointsmanError, match="there are no connections"):
        made(divide(ChannelProblem(mesh(2), 2, ())))


def test_every_message_has_to_be_received():
    async def deaf(self, cell):
        if cell.number == 0:
            await cell.msg_send(1, [1, 2, 3])

    async def to_itself(self, cell):
        await cell.msg_send(cell.number, [1])

    async def half_deaf(self, cell):
        if cell.number == 0:
            await cell.msg_send(1, [1, 2, 3])
            await cell.msg_send(1, [4])
            await cell.msg_receive()
        else:
            await cell.msg_receive()
            await cell.msg_send(0, [5])
            for _ in range(3):
                await cell.compute(100)
                await cell._endpoint.poll()

    unhandled = "node 1 has ended, and has not handled 1 of the requests of node 0"
    assert unhandled in misused(deaf, MessagesApplication, ())
    assert "cell 1 has not received all messages to it" in misused(half_deaf, MessagesApplication, ())
    assert "sends a message to itself" in misused(to_itself, MessagesApplication, ())


def test_connections_lead_to_nodes_that_work():
    class Over(ConnectionsApplication):
        async def cell_main(self, cell):
            await cell.instantiate_phase("0")
            if cell.number == 0:
                await cell.send_element(0, 7)
            return await cell.receive_element(0) if cell.number == 3 else None

    answer = divide(ChannelProblem(with_faults(mesh(2, 2), nodes=[1]), 2, (Demand(0, 3, 1),)))
    done = pointsman.run(Over(answer), answer.problem.topology, target="packet", engine="model")
    assert done.finished.record.results == [None, None, None, 7]
