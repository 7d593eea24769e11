"""One NuMesh node: the stages of all pipelines, the interface registers, the links."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from .annotation import AnnotationStage
from .full_bits import Kept
from .interface import InterfaceRegisters, processor_members
from .memadr import CommandAssembler
from .memories import NodeMemories
from .schedule import ScheduleStage
from .shape import NodeShape
from .transfer import TransferStages


def node_members(shape: NodeShape) -> dict[str, wiring.Member]:
    """Ports of a node by name, in the order of its Verilog module (which adds ``clk`` and ``rst``)."""
    links: dict[str, wiring.Member] = {}
    for d in range(shape.neighbours):
        links |= {
            f"in_valid_{d}": In(1),
            f"in_data_{d}": In(shape.width),
            f"in_accept_{d}": Out(1),
            f"out_valid_{d}": Out(1),
            f"out_data_{d}": Out(shape.width),
            f"out_accept_{d}": In(1),
        }
    return links | processor_members(shape)


class Node(wiring.Component):
    """A scheduled router with its processor interface (Metcalf 1997, §7.1.1, Figures 7-1 and 7-2).

    Latency: a schedule address used in one cycle chooses VFSMs that read words seven cycles later and write them
    eight cycles later. A word crosses the node in one cycle.

    Parameters
    ----------
    shape : NodeShape
        Sizes of the node.
    memories : NodeMemories, optional
        What the memories hold at power-up; by default the loader phase.
    full_bits : {"memory", "flip-flops"}
        Where the full bits of buffers are kept: flip-flops for FPGAs without small memories with asynchronous reads.

    Ports
    -----
    in_valid_<d> : Signal(1), in
        The neighbour at link d offers ``in_data_<d>``.
    in_data_<d> : Signal(width), in
        Valid with ``in_valid_<d>``.
    in_accept_<d> : Signal(1), out
        A word offered in this cycle is taken at its end. Does not depend on ``in_valid_<d>``.
    out_valid_<d> : Signal(1), out
        This node offers ``out_data_<d>``. Does not depend on ``out_accept_<d>``.
    out_data_<d> : Signal(width), out
        Valid with ``out_valid_<d>``.
    out_accept_<d> : Signal(1), in
        The neighbour takes a word offered in this cycle.
    p_address, p_write, p_read, p_write_data, p_full, p_read_data
        Processor port, as in ``interface.InterfaceRegisters``.
    """

    def __init__(self, *, shape: NodeShape, memories: NodeMemories | None = None, full_bits: Kept = "memory") -> None:
        if memories is None:
            memories = NodeMemories.at_reset(shape)
        memories.check(shape)
        self.shape = shape
        self.memories = memories
        super().__init__(node_members(shape))
        self.schedule = ScheduleStage(shape=shape, contents=memories.schedule)
        self.annotations = [AnnotationStage(shape=shape, contents=words) for words in memories.annotations]
        self.transfers = [TransferStages(shape=shape, full_bits=full_bits) for _ in range(shape.pipelines)]
        self.commands = [CommandAssembler(shape=shape, pipeline=p) for p in range(shape.pipelines)]
        self.interface = InterfaceRegisters(shape=shape)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.schedule = schedule = self.schedule
        m.submodules.interface = interface = self.interface
        for p in range(self.shape.pipelines):
            m.submodules[f"annotation_{p}"] = annotation = self.annotations[p]
            m.submodules[f"transfer_{p}"] = transfer = self.transfers[p]
            m.submodules[f"command_{p}"] = command = self.commands[p]
            m.d.comb += [
                annotation.running.eq(schedule.running),
                annotation.vfsm.eq(schedule.entry[f"vfsm{p}"]),
                transfer.active.eq(annotation.active),
                transfer.vfsm.eq(annotation.decode_vfsm),
                transfer.annotation.eq(annotation.annotation),
                command.valid.eq(transfer.memadr),
                command.word.eq(transfer.out_data),
                annotation.w_enable.eq(command.w_annotation),
                annotation.w_vfsm.eq(command.vfsm),
                annotation.w_annotation.eq(command.annotation),
            ]
            connect(m, transfer.read, getattr(interface, f"read_{p}"))
            connect(m, transfer.write, getattr(interface, f"write_{p}"))
        first = self.commands[0]
        m.d.comb += [
            schedule.set_pointer.eq(first.set_pointer),
            schedule.add_pointer.eq(first.add_pointer),
            schedule.pointer.eq(first.pointer),
            schedule.second.eq(first.second),
            schedule.w_enable.eq(first.w_schedule),
            schedule.w_address.eq(first.address),
            schedule.w_entry.eq(first.entry),
        ]
        for name, member in processor_members(self.shape).items():
            inner, outer = getattr(interface, name), getattr(self, name)
            m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        self._meetings(m)
        for d in range(self.shape.neighbours):
            self._link(m, d)
        return m

    def _meetings(self, m: Module) -> None:
        """Of two pipelines that name one link, or one register to read from, in a slot the higher one is idle, whether or not the
        other gets a word. A second leg's source is no link."""
        for p, transfer in enumerate(self.transfers):
            meets = []
            for q, lower in enumerate(self.transfers[:p]):
                one, other = transfer.annotation, lower.annotation
                same_source = Signal(name=f"same_source_{q}_{p}", reset_less=True)
                same_destination = Signal(name=f"same_destination_{q}_{p}", reset_less=True)
                m.d.sync += [
                    same_source.eq(one.source == other.source),
                    same_destination.eq(one.destination == other.destination),
                ]
                one, other = transfer.next_decoded, lower.next_decoded
                meets += [
                    same_source & ((one.from_link & other.from_link) | one.from_register),
                    same_destination & one.to_link,
                ]
            m.d.comb += transfer.meets.eq(_any(meets))

    def _link(self, m: Module, d: int) -> None:
        """Share link ``d`` among the pipelines, which never meet there."""
        accepting: list[Value] = []
        valid: list[Value] = []
        for transfer in self.transfers:
            m.d.comb += [
                transfer.in_valid[d].eq(getattr(self, f"in_valid_{d}")),
                getattr(transfer, f"in_data_{d}").eq(getattr(self, f"in_data_{d}")),
                transfer.out_accept[d].eq(getattr(self, f"out_accept_{d}")),
            ]
            accepting.append(transfer.next_accept[d])
            valid.append(transfer.out_claim[d] & transfer.out_valid)
        m.d.sync += getattr(self, f"in_accept_{d}").eq(_any(accepting))
        m.d.comb += [
            getattr(self, f"out_valid_{d}").eq(_any(valid)),
            getattr(self, f"out_data_{d}").eq(self.transfers[-1].out_data),
        ]
        for transfer in self.transfers[:-1]:
            with m.If(transfer.out_claim[d]):
                m.d.comb += getattr(self, f"out_data_{d}").eq(transfer.out_data)


def _any(bits: list[Value]) -> Value:
    return Cat(*bits).any()
