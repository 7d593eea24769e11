"""The mesh of scheduled routers as a machine: a program on every node's processor, on any engine.

with Machine(shape, topology) as machine:
    machine.preload(memories)
    record = machine.run([program(node) for node in range(topology.nodes)])
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from cosim.engines.chosen import check_wave, chosen_engine
from cosim.machine import ProcessorMachine, is_shown
from cosim.record import State
from numesh.memories import NodeMemories
from numesh.shape import NodeShape, ShapeError
from pointsman.errors import PointsmanError
from pointsman.network import Topology

from .engines.base import Engine

if TYPE_CHECKING:
    from .monitors import LinkMonitors

EngineName = Literal["auto", "verilated", "model", "amaranth"]
ENGINES = ("auto", "verilated", "model", "amaranth")


class Machine(ProcessorMachine):
    """A mesh and its processors.

    Parameters
    ----------
    shape : NodeShape
        Sizes of every node.
    topology : Topology
        The links. No node may have more ports than the shape.
    engine : str
        "verilated" (the RTL, compiled by Verilator; needs a C++ compiler), "model" (a cycle model), "amaranth" (the
        RTL in Amaranth's simulator, slow) or "auto": "verilated" if there is a compiler, else "model".
    progress : bool or None
        Show the progress of builds and runs on standard error; None: only if standard error is a terminal.
    wave : Path or None
        File for a waveform (FST) of all nodes, engine "verilated"; complete when the machine is closed.
    wave_window : (int, int) or None
        First and last cycle of the waveform; None: all.

    Raises
    ------
    PointsmanError
        If the topology does not fit the shape, there is no such engine, or it cannot be built.
    """

    def __init__(
        self,
        shape: NodeShape,
        topology: Topology,
        *,
        engine: EngineName = "auto",
        progress: bool | None = None,
        wave: Path | None = None,
        wave_window: tuple[int, int] | None = None,
    ) -> None:
        if engine not in ENGINES:
            raise PointsmanError(f"an engine must be one of {', '.join(ENGINES)}, not {engine!r}")
        used = 1 + max((port for joined in topology.at_port for port in joined), default=-1)
        if used > shape.neighbours:
            raise PointsmanError(
                f"neighbours must be at least {used} for a {topology.described}, not {shape.neighbours}"
            )
        self.shape = shape
        self.topology = topology
        shown = is_shown(progress)
        name = chosen_engine(engine)
        check_wave(name, wave, wave_window)
        self._mesh = _engine(name, shape, topology, shown, wave, wave_window)
        quiet_cycles = 4 * shape.schedule_depth * topology.nodes + 1000
        super().__init__(self._mesh, quiet_cycles=quiet_cycles, progress=shown)

    def preload(self, memories: Sequence[NodeMemories]) -> None:
        """Put contents into the memories of all nodes, without the hardware's help.

        In the first cycle after reset no router has read anything yet; later, entries already read still take effect.
        """
        if len(memories) != self.nodes:
            raise PointsmanError(f"memories must be given for {self.nodes} nodes, not {len(memories)}")
        for node, contents in enumerate(memories):
            try:
                contents.check(self.shape)
            except ShapeError as error:
                raise PointsmanError(f"node {node}: {error}") from None
        self._open()
        self._mesh.preload(memories)

    def memories(self) -> list[NodeMemories]:
        """Contents of the memories of all nodes."""
        self._open()
        return self._mesh.memories()

    def state(self) -> State:
        """All architectural state that the engine shows, as arrays by name (see `cosim.numesh.engines.base.Engine.state`)."""
        self._open()
        return self._mesh.state()

    def link_monitors(self) -> LinkMonitors:
        """Monitors of all links, for ``each_cycle``; they need the engine "verilated"."""
        from cosim.numesh.engines.verilated import VerilatedEngine
        from cosim.numesh.monitors import LinkMonitors

        self._open()
        if not isinstance(self._mesh, VerilatedEngine):
            raise PointsmanError(
                f"engine {self.engine!r} has no links to monitor", hint="use engine 'verilated' for monitors"
            )
        return LinkMonitors(self._mesh)


def _engine(
    name: str,
    shape: NodeShape,
    topology: Topology,
    progress: bool,
    wave: Path | None,
    wave_window: tuple[int, int] | None,
) -> Engine:
    if name == "model":
        from cosim.numesh.engines.model import ModelEngine

        return ModelEngine(shape, topology)
    if name == "amaranth":
        from cosim.numesh.engines.amaranth import AmaranthEngine

        return AmaranthEngine(shape, topology)
    from cosim.numesh.engines.verilated import VerilatedEngine

    return VerilatedEngine(shape, topology, progress=progress, wave=wave, wave_window=wave_window)
