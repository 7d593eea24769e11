"""The rules of a legal schedule, as far as one node can keep them, watched while the node runs."""

from __future__ import annotations

from amaranth.hdl import Signal, Value

from numesh.codes import FIRST_FREE_VFSM

from .view import NodeView


class Rules:
    """Says whether the schedule has kept the rules since reset.

    Rules, with the numbers of the feature list (Metcalf 1997, §7.1.1): NUM-06, a VFSM that reads the interface does not
    follow one that writes it; NUM-07, no VFSM runs twice in succession, but 0 and 1; NUM-09, no VFSM writes to the
    buffer of the one that follows; NUM-10, the second leg of a fork follows the first and names the neighbour that the
    first writes to.

    Attributes
    ----------
    kept : Value
        All of them, in every pipeline and in every cycle.
    """

    def __init__(self, view: NodeView) -> None:
        m, codes, shape = view._m, view.codes, view.shape
        broken: Value = Value.cast(0)
        for pipe in view.pipelines:
            said = pipe.annotation
            ran = Signal(name=f"ran_{pipe.number}")
            vfsm = Signal(codes.vfsm_bits, name=f"ran_vfsm_{pipe.number}")
            destination = Signal(codes.place_bits, name=f"ran_destination_{pipe.number}")
            forked = Signal(name=f"ran_forked_{pipe.number}")
            m.d.sync += [
                ran.eq(pipe.active),
                vfsm.eq(pipe.vfsm),
                destination.eq(said.destination),
                forked.eq(said.forked),
            ]
            both = ran & pipe.active
            is_register = view.is_register
            second = (said.type == 3) & (said.source < shape.neighbours)
            broken = (
                broken
                | (both & is_register(destination) & is_register(said.source))
                | (both & (vfsm == pipe.vfsm) & (vfsm >= FIRST_FREE_VFSM))
                | (both & (destination == codes.first_buffer + pipe.vfsm))
                | (ran & (destination < shape.neighbours) & (forked != (second & (said.source == destination))))
                | (pipe.active & second & ~(ran & forked & (said.source == destination)))
            )
        before = Signal(name="rule_broken_before")
        m.d.sync += before.eq(before | broken)
        self.kept: Value = ~(before | broken)
