"""The benches of the switch, with their designs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cosim.benches.bench import FOUR_NODES, Bench, Design, converted
from tdm_switch.shape import SwitchShape

_SWITCH: dict[str, Any] = {"queue_depth": 4, "buffer_depth": 4, "slot_cycles": 4, "age_bits": 4, "stored": 2}
SWITCH = SwitchShape(**_SWITCH, ports=4, slots=3)
SWITCH_TABLES = SwitchShape(ports=4, slots=4, queue_depth=8, buffer_depth=8, age_bits=6, stored=0)
SWITCH_UNITS = SwitchShape(
    **_SWITCH | {"guard_cycles": 2}, ports=3, slots=5, sl_units=2, sl_cycles=3, order="wrapped", priority="random"
)
SWITCH_WRAPPED = SwitchShape(**_SWITCH, ports=3, slots=2, order="wrapped")


def _tdm_arrays(shape: SwitchShape) -> Any:
    """The scheduler array in all variants, with the same slot as input; the pipelined variant gets a slot every cycle."""
    from amaranth.hdl import Cat, Module, Signal, Value
    from amaranth.lib import wiring
    from amaranth.lib.wiring import In, Out

    from tdm_switch.array import SchedulerArray
    from tdm_switch.matrix import columns_any, rows_any
    from tdm_switch.pipelined_array import PipelinedArray
    from tdm_switch.shape import bits_for

    n = shape.ports

    class Arrays(wiring.Component):
        def __init__(self) -> None:
            members = {"b": In(n * n), "l": In(n * n), "row": In(bits_for(n)), "column": In(bits_for(n))}
            outputs = ("t_plain", "t_turned", "t_wrapped", "t_pipelined")
            super().__init__(members | {name: Out(n * n) for name in outputs})

        def elaborate(self, platform: object) -> Module:
            m = Module()

            def later(value: Value, cycles: int) -> Value:
                for _ in range(cycles):
                    kept = Signal(len(value))
                    m.d.sync += kept.eq(value)
                    value = kept
                return value

            outputs, inputs = columns_any(self.b, n), rows_any(self.b, n)
            for name, order, rotated in (
                ("plain", "plain", False),
                ("turned", "plain", True),
                ("wrapped", "wrapped", True),
            ):
                m.submodules[name] = array = SchedulerArray(ports=n, order=order, rotated=rotated)
                m.d.comb += [array.l.eq(self.l), array.b.eq(self.b), array.a.eq(outputs), array.d.eq(inputs)]
                if rotated:
                    m.d.comb += [array.row.eq(self.row), array.column.eq(self.column)]
                m.d.comb += getattr(self, f"t_{name}").eq(array.t)
            m.submodules.pipelined = pipelined = PipelinedArray(ports=n)
            cells = [(u, v) for u in range(n) for v in range(n)]
            m.d.comb += [
                pipelined.l.eq(Cat(later(self.l[u * n + v], u + v) for u, v in cells)),
                pipelined.b.eq(Cat(later(self.b[u * n + v], u + v) for u, v in cells)),
                pipelined.a.eq(Cat(later(outputs[v], v) for v in range(n))),
                pipelined.d.eq(Cat(later(inputs[u], u) for u in range(n))),
                self.t_pipelined.eq(pipelined.t),
            ]
            return m

    return Arrays()


def _tdm_scheduler(shape: SwitchShape) -> Any:
    from tdm_switch.scheduler import Scheduler

    return Scheduler(shape=shape)


def _tdm_switch(shape: SwitchShape) -> str:
    from tdm_switch.emit import switch_verilog

    return switch_verilog(shape)


def _tdm_block(name: str, shape: SwitchShape, component: Callable[[Any], Any], about: str) -> Bench:
    top = f"bench_{name}"
    return Bench(
        name, f"tdm.{name.split('_')[1]}", shape, Design(name, top, partial(converted, component, shape, top)), about
    )


def _tdm_bench(name: str, shape: SwitchShape, about: str) -> Bench:
    return Bench(name, "tdm.switch", shape, Design(name, "tdm_switch", partial(_tdm_switch, shape)), about)


def _tables(folder: Path) -> None:
    from .compiled import prepare

    prepare(FOUR_NODES, SWITCH_TABLES, folder)


BENCHES: tuple[Bench, ...] = (
    _tdm_block("tdm_array", SwitchShape(ports=5), _tdm_arrays, "scheduler arrays: plain, turned, wrapped, pipelined"),
    _tdm_block(
        "tdm_scheduler", SWITCH, _tdm_scheduler, "scheduler of the switch: slots, latches, predictors, commands"
    ),
    _tdm_block(
        "tdm_scheduler_units", SWITCH_UNITS, _tdm_scheduler, "the same with two units, decisions of three cycles"
    ),
    _tdm_bench("tdm_switch", SWITCH, "a whole switch with four processors"),
    Bench(
        "tdm_tables",
        "tdm.tables",
        SWITCH_TABLES,
        Design("tdm_tables", "tdm_switch", partial(_tdm_switch, SWITCH_TABLES)),
        "compiled connection tables, loaded and used, every word compared",
        _tables,
    ),
    _tdm_bench("tdm_switch_wrapped", SWITCH_WRAPPED, "a whole switch with three processors and wrapped diagonals"),
)
