"""Programs by the five primitives; context switches never lose words."""

from __future__ import annotations

import pytest

from cosim.iwarp.fabric import CompiledFabric
from cosim.iwarp.machine import ChannelMachine
from cosim.iwarp.naive import NaiveFabric
from cosim.iwarp.session import ChannelSession
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus

LINE = ChannelMachine(mesh(3))
PHASES = {"one": {"x": (0, 1, 2)}, "two": {"y": (2, 1)}}


def test_elements_go_through_phases_and_a_switch_takes_528_clocks():
    def program(cell):
        yield from cell.instantiate_phase("one")
        if cell.number == 0:
            yield from cell.send_element("x", 3.5)
        if cell.number == 2:
            value = yield from cell.receive_element("x")
        yield from cell.instantiate_phase("two")
        if cell.number == 2:
            yield from cell.send_element("y", value + 1)
        if cell.number == 1:
            return (yield from cell.receive_element("y"))

    done = ChannelSession(LINE, PHASES).run(program)
    assert done.returned == [None, 4.5, None]
    assert done.phases == [("one", 528), ("two", 528 + 10 + 528)]
    assert done.clocks == 528 + 10 + 528 + 6


def test_the_same_element_receives_in_systolic_use_as_slowly_as_the_program_computes():
    def program(cell):
        yield from cell.instantiate_phase("one")
        if cell.number == 0:
            yield from cell.send_elements("x", range(100), clocks=10)
        if cell.number == 2:
            return (yield from cell.receive_elements("x", 100))

    done = ChannelSession(LINE, PHASES).run(program)
    assert done.clocks == 528 + 99 * 10 + 10
    assert done.returned[2] == list(range(100))


def unread(cell):
    yield from cell.instantiate_phase("one")
    if cell.number == 0:
        yield from cell.send_elements("x", [1, 2, 3])
    yield from cell.instantiate_phase("two")


def test_a_switch_with_words_in_flight_is_refused():
    with pytest.raises(PointsmanError, match="phase 'two' cannot begin: connection 'x' still has 3 words"):
        ChannelSession(LINE, PHASES).run(unread)


def test_without_the_rule_of_drained_buffers_the_loss_is_told():
    class Careless(CompiledFabric):
        def in_flight(self):
            return {}

    with pytest.raises(PointsmanError, match="3 words were sent and not received by the end of the run"):
        ChannelSession(LINE, PHASES, fabric=Careless(LINE)).run(unread)


def test_a_switch_waits_for_spools():
    def program(cell):
        yield from cell.instantiate_phase("one")
        if cell.number == 0:
            yield from cell.spool([("x", range(50))])
        if cell.number == 2:
            yield from cell.spool([], [("x", 50)])
        yield from cell.instantiate_phase("two")
        return (yield from cell.wait())

    done = ChannelSession(LINE, PHASES).run(program)
    assert done.returned[2] == [list(range(50))]
    assert done.phases[1][1] == 528 + 49 * 2 + 10 + 528


def long_message(cell):
    """A message that fills all channels of its way while phases change, and words of a connection meanwhile."""
    yield from cell.instantiate_phase("one")
    if cell.number == 2:
        yield from cell.msg_send(0, range(60))
    yield from cell.instantiate_phase("two")
    if cell.number == 0:
        first = yield from cell.msg_receive()
    yield from cell.instantiate_phase("one")
    if cell.number == 0:
        yield from cell.send_elements("x", range(9))
        return first
    if cell.number == 2:
        return (yield from cell.receive_elements("x", 9))


@pytest.mark.parametrize("engine", [NaiveFabric, lambda machine: CompiledFabric(machine, 1, 4)], ids=["naive", "fast"])
def test_messages_stand_still_while_the_agents_sleep_and_go_on_afterwards(engine):
    fabric, moved = engine(LINE), []
    advance = fabric.advance

    def watched(clock, until):
        went = advance(clock, until)
        moved.append((clock, went.clock))
        return went

    fabric.advance = watched
    done = ChannelSession(LINE, PHASES, fabric=fabric).run(long_message)
    assert done.returned == [(2, list(range(60))), None, list(range(9))]
    assert all(end <= one.asleep or begin >= one.awake for begin, end in moved for one in done.switches)
    assert len(done.switches) == 3
    for switch, (name, ready) in zip(done.switches, done.phases, strict=True):
        assert (switch.phase, switch.awake) == (name, ready)
        names, clocks = zip(*switch.steps, strict=True)
        assert len(names) == 7
        assert list(clocks) == sorted(clocks)
        assert (switch.asleep - switch.begun, switch.awake - switch.asleep) == (352, 176)
    assert done == ChannelSession(LINE, PHASES, messages=1).run(long_message)


