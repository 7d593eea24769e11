"""Run an application on packet routers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cosim.engines.chosen import check_wave, chosen_engine
from cosim.machine import ProcessorMachine, Runner, is_shown
from cosim.record import Record
from cosim.session import run_nodes
from cosim.spans import Call, NodeWatch, Span
from packet_router.shape import RouterShape
from pointsman.errors import PointsmanError
from pointsman.runtime import Application
from pointsman.runtime.api.application import answer_of
from pointsman.runtime.packet import packet_node
from pointsman.targets.packet import PacketProgram

from .hardware import packet_hardware, quiet_cycles

ENGINES = ("auto", "verilated", "model")


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
    calls: list[Call]


class PacketMachine(ProcessorMachine):
    """Packet routers and their processors.

    Parameters
    ----------
    shape : RouterShape
    engine : str
        "verilated" (the RTL, compiled by Verilator; needs a C++ compiler), "model" (a cycle model, which needs no build) or
        "auto": "verilated" if there is a compiler, else "model".
    progress : bool or None
        Show the progress of builds and runs on standard error; None: only if standard error is a terminal.
    wave, wave_window
        File for a waveform (FST) of all routers, engine "verilated", and its first and last cycle; see
        `cosim.engines.verilated.engine.HardwareEngine`.

    Raises
    ------
    PointsmanError
        If there is no such engine, or it cannot be built.
    """

    def __init__(
        self,
        shape: RouterShape,
        *,
        engine: str = "auto",
        progress: bool | None = None,
        wave: Path | None = None,
        wave_window: tuple[int, int] | None = None,
    ) -> None:
        if engine not in ENGINES:
            raise PointsmanError(f"an engine must be one of {', '.join(ENGINES)}, not {engine!r}")
        engine = chosen_engine(engine)
        check_wave(engine, wave, wave_window)
        self.shape = shape
        shown = is_shown(progress)
        super().__init__(
            _runner(shape, engine, shown, wave, wave_window), quiet_cycles=quiet_cycles(shape), progress=shown
        )

    def state(self) -> None:
        return None


def _runner(
    shape: RouterShape, engine: str, shown: bool, wave: Path | None, wave_window: tuple[int, int] | None
) -> Runner:
    if engine == "model":
        from .model_engine import PacketModelEngine

        return PacketModelEngine(shape)
    from cosim.engines.verilated.engine import HardwareEngine

    return HardwareEngine(packet_hardware(shape), progress=shown, wave=wave, wave_window=wave_window)


def packet_machine(
    program: PacketProgram,
    engine: str = "auto",
    *,
    wave: Path | None = None,
    wave_window: tuple[int, int] | None = None,
) -> PacketMachine:
    """The machine for a program."""
    return PacketMachine(program.shape, engine=engine, wave=wave, wave_window=wave_window)


def run_packet_application(
    program: PacketProgram,
    application: Application,
    machine: PacketMachine,
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
    calls = [call for watch in watches for call in watch.calls]
    answer, correct = answer_of(application, record.results)
    times = {**(seconds or {}), "run": record.wall_seconds}
    return PacketRun(program, machine.engine, record, correct, answer, times, spans, calls)
