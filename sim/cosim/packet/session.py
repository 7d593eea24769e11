"""Run an application on packet routers."""

from __future__ import annotations

from dataclasses import dataclass

from cosim.machine import HardwareMachine
from cosim.record import Record
from cosim.session import run_nodes
from cosim.spans import NodeWatch, Span
from pointsman.errors import PointsmanError
from pointsman.runtime import Application
from pointsman.runtime.api.application import answer_of
from pointsman.runtime.packet import packet_node
from pointsman.targets.packet import PacketProgram

from .hardware import packet_hardware


@dataclass(frozen=True)
class PacketRun:
    """A finished run. ``answer``: what the application checked if ``correct``, otherwise the error."""

    program: PacketProgram
    engine: str
    record: Record
    correct: bool
    answer: str
    seconds: dict[str, float]
    spans: list[Span]


def packet_machine(program: PacketProgram) -> HardwareMachine:
    """The machine for a program: the RTL, compiled.

    Raises
    ------
    PointsmanError
        If there is no C++ compiler.
    """
    from cosim.engines.verilated.build import find_compiler

    if find_compiler() is None:
        raise PointsmanError(
            "packet routers run on the verilated engine, which needs a C++ compiler, and none was found",
            hint="install g++ or clang++",
        )
    return HardwareMachine(packet_hardware(program.shape))


def run_packet_application(
    program: PacketProgram,
    application: Application,
    machine: HardwareMachine,
    *,
    seconds: dict[str, float] | None = None,
    max_cycles: int | None = None,
    events: bool = False,
) -> PacketRun:
    """Run ``application`` with ``program`` on ``machine``. ``events``: record every access.

    Raises
    ------
    PointsmanError
        If the program misuses an operator, deadlocks, or is for another machine.
    """
    if machine.nodes != program.shape.nodes:
        raise PointsmanError(f"the program is for {program.shape.nodes} nodes, the machine has {machine.nodes}")
    nodes = [
        packet_node(program, number, machine, functions=application.functions)
        for number in range(program.topology.nodes)
    ]
    watches = [NodeWatch(node, machine) for node in nodes]
    record = run_nodes(nodes, application.main, machine, max_cycles=max_cycles, events=events)
    for node, watch in zip(nodes, watches, strict=True):
        if node.activity != "done":
            watch.close_span()
    spans = [span for watch in watches for span in watch.spans]
    answer, correct = answer_of(application, record.results)
    times = {**(seconds or {}), "run": record.wall_seconds}
    return PacketRun(program, "verilated", record, correct, answer, times, spans)
