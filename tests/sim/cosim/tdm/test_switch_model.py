"""The model of the whole switch, word by word."""

from __future__ import annotations

from collections import deque
from random import Random

import pytest

from cosim.tdm.switch_model import NicModel, SwitchModel
from tdm_switch.codes import Registers
from tdm_switch.shape import SwitchShape

SHAPE = SwitchShape(ports=3, slots=2, queue_depth=2, buffer_depth=4)
AT = Registers(SHAPE)
IDLE = {f"p_{name}_{i}": 0 for i in range(3) for name in ("address", "write", "read", "write_data")}


def test_a_queue_takes_words_until_it_is_full_and_says_so() -> None:
    nic = NicModel(SHAPE)
    for word in range(4):
        nic.access(AT.queue(1), 1, 0, word)
    assert list(nic.queues[1]) == [0, 1]
    assert nic.full >> AT.queue(1) & 1
    assert nic.full >> AT.unsent & 1
    assert not nic.full >> AT.queue(0) & 1


def test_reading_takes_words_in_order_and_an_empty_register_keeps_the_last() -> None:
    nic = NicModel(SHAPE)
    nic.buffers[2] = deque([7, 8])
    seen = []
    for _ in range(3):
        nic.access(AT.buffer(2), 0, 1, 0)
        seen.append(nic.read_data)
    assert seen == [7, 8, 8]
    assert nic.full == 0


def test_a_second_command_is_not_taken_before_the_first_is_done() -> None:
    nic = NicModel(SHAPE)
    nic.access(AT.command, 1, 0, 0x1234567)
    nic.access(AT.command, 1, 0, 9)
    assert nic.command == 0x234567, "commands have 24 bits"


@pytest.mark.parametrize("seed", range(4))
def test_every_word_comes_once_in_order_to_whom_it_was_sent(seed: int) -> None:
    random, model = Random(seed), SwitchModel(SHAPE)
    left = {(u, v): deque(range(100 * u + 10 * v, 100 * u + 10 * v + 6)) for u in range(3) for v in range(3)}
    wanted = {pair: list(words) for pair, words in left.items()}
    got: dict[tuple[int, int], list[int]] = {pair: [] for pair in left}
    for _ in range(3000):
        inputs, reads = dict(IDLE), {}
        for i, nic in enumerate(model.nics):
            sources = [u for u in range(3) if nic.full >> AT.buffer(u) & 1]
            sends = [v for v in range(3) if left[i, v] and not nic.full >> AT.queue(v) & 1]
            if sources and random.random() < 0.5:
                reads[i] = random.choice(sources)
                inputs |= {f"p_read_{i}": 1, f"p_address_{i}": AT.buffer(reads[i])}
            elif sends:
                v = random.choice(sends)
                inputs |= {f"p_write_{i}": 1, f"p_address_{i}": v, f"p_write_data_{i}": left[i, v].popleft()}
        model.clock(inputs)
        assert len({u for u, _ in model.moved}) == len({v for _, v in model.moved}) == len(model.moved)
        for i, u in reads.items():
            got[u, i].append(model.nics[i].read_data)
        if got == wanted:
            break
    assert got == wanted
    assert all(nic.full == 0 for nic in model.nics)


def test_a_withdrawn_request_is_not_seen_and_reset_forgets_all() -> None:
    model = SwitchModel(SHAPE)
    model.withdrawn = {(0, 1)}
    model.clock(IDLE | {"p_write_0": 1, "p_address_0": 1, "p_write_data_0": 5})
    for _ in range(100):
        model.clock(IDLE)
    assert list(model.nics[0].queues[1]) == [5]
    model.clock(IDLE | {"rst": 1})
    assert not any(model.nics[0].queues)
