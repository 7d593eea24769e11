"""Single messages through the model's cycle, and time in which nothing happens."""

from __future__ import annotations

import numpy as np

from cosim.packet.session import PacketMachine
from packet_router.header import pack_header
from packet_router.node import LAST
from packet_router.shape import RouterShape
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait


def test_a_hop_takes_four_cycles():
    shape = RouterShape(size=(4,))
    for hops in range(4):
        from_0 = np.array([pack_header(shape, hops, 1)], np.uint32)
        into = np.zeros(1, np.uint32)

        def send(words=from_0):
            yield Transfer(Lane(True, LAST, 1, words))

        def read(words=into):
            yield Transfer(Lane(False, 1, 1, words))

        def both(words=from_0, room=into):
            yield Transfer([Lane(True, LAST, 1, words), Lane(False, 1, 1, room)])

        programs = [send()] + [None] * (hops - 1) + [read()] if hops else [both()]
        programs += [None] * (4 - len(programs))
        with PacketMachine(shape, engine="model", progress=False) as machine:
            record = machine.run(programs)
        assert into[0] == from_0[0]
        assert record.total_cycles == 6 + 4 * hops


def test_a_million_cycles_without_words_cost_nothing():
    shape = RouterShape(size=(8, 8))

    def program(node: int):
        if node:
            into = np.zeros(1, np.uint32)
            yield Transfer(Lane(False, 1, 1, into))
            return int(into[0])
        yield Wait(10_000_000, Category.CPU)
        for other in range(1, 64):
            yield Transfer(Lane(True, LAST, 1, np.array([pack_header(shape, other, 1)], np.uint32)))
        return 0

    with PacketMachine(shape, engine="model", progress=False) as machine:
        record = machine.run([program(node) for node in range(64)])
    assert record.results[1:] == [pack_header(shape, node, 1) for node in range(1, 64)]
    assert (record.cycles[1:, Category.READ] > 10_000_000).all()
    assert record.wall_seconds < 60
