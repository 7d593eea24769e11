"""The compiled fabric against the naive one, word by word: equal clocks, equal values."""

from __future__ import annotations

import numpy as np
import pytest

from cosim.iwarp.fabric import RECEIVING, SENDING, CompiledFabric, Flow
from cosim.iwarp.machine import ChannelMachine
from cosim.iwarp.naive import NaiveFabric
from cosim.iwarp.session import ChannelSession
from pointsman.artifacts.channels.channels import ChannelCosts
from pointsman.connections.channels.messages import message_route
from pointsman.network import Topology, mesh, torus

NETWORKS = [torus(2), torus(5), mesh(1, 4), torus(3, 3), mesh(3, 2), torus(4, 3)]


def random_machine(topology: Topology, random: np.random.Generator) -> ChannelMachine:
    costs = ChannelCosts(
        word=int(random.integers(1, 4)),
        access=int(random.choice([1, 2, 7])),
        synchronize=int(random.integers(0, 9)),
        initialize=int(random.integers(0, 5)),
        message=int(random.integers(0, 30)),
        hop=int(random.integers(1, 6)),
    )
    sizes = {"buffer": int(random.integers(1, 6)), "pool_channels": int(random.integers(1, 3))}
    return ChannelMachine(topology, channels=1000, costs=costs, **sizes)


def random_case(seed: int, topology: Topology):
    """A machine, phases, and a program that uses them and sends messages, some of which are under way while phases change, with
    random pauses."""
    random = np.random.default_rng([seed, topology.nodes])
    machine = random_machine(topology, random)
    phases, words = {}, {}
    for p in range(int(random.integers(0, 3))):
        phases[str(p)] = {}
        for c in range(int(random.integers(1, 9))):
            u, v = random.choice(topology.nodes, 2, replace=False).tolist()
            hops = message_route(topology, u, v)
            phases[str(p)][p, c] = (u, *(node for _, node, _ in hops))
            words[p, c] = int(random.integers(1, 40))
    messages = [
        (*random.choice(topology.nodes, 2, replace=False).tolist(), int(random.integers(0, 30))) for _ in range(12)
    ]
    if (
        machine.buffer >= 4
    ):  # header and trailer have room where they begin, so nobody need receive before phases change
        messages[:6] = [(u, v, 0) for u, v, _ in messages[:6]]
        early = int(random.integers(0, 7))
    else:
        messages, early = messages[6:], 0
    soon = len(messages) - 6
    pauses = random.integers(0, 60, (topology.nodes, 4)).tolist()

    def program(cell):
        got = []
        for number, (u, v, size) in enumerate(messages[:soon]):
            if u == cell.number:
                yield from cell.msg_send(v, [number] * size)
        if early:
            for _ in range(sum(v == cell.number for _, v, _ in messages[:early])):
                got.append((yield from cell.msg_receive()))
        for p, connections in phases.items():
            yield from cell.instantiate_phase(p)
            yield from cell.compute(pauses[cell.number][int(p)])
            sends = [
                (c, [(c, k) for k in range(words[c])]) for c, path in connections.items() if path[0] == cell.number
            ]
            receives = [(c, words[c]) for c, path in connections.items() if path[-1] == cell.number]
            if pauses[cell.number][3] % 2:
                yield from cell.spool(sends, receives)
                yield from cell.compute(3)
                got.append((yield from cell.wait()))
            else:
                got.append((yield from cell.exchange(sends, receives)))
        for number, (u, v, size) in enumerate(messages[soon:], soon):
            if u == cell.number:
                yield from cell.msg_send(v, [number] * size)
        yield from cell.compute(pauses[cell.number][2])
        for _ in range(sum(v == cell.number for _, v, _ in messages[early:])):
            got.append((yield from cell.msg_receive()))
        return got

    return machine, phases, program


@pytest.mark.parametrize("topology", NETWORKS, ids=lambda one: f"{one.kind} {one}")
def test_both_take_the_same_clocks_and_deliver_the_same_words(topology):
    for seed in (*range(6), 103, 106, 114, 120, 123, 127):
        machine, phases, program = random_case(seed, topology)
        naive = ChannelSession(machine, phases, fabric=NaiveFabric(machine)).run(program)
        fast = ChannelSession(machine, phases, messages=12).run(program)
        assert naive == fast


def test_a_word_takes_its_hops_and_a_link_its_turns():
    # Put in clock 0, on the link in 1, 5 at node 1, 9 at node 2, where it is taken: 10 clocks are over.
    fabric = CompiledFabric(ChannelMachine(mesh(3)))
    fabric.connect([Flow((0, 1, 2))])
    fabric.begin(0, SENDING, 0, 1, 2, 0)
    fabric.begin(2, RECEIVING, 0, 1, 2, 0)
    assert fabric.advance(0, 100).clock == 1
    went = fabric.advance(1, 100)
    assert (went.clock, went.done) == (10, [(2, RECEIVING)])
    assert fabric.in_flight() == {}


def test_connections_of_a_link_get_equal_shares():
    machine = ChannelMachine(mesh(4))
    fabric = CompiledFabric(machine)
    fabric.connect([Flow((0, 1, 2)), Flow((1, 2)), Flow((1, 2, 3))])
    for cell, flow in ((0, 0),):
        fabric.begin(cell, SENDING, flow, 1000, 2, 0)
    fabric.begin(1, SENDING, 1, 1000, 2, 0)
    fabric.begin(2, RECEIVING, 0, 1000, 2, 0)
    fabric.begin(3, RECEIVING, 2, 1000, 2, 0)
    assert fabric.advance(0, 500).done == []
    # Flow 1 has no receiver: its channel of 8 words is full, and flow 0 has the link for itself.
    assert fabric.in_flight()[1] == 2 * machine.buffer


def test_nothing_moves_any_more_where_nobody_receives():
    for fabric in (CompiledFabric(ChannelMachine(mesh(2))), NaiveFabric(ChannelMachine(mesh(2)))):
        fabric.connect([Flow((0, 1))])
        fabric.begin(0, SENDING, 0, 100, 2, 0)
        assert fabric.advance(0, 10_000).stuck
        assert fabric.in_flight() == {0: 16}
