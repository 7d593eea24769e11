"""Wormhole and circuit switching: times that can be counted by hand."""

from __future__ import annotations

import random

import pytest

from cosim.tdm.baselines import circuit, wormhole
from cosim.tdm.traffic import traffic_of


def test_a_single_message_takes_what_its_parts_take():
    one = traffic_of([[(1, 16)], []])  # 128 bytes
    assert wormhole(one) == 10 + 80 + (80 + 15 * 10) + 10 + 80 + 10
    assert circuit(one) == 10 + 80 + 80 + 80 + 16 * 10 + 100 + 10


def test_the_second_worm_of_a_message_waits_at_the_switch_and_not_on_the_cable():
    assert wormhole(traffic_of([[(1, 32)], []])) == 10 + 80 + 2 * (80 + 150) + 10 + 80 + 10


def test_an_output_serves_its_inputs_by_turns():
    traffic = traffic_of([[(2, 16), (2, 16)], [(2, 16), (2, 16)], []])
    assert wormhole(traffic) == 10 + 80 + 4 * 230 + 10 + 80 + 10


def test_circuits_to_different_outputs_do_not_wait_for_each_other():
    alone = circuit(traffic_of([[(1, 8)], []]))
    assert circuit(traffic_of([[(1, 8)], [(0, 8)]])) == alone
    assert circuit(traffic_of([[(1, 8), (1, 8)], []])) == alone + 3 * 80 + 8 * 10


@pytest.mark.parametrize("switching", [wormhole, circuit])
def test_nothing_is_faster_than_its_busiest_link(switching):
    chance = random.Random(1)
    for _ in range(50):
        ports = chance.randint(1, 6)
        traffic = traffic_of(
            [
                [(chance.randrange(ports), chance.randint(1, 40)) for _ in range(chance.randint(0, 8))]
                for _ in range(ports)
            ]
        )
        assert switching(traffic) >= 10 * traffic.least_cycles
    assert switching(traffic_of([[], []])) == 0
