"""The scheduler: requests and commands in, grants and the setting of the fabric out."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .array import SchedulerArray
from .commands import CommandUnit
from .counters import SlCounter, TdmCounter
from .parts import Parts
from .prescheduling import PreScheduling
from .priority import Priority
from .requests import Requests
from .shape import COMMAND_WIDTH, SwitchShape
from .slots import VIEW, ConfigurationRegisters


def scheduler_members(shape: SwitchShape) -> dict[str, wiring.Member]:
    """Ports of the scheduler by name."""
    n = shape.ports
    members = {"request": In(n * n), "used": In(n * n), "command_valid": In(n)}
    members |= {f"command_{i}": In(COMMAND_WIDTH) for i in range(n)}
    return members | {
        "done": Out(n),
        "answers": Out(1),
        "answer": Out(COMMAND_WIDTH),
        "grant": Out(n * n),
        "fabric": Out(n * n),
    }


class Scheduler(wiring.Component):
    """Decides which connections are realised in which slot (Ding et al. 2005, §4, Figure 2).

    A decision is of one slot by each unit. It takes ``sl_cycles``: with 1 it is made between the configuration registers; with
    more, its inputs are taken in the first cycle and kept, and the toggles are applied in the last. A decision is lost if a
    command has changed its slot meanwhile. Several units decide different slots at once, and each request is offered to
    one of them, to another in the next decision: (u, v) to unit (u + v + number of the decision) mod units.

    Latency: a request is granted at the earliest ``sl_cycles`` + 1 cycles after it appears.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.
    parts : Parts, optional
        What takes the parts that there are for each row.

    Ports
    -----
    request : Signal(ports²), in
        R: network interface u has a word for v.
    used : Signal(ports²), in
        A word goes from u to v.
    command_valid : Signal(ports), in
        Processor i has a command, see ``commands.CommandUnit``.
    command_<i> : Signal(24), in
        The word.
    done : Signal(ports), out
        The command of processor i has been carried out, or refused.
    answers : Signal(1), out
        With ``done``: there is an answer.
    answer : Signal(24), out
        Valid with ``answers``.
    grant : Signal(ports²), out
        u may send to v.
    fabric : Signal(ports²), out
        Setting of the crossbar, one cycle behind the grants.
    """

    def __init__(self, *, shape: SwitchShape, parts: Parts | None = None) -> None:
        self.shape = shape
        self.parts = parts or Parts()
        super().__init__(scheduler_members(shape))
        self.commands = CommandUnit(shape=shape, parts=self.parts)
        self.requests = Requests(shape=shape, parts=self.parts)
        self.slots = ConfigurationRegisters(shape=shape, parts=self.parts)
        self.tdm = TdmCounter(shape=shape)
        self.priority = Priority(shape=shape, parts=self.parts)
        units = range(shape.sl_units)
        self.counters = [SlCounter(shape=shape, unit=j) for j in units]
        self.prescheduling = [PreScheduling(ports=shape.ports, parts=self.parts) for _ in units]
        rotated = shape.priority != "fixed"
        self.arrays = [
            SchedulerArray(ports=shape.ports, order=shape.order, rotated=rotated, parts=self.parts) for _ in units
        ]
        self.first, self.step = Signal(), Signal()
        """A decision begins; a decision ends."""
        self.phase = Signal(range(shape.sl_cycles))
        """Cycle of the decision."""
        self.number = Signal(range(shape.sl_units))
        """Number of the decision, modulo the units."""
        self.spoilt = [Signal(name=f"spoilt_{j}") for j in units]
        """The slot of the decision has been changed by a command since it began; only with several ``sl_cycles``."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n, k = self.shape, self.shape.ports, self.shape.slots
        size = n * n
        m.submodules.commands = commands = self.commands
        m.submodules.requests = requests = self.requests
        m.submodules.slots = slots = self.slots
        m.submodules.tdm = tdm = self.tdm
        m.submodules.priority = priority = self.priority
        m.d.comb += [
            requests.request.eq(self.request),
            requests.used.eq(self.used),
            commands.command_valid.eq(self.command_valid),
            commands.conflict.eq(slots.conflict),
            commands.kept.eq(slots.kept),
            commands.active.eq(slots.active),
            tdm.active.eq(slots.active),
        ]
        for i in range(n):
            m.d.comb += getattr(commands, f"command_{i}").eq(getattr(self, f"command_{i}"))
        for name in ("done", "answers", "answer"):
            m.d.comb += getattr(self, name).eq(getattr(commands, name))
        for name in ("place", "hold", "unhold", "widen", "narrow", "clear", "predict", "predictor", "threshold"):
            m.d.comb += getattr(requests, name).eq(getattr(commands, name))
        for name in ("slot", "matrix", "rows", "write", "evict", "flush", "release", "place"):
            m.d.comb += getattr(slots, name).eq(getattr(commands, name))
        m.d.comb += [
            commands.found.eq(slots.found),
            slots.following.eq(tdm.following),
            tdm.configuration.eq(slots.configuration),
        ]
        m.d.comb += [self.grant.eq(tdm.grant), self.fabric.eq(tdm.fabric)]

        # The clock of the scheduling logic.
        first, step, phase = self.first, self.step, self.phase
        m.d.comb += [first.eq(phase == 0), step.eq(phase == shape.sl_cycles - 1)]
        m.d.sync += phase.eq(phase + 1)
        with m.If(step):
            m.d.sync += phase.eq(0)

        unmet = Signal(size)
        m.d.comb += [
            unmet.eq(requests.wanted & ~slots.realised),
            priority.unmet.eq(unmet),
            priority.step.eq(step),
        ]
        number = self.number
        with m.If(step):
            m.d.sync += number.eq(number + 1)
            with m.If(number == shape.sl_units - 1):
                m.d.sync += number.eq(0)

        for j in range(shape.sl_units):
            m.submodules[f"counter_{j}"] = counter = self.counters[j]
            m.submodules[f"prescheduling_{j}"] = before = self.prescheduling[j]
            m.submodules[f"array_{j}"] = array = self.arrays[j]
            m.d.comb += [
                counter.step.eq(step),
                counter.occupied.eq(slots.occupied),
                counter.dynamic.eq(commands.dynamic),
                counter.unmet.eq(unmet.any()),
                before.wanted.eq(requests.wanted),
                before.realised.eq(slots.realised),
                getattr(slots, f"decided_{j}").eq(counter.slot),
                *(getattr(before, name).eq(getattr(slots, f"{name}_{j}")) for name in VIEW),
                before.wide.eq(requests.wide),
                before.allowed.eq(priority.allowed & self._share(number, j)),
                before.dynamic.eq((commands.dynamic & counter.slot).any()),
                before.gives_way.eq((commands.gives_way & counter.slot).any()),
            ]
            lost: Value = (slots.touched & counter.slot).any()
            if shape.sl_cycles == 1:
                m.d.comb += [
                    array.l.eq(before.l),
                    array.b.eq(before.current),
                    array.a.eq(before.a),
                    array.d.eq(before.d),
                ]
            else:
                for name, value in (("l", before.l), ("b", before.current), ("a", before.a), ("d", before.d)):
                    kept = Signal(len(value), name=f"{name}_of_unit_{j}")
                    with m.If(first):
                        m.d.sync += kept.eq(value)
                    m.d.comb += getattr(array, name).eq(kept)
                spoilt = self.spoilt[j]
                m.d.sync += spoilt.eq(lost | (spoilt & ~first))
                lost = lost | spoilt
            if array.rotated:
                m.d.comb += [array.row.eq(priority.row), array.column.eq(priority.column)]
            m.d.comb += [
                getattr(slots, f"toggle_{j}").eq(array.t),
                getattr(slots, f"toggle_slot_{j}").eq(counter.slot & (step & ~lost).replicate(k)),
            ]
        return m

    def _share(self, number: Value, unit: int) -> Value:
        """The requests that are offered to ``unit`` in a decision."""
        n, units = self.shape.ports, self.shape.sl_units
        if units == 1:
            return Const(-1, n * n)
        return Cat(number == (unit - u - v) % units for u in range(n) for v in range(n))
