"""The quick model of the switch against the RTL, and against the naive model of the whole switch, cycle by cycle."""

from __future__ import annotations

import random

import numpy as np
import pytest
from amaranth.sim import Simulator

from cosim.tdm.fast import Pace, Preload, State, run, until_of
from cosim.tdm.switch_model import SwitchModel
from cosim.tdm.traffic import traffic_of
from tdm_switch.codes import Command, Predictor, encode, encode_predictor
from tdm_switch.shape import SwitchShape
from tdm_switch.switch import Switch


def row_of(connections, ports):
    """Destination of every input."""
    row = np.full(ports, -1)
    for u, v in connections:
        row[u] = v
    return row


class Naive:
    """The naive model, driven like the hardware."""

    def __init__(self, shape):
        self.shape = shape
        self.model = SwitchModel(shape)
        names = ("address", "write", "read", "write_data")
        self.idle = {f"p_{name}_{i}": 0 for i in range(shape.ports) for name in names}

    def cycle(self, writes=()):
        inputs = dict(self.idle)
        for i, address, word in writes:
            inputs |= {f"p_address_{i}": address, f"p_write_{i}": 1, f"p_write_data_{i}": word}
        self.model.clock(inputs)

    def full(self, i):
        return self.model.nics[i].full

    @property
    def state(self):
        """For the quick model, at the beginning of a decision."""
        s, n = self.model.scheduler, self.shape.ports
        assert s.phase == 0
        scalars = {
            "tick": s.tick,
            "place": -1 if s.place is None else s.place,
            "phase": 0,
            "row": s.start[0],
            "column": s.start[1],
            "slot": s.units[0].slot,
            "opened": int(s.units[0].opened),
            "random": s.random,
        }
        matrices = [np.array([row_of(b, n) for b in part]) for part in (s.realised, s.preloaded)]
        return State(
            scalars, matrices[0], row_of(s.copy, n), np.array(s.dynamic), matrices[1], s.threshold, s.predictor
        )


def random_case(chance, ports, slots):
    """Set-up commands and traffic."""
    setup = [encode_predictor(chance.choice(list(Predictor)), chance.randint(1, 60))]
    for slot in range(chance.randint(0, slots - 1)):
        ends = chance.sample(range(ports), ports)
        setup += [encode(Command.STAGE, x=u, y=v) for u, v in enumerate(ends) if not u or chance.random() < 0.7]
        setup += [encode(Command.LOAD, x=slot), encode(Command.SLOT, x=slot, mode=chance.randint(0, 1))]
    programs = [
        [(chance.randrange(ports), chance.randint(1, 9)) for _ in range(chance.randint(0, 12))] for _ in range(ports)
    ]
    return setup, traffic_of(programs)


def random_shape(chance, ports, slots):
    slot_cycles = chance.randint(1, 12)
    return SwitchShape(
        ports=ports,
        slots=slots,
        buffer_depth=128,
        queue_depth=chance.choice([2, 4, 16]),
        slot_cycles=slot_cycles,
        guard_cycles=chance.randint(0, slot_cycles - 1),
        sl_cycles=chance.randint(1, 8),
        order=chance.choice(["plain", "wrapped"]),
        priority=chance.choice(["fixed", "round_robin", "random"]),
        reserve=chance.random() < 0.7,
    )


def words_of(traffic):
    """Destination of each word, for every processor."""
    return [
        np.repeat(
            traffic.destinations[traffic.first[u] : traffic.first[u + 1]],
            traffic.words[traffic.first[u] : traffic.first[u + 1]],
        ).tolist()
        for u in range(traffic.ports)
    ]


def set_up(naive, setup):
    """Carry out the commands; gives what processor 0 wrote in every cycle, from the first one after reset."""
    written = []
    command = 2 * naive.shape.ports
    for word in setup:
        while naive.full(0) >> command & 1:
            written.append(None)
            naive.cycle()
        written.append(word)
        naive.cycle([(0, command, word)])
    while naive.full(0) >> command & 1 or naive.model.scheduler.phase:
        written.append(None)
        naive.cycle()
    return written


@pytest.mark.parametrize("seed", range(30))
def test_grants_and_words_are_those_of_the_naive_model(seed):
    chance = random.Random(seed)
    ports, slots = chance.choice([1, 2, 3, 4, 5, 8]), chance.randint(1, 4)
    shape = random_shape(chance, ports, slots)
    setup, traffic = random_case(chance, ports, slots)
    on_the_naive_model(shape, setup, traffic, 600)


def test_a_diagonal_waits_for_those_alone_that_were_there_when_its_turn_came():
    """Eight ports with many messages each: whoever asks later on has no turn before the next round."""
    shape, setup, traffic = evaluated(8, "wrapped")
    on_the_naive_model(shape, setup, traffic, 150)


def on_the_naive_model(shape, setup, traffic, cycles):
    """Compare."""
    ports = shape.ports
    naive = Naive(shape)
    set_up(naive, setup)
    quick = run(shape, traffic, state=naive.state, trace=cycles, limit=cycles)
    words, at = words_of(traffic), [0] * ports
    for cycle in range(cycles if quick.cycles < 0 else min(cycles, quick.cycles)):
        writes = []
        for u in range(ports):
            if at[u] < len(words[u]) and not naive.full(u) >> words[u][at[u]] & 1:
                writes.append((u, words[u][at[u]], cycle))
                at[u] += 1
        grant = row_of(naive.model.scheduler.grant, ports)
        naive.cycle(writes)
        assert np.array_equal(grant, quick.grants[cycle]), f"grants of cycle {cycle}"
        assert np.array_equal(row_of(naive.model.moved, ports), quick.words[cycle]), f"words of cycle {cycle}"