class Overwriting(CompiledFabric):
    """Seeded fault: new connections are written while words of the old ones, or messages, are in channels, and all are lost."""

    def in_flight(self):
        return {}

    def connect(self, flows):
        self._messages, kept = 0, getattr(self, "_messages", 0)
        super().connect(flows)
        self._messages = kept


def test_a_switch_that_forgets_messages_is_caught():
    with pytest.raises(PointsmanError, match=r"cells wait for each other for ever|were sent and not received"):
        ChannelSession(LINE, PHASES, fabric=Overwriting(LINE, 1, 4)).run(long_message)


class Hasty(ChannelSession):
    """Seeded fault: a switch does not wait for spools."""

    def _switch(self, cells):
        for cell in cells:
            cell.flows = lambda: iter(())
        return super()._switch(cells)


def test_a_switch_that_does_not_wait_for_spools_is_caught():
    def program(cell):
        yield from cell.instantiate_phase("one")
        if cell.number == 0:
            yield from cell.spool([("x", range(500))])
        if cell.number == 2:
            yield from cell.spool([], [("x", 500)])
        yield from cell.instantiate_phase("two")
        return (yield from cell.wait())

    with pytest.raises(PointsmanError, match="phase 'two' cannot begin: connection 'x' still has"):
        Hasty(LINE, PHASES).run(program)


def test_messages_beyond_those_that_were_announced_are_refused():
    def program(cell):
        for _ in range(2):
            if cell.number == 0:
                yield from cell.msg_send(1, [1])
        yield from cell.compute(1)

    with pytest.raises(PointsmanError, match="more than 1 messages are sent"):
        ChannelSession(LINE, {}, messages=1).run(program)


def test_messages_cost_400_clocks_at_either_side():
    def program(cell):
        if cell.number == 0:
            yield from cell.msg_send(2, [7, 8])
        if cell.number == 2:
            return (yield from cell.msg_receive())

    done = ChannelSession(LINE, {}, messages=1).run(program)
    # 400, the header over two links (there in clock 11), 400, six words of which the last is taken 10 later.
    assert done.clocks == 400 + 12 + 400 + 10 + 1
    assert done.returned[2] == (0, [7, 8])


def test_messages_on_all_ways_round_a_torus_do_not_deadlock():
    nodes = 6

    def program(cell):
        for step in (1, 2, 3, 4, 5):
            yield from cell.msg_send((cell.number + step) % nodes, [cell.number] * 40)
        sources = []
        for _ in range(nodes - 1):
            source, _ = yield from cell.msg_receive()
            sources.append(source)
        return sorted(sources)

    done = ChannelSession(ChannelMachine(torus(nodes), buffer=1), {}, messages=30).run(program)
    assert done.returned == [[u for u in range(nodes) if u != v] for v in range(nodes)]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (lambda cell: (yield from cell.receive_element("x")), "cell 0 uses connection 'x', which is not active"),
        (lambda cell: (yield from cell.instantiate_phase("no")), "there is no phase 'no'"),
        (
            lambda cell: (yield from cell.instantiate_phase(("one", "two")[cell.number % 2])),
            "cells ask for different phases: 'one', 'two'",
        ),
        (
            lambda cell: (yield from cell.msg_receive()),
            "cells wait for each other for ever: cell 0 for a message, 3 in all",
        ),
        (lambda cell: (yield from cell.msg_send(cell.number, [])), "cell 0 sends a message to itself"),
    ],
)
def test_wrong_programs_are_told(program, message):
    with pytest.raises(PointsmanError, match=message):
        ChannelSession(LINE, PHASES).run(program)


def test_a_connection_belongs_to_its_ends():
    def program(cell):
        yield from cell.instantiate_phase("one")
        if cell.number == 1:
            yield from cell.send_element("x", 1)

    with pytest.raises(PointsmanError, match="cell 1 sends on connection 'x', whose end it is not"):
        ChannelSession(LINE, PHASES).run(program)


def test_phases_that_need_too_many_channels_are_refused():
    with pytest.raises(PointsmanError, match="phase 'a' needs 2 logical channels at cell 0, which has 1"):
        ChannelSession(ChannelMachine(mesh(2), channels=1), {"a": {0: (0, 1), 1: (1, 0)}})
