"""A traffic generator and sink in place of a processor, which sends a word and takes a word in every cycle.

The routers are then not limited by a processor port's rate. `run_traffic` runs it on the RTL; the cycle model
(`cosim.packet.model`) does the same.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cosim.hardware import Hardware
from cosim.machine import HardwareMachine
from emission import component_verilog
from packet_router.header import ADDRESS
from packet_router.node import Station
from packet_router.route import bits_for
from packet_router.router import link_members
from packet_router.shape import RouterShape
from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Lane, Transfer

from .hardware import network_hardware
from .model import Delivery, Traffic

MODULE = "packet_traffic"
_SETTINGS = 4  # header, words of a packet, packets, words to expect
_ANSWERS = 3  # cycle of the last word, words, their sum


class TrafficStation(wiring.Component):
    """A station with a traffic generator and sink.

    Four words written to register 0 start it: the header (its address is filled in), words of a packet, packets to send,
    words to expect. When all expected words have come, three words can be read: the cycle of the last word, counted from
    the first cycle of sending, the number of words that came, and their sum.

    Ports
    -----
    here, in_…_<d>, out_…_<d> : as in `packet_router.router.Router`
    p_… : processor port with one register
    """

    def __init__(self, *, shape: RouterShape) -> None:
        self.shape = shape
        super().__init__(
            {
                "here": In(shape.here_bits),
                **link_members(shape),
                "p_address": In(1),
                "p_write": In(1),
                "p_read": In(1),
                "p_write_data": In(shape.width),
                "p_write_full": Out(1),
                "p_read_full": Out(1),
                "p_read_data": Out(shape.width),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        m.submodules.station = station = Station(shape=shape)
        m.d.comb += station.here.eq(self.here)
        for name, member in link_members(shape).items():
            inner, outer = getattr(station, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)

        settings = [Signal(32, name=f"setting_{k}") for k in range(_SETTINGS)]
        header, length, packets, expected = settings
        given = Signal(range(_SETTINGS + 1))
        going = Signal()
        m.d.comb += [going.eq(given == _SETTINGS), self.p_write_full.eq(going)]
        with m.If(self.p_write & ~going):
            m.d.sync += [settings[-1].eq(self.p_write_data), given.eq(given + 1)]
            m.d.sync += [settings[k].eq(settings[k + 1]) for k in range(_SETTINGS - 1)]
        time = Signal(32)
        with m.If(going):
            m.d.sync += time.eq(time + 1)

        # Out.
        packet, word, count = Signal(32), Signal(32), Signal(32)
        address = Signal(bits_for(shape.addresses), init=1)
        ends = word == length - 1
        m.d.comb += [
            station.send.eq(going & (packet != packets)),
            station.send_last.eq(ends),
            station.send_data.eq(Mux(word == 0, header | (address << ADDRESS), count)),
        ]
        with m.If(station.send & station.send_ready):
            m.d.sync += [count.eq(count + 1), word.eq(Mux(ends, 0, word + 1))]
            with m.If(ends):
                m.d.sync += [
                    packet.eq(packet + 1),
                    address.eq(Mux(address == shape.addresses - 1, 1, address + 1)),
                ]

        # In: the lowest address that has a word.
        for a in reversed(range(1, shape.addresses)):
            with m.If(station.full[a]):
                m.d.comb += station.take_address.eq(a)
        m.d.comb += station.take.eq(station.full.any())
        comes = Signal()
        words, total, last = Signal(32), Signal(32), Signal(32, init=-1)
        m.d.sync += comes.eq(station.take)
        with m.If(station.take):
            m.d.sync += [words.eq(words + 1), last.eq(time)]
        with m.If(comes):
            m.d.sync += total.eq(total + station.take_data)

        # Answers, when all has come and gone.
        done = going & (words >= expected) & (packet == packets) & ~comes
        asked = Signal(range(_ANSWERS + 1))
        m.d.comb += self.p_read_full.eq(done & (asked != _ANSWERS))
        answers = [last, words, total]
        with m.If(self.p_read):
            m.d.sync += asked.eq(asked + 1)
            for k, answer in enumerate(answers):
                with m.If(asked == k):
                    m.d.sync += self.p_read_data.eq(answer)
        return m


def traffic_hardware(shape: RouterShape) -> Hardware:
    """All nodes of a packet network, with makers of traffic in place of processors."""
    return network_hardware(shape, MODULE, component_verilog(TrafficStation(shape=shape), MODULE), 1)


def run_traffic(shape: RouterShape, traffic: Traffic) -> Delivery:
    """Run the traffic on the RTL, compiled by Verilator.

    Raises
    ------
    PointsmanError
        If the traffic does not fit, words were lost, or there is no compiler.
    """
    traffic.check(shape)
    with HardwareMachine(traffic_hardware(shape)) as machine:
        record = machine.run([_program(shape, traffic, node) for node in range(shape.nodes)])
    answers = np.array(record.results, dtype=np.int64)
    last = np.where(answers[:, 1] > 0, answers[:, 0], -1)
    delivery = Delivery(last, answers[:, 1], answers[:, 2])
    for node in range(shape.nodes):
        if delivery.sums[node] != traffic.checksum(shape, node):
            raise PointsmanError(f"node {node} received other words than were sent to it")
    return delivery


def _program(shape: RouterShape, traffic: Traffic, node: int) -> Generator[Any, None, tuple[int, ...]]:
    silent = traffic.ends[node] == node
    settings = (
        traffic.header(shape, node),
        traffic.words,
        0 if silent else traffic.packets,
        0 if silent else traffic.words * traffic.packets,
    )
    answers = np.zeros(_ANSWERS, np.uint64)
    yield Transfer([Lane(True, 0, _SETTINGS, np.array(settings, np.uint64))])
    yield Transfer([Lane(False, 0, _ANSWERS, answers)])
    return tuple(int(answer) for answer in answers)