def evaluated(ports, order):
    """Shape, commands and traffic: slots of 100 ns, decisions of 80 ns, cycles of 10 ns, as in ``benchmarks/tdm_switch.py``."""
    shape = SwitchShape(
        ports=ports, slots=4, width=64, buffer_depth=128, slot_cycles=10, guard_cycles=0, sl_cycles=8, order=order
    )
    chance = random.Random(ports)
    programs = [[(chance.randrange(ports), chance.choice([1, 4, 8, 16])) for _ in range(40)] for _ in range(ports)]
    setup = [encode_predictor(Predictor.TIMEOUT, 20)]
    setup += [encode(Command.STAGE, x=u, y=(u + 1) % ports) for u in range(ports)] + [encode(Command.LOAD, x=0)]
    return shape, setup, traffic_of(programs)


def on_the_rtl(shape, setup, traffic, cycles):
    """Compare; gives how many words went through."""
    ports = shape.ports
    naive = Naive(shape)
    written = set_up(naive, setup)
    quick = run(shape, traffic, state=naive.state, trace=cycles, limit=cycles)
    dut = Switch(shape=shape)
    words, counted = words_of(traffic), [0]

    async def bench(ctx):
        for word in written:
            ctx.set(dut.p_write_0, int(word is not None))
            ctx.set(dut.p_address_0, 2 * ports)
            ctx.set(dut.p_write_data_0, word or 0)
            await ctx.tick()
        ctx.set(dut.p_write_0, 0)
        at = [0] * ports
        for cycle in range(cycles if quick.cycles < 0 else min(cycles, quick.cycles)):
            for u in range(ports):
                free = at[u] < len(words[u]) and not ctx.get(getattr(dut, f"p_full_{u}")) >> words[u][at[u]] & 1
                ctx.set(getattr(dut, f"p_write_{u}"), int(free))
                if free:
                    ctx.set(getattr(dut, f"p_address_{u}"), words[u][at[u]])
                    ctx.set(getattr(dut, f"p_write_data_{u}"), at[u])
                    at[u] += 1
            grant = ctx.get(dut.scheduler.grant)
            expected = sum(1 << (u * ports + int(v)) for u, v in enumerate(quick.grants[cycle]) if v >= 0)
            assert grant == expected, f"grants of cycle {cycle}"
            await ctx.tick()
            fabric = ctx.get(dut.scheduler.fabric)
            for u in range(ports):
                sent = ctx.get(dut.nics[u].out_valid)
                v = int(quick.words[cycle, u])
                assert bool(sent) == (v >= 0), f"words of cycle {cycle}, processor {u}"
                assert not sent or fabric >> (u * ports + v) & 1
                counted[0] += sent

    simulator = Simulator(dut)
    simulator.add_clock(1e-8)
    simulator.add_testbench(bench)
    simulator.run()
    return counted[0]


@pytest.mark.parametrize(("ports", "seed", "cycles"), [(4, 1, 250), pytest.param(8, 2, 150, marks=pytest.mark.slow)])
def test_grants_and_words_are_those_of_the_rtl(ports, seed, cycles):
    chance = random.Random(seed)
    shape = random_shape(chance, ports, 3)
    setup, traffic = random_case(chance, ports, 3)
    assert on_the_rtl(shape, setup, traffic, cycles) > 30


@pytest.mark.slow
@pytest.mark.parametrize("order", ["plain", "wrapped"])
@pytest.mark.parametrize(("ports", "cycles"), [(8, 300), (16, 120)])
def test_the_evaluation_s_shape_is_that_of_the_rtl(ports, cycles, order):
    assert on_the_rtl(*evaluated(ports, order), cycles) > cycles


def test_registers_go_on_to_the_next_configuration_when_their_messages_are_sent():
    ports, words = 4, 6
    turns = tuple(tuple((u + step) % ports for u in range(ports)) for step in range(1, ports))
    programs = [[((u + step) % ports, words) for step in range(1, ports)] for u in range(ports)]
    shape = SwitchShape(ports=ports, slots=2, slot_cycles=3, guard_cycles=0, queue_depth=16)
    preload = Preload(turns, 1, until_of(turns, [[words] * ports] * len(turns)), 0)
    quick = run(shape, traffic_of(programs), preload=preload, trace=200, pace=Pace(words))
    assert quick.sent.tolist() == [[0 if u == v else words for v in range(ports)] for u in range(ports)]
    assert quick.cycles <= 3 * words + 3 * 6  # no slot but the last of each is left unused
    one = run(shape, traffic_of(programs), pace=Pace(words))
    assert np.array_equal(one.sent, quick.sent)
    assert one.cycles > quick.cycles


def test_what_cannot_be_sent_in_time_is_told():
    shape = SwitchShape(ports=2, slots=1)
    assert run(shape, traffic_of([[(1, 100)], []]), limit=20).cycles == -1
    with pytest.raises(ValueError, match="the quick model has one scheduling unit, not 2"):
        run(SwitchShape(ports=2, slots=2, sl_units=2), traffic_of([[], []]))
