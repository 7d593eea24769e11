"""Compiled communication on the clock of the other modes."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.optical.compiled import Registers, run_compiled
from pointsman.optical.fabric import fabric
from pointsman.optical.outcome import NEVER
from pointsman.optical.traffic import listed, uniform


def test_neighbours_take_a_slot_for_each_packet():
    net = fabric(torus(8, 8))
    pairs = listed([(0, u, v, 64) for u in range(64) for v in (u - 1, u + 1) if 0 <= v < 64], 64)
    found = run_compiled(net, pairs, Registers())
    assert found.counts == {"degree": 2, "loads": 1}
    assert found.slots == 128  # printed 131 (Table 6.2); where the three more come from is not said


def test_a_message_goes_in_its_slot_of_every_frame():
    net = fabric(mesh(3))
    found = run_compiled(net, listed([(0, 0, 1, 2), (0, 0, 2, 1), (7, 0, 1, 1)], 3), Registers())
    assert found.counts["degree"] == 2
    assert sorted(found.started[:2].tolist()) == [0, 1]
    assert found.done[0] == found.started[0] + 3
    assert found.started[2] in (7, 8)
    assert found.established.tolist() == [0, 0, 7]


def test_more_registers_than_configurations_are_as_good_as_enough():
    net = fabric(mesh(3))
    messages = listed([(0, 0, 1, 2), (0, 0, 2, 1), (7, 0, 1, 1)], 3)
    enough = run_compiled(net, messages, Registers())
    for registers in (2, 2**62, 10**30):
        found = run_compiled(net, messages, Registers(registers))
        assert found.done.tolist() == enough.done.tolist()


@pytest.mark.parametrize("number", range(20))
def test_slots_are_not_used_twice_and_messages_go_in_order(number):
    """Every packet's slot is worked out again from the start and the frame; groups only where a turn is whole."""
    chance = random.Random(number)
    net = fabric(chance.choice([torus(4, 4), mesh(3, 2), graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])]))
    traffic = uniform(net.nodes, 0.05, chance.randint(1, 4), 60, number)
    registers = Registers(chance.choice([None, 1, 2, 5]), chance.choice([0, 7]), chance.random() < 0.5)
    found = run_compiled(net, traffic, registers)
    assert found.delivered.all()
    assert (found.started >= traffic.ready).all()
    senders: dict[tuple[str, int, int], int] = {}
    for message in range(len(traffic)):
        for port in (("from", int(traffic.source[message])), ("to", int(traffic.destination[message]))):
            for slot in {int(found.started[message]), int(found.done[message]) - 1}:
                assert senders.setdefault((*port, slot), message) == message
    of_pair: dict[tuple[int, int], int] = {}
    for message in np.argsort(traffic.ready, kind="stable").tolist():
        pair = (int(traffic.source[message]), int(traffic.destination[message]))
        assert found.started[message] >= of_pair.get(pair, 0)
        of_pair[pair] = int(found.done[message])


def test_groups_of_registers_take_turns_and_loading_costs_unless_it_overlaps():
    net = fabric(torus(8))
    pairs = listed([(0, 0, v, 10) for v in range(1, 8)], 8)
    whole = run_compiled(net, pairs, Registers())
    by_one = run_compiled(net, pairs, Registers(1, 5))
    beside = run_compiled(net, pairs, Registers(1, 5, True))
    assert (whole.slots, by_one.slots, beside.slots) == (70, 70 + 7 * 5, 70 + 5)
    assert by_one.counts["loads"] == 7


def test_a_run_may_end_before_everything_is_sent_and_may_have_nothing_to_send():
    net = fabric(mesh(2))
    cut = run_compiled(net, listed([(0, 0, 1, 10), (50, 1, 0, 1)], 2), Registers(), slots=5)
    assert cut.done.tolist() == [NEVER, NEVER]
    assert cut.started.tolist() == [0, NEVER]
    assert run_compiled(net, listed([], 2), Registers(), slots=9).slots == 9


@pytest.mark.parametrize(
    ("wrong", "message"), [({"registers": 0}, "at least 1, not 0"), ({"load_slots": -1}, "not -1")]
)
def test_wrong_registers_are_refused(wrong, message):
    with pytest.raises(PointsmanError, match=message):
        Registers(**wrong)
