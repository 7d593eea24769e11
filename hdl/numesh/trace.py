"""Runs a component in the Amaranth simulator and records its ports cycle by cycle."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from amaranth.sim import Simulator

Sample = dict[str, int]
"""Values in one cycle, by name. Nested ports are joined by a full stop (``read_0.request``)."""
Drive = Callable[[int, Sequence[Sample]], Mapping[str, int]]
"""Cycle and the samples of the cycles before it to the inputs of this cycle. Inputs not named are 0."""


def record(
    component: wiring.Component,
    cycles: int,
    drive: Drive = lambda cycle, before: {},
    *,
    watch: Mapping[str, Any] | None = None,
) -> list[Sample]:
    """Values of every port of ``component`` in each of ``cycles`` cycles, the first of which follows reset.

    Parameters
    ----------
    component : wiring.Component
        What to run. It can be run once.
    cycles : int
        Cycles of the clock.
    drive : Drive
        Inputs for each cycle.
    watch : mapping of name to value, optional
        Further signals, or rows of memories, to record.
    """
    inputs: dict[str, Value] = {}
    watched: dict[str, Any] = {}
    for path, member, port in component.signature.flatten(component):
        name = ".".join(str(part) for part in path)
        watched[name] = Value.cast(port)
        if member.flow == In:
            inputs[name] = watched[name]
    watched |= watch or {}
    samples: list[Sample] = []

    async def bench(context: Any) -> None:
        for cycle in range(cycles):
            values = drive(cycle, samples)
            for name in values:
                if name not in inputs:
                    raise KeyError(f"{name} is no input")
            for name, port in inputs.items():
                context.set(port, values.get(name, 0))
            samples.append({name: context.get(port) for name, port in watched.items()})
            await context.tick()

    top = Module()
    top.submodules.component = component
    beat = Signal()
    top.d.sync += beat.eq(~beat)  # a component without registers has no clock of its own
    simulator = Simulator(top)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    return samples
