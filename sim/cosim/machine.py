"""The machine: a mesh of nodes with a program on every processor, whatever simulates it.

with Machine(shape, topology) as machine:
    machine.preload(memories)
    record = machine.run([program(node) for node in range(topology.nodes)])
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self

import numpy as np

from numesh.memories import NodeMemories
from numesh.shape import NodeShape, ShapeError
from pointsman.errors import PointsmanError
from pointsman.network import Topology

from .engines.base import Engine, State
from .engines.processors import Counts, Options, Outcome, Program, close_programs
from .errors import TooLongError
from .hardware import Hardware
from .record import Record

if TYPE_CHECKING:
    from .monitors import LinkMonitors

EngineName = Literal["auto", "verilated", "model", "amaranth"]
ENGINES = ("auto", "verilated", "model", "amaranth")

_QUIET_SECONDS = 1.0
"""Runs that take no longer show no progress."""
_PROGRESS_SECONDS = 0.1


class Runner(Protocol):
    """Runs programs on processor ports."""

    name: str
    nodes: int

    @property
    def time(self) -> int:
        """Cycles since reset was released."""
        ...

    def run(self, programs: Sequence[Program | None], options: Options) -> Outcome:
        """Run the programs to their ends."""
        ...

    def close(self) -> None:
        """Give back what the engine holds."""
        ...


class ProcessorMachine:
    """Processors on some engine, whatever hardware is behind their ports.

    Parameters
    ----------
    engine : Runner
        Runs programs.
    quiet_cycles : int
        After how many cycles without an access a run is a deadlock, if a run does not say it.
    progress : bool or None
        Show the progress of runs on standard error; None: if that is a terminal.
    """

    def __init__(self, engine: Runner, *, quiet_cycles: int, progress: bool | None = None) -> None:
        self._progress = sys.stderr.isatty() if progress is None else progress
        self._engine: Runner | None = engine
        self._quiet_cycles = quiet_cycles
        self._running = False
        self._counts = Counts.of(engine.nodes, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give back what the engine holds. Closing twice is harmless."""
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    @property
    def engine(self) -> str:
        """Name of the engine that runs."""
        return self._open().name

    @property
    def nodes(self) -> int:
        """How many processors there are."""
        return self._open().nodes

    @property
    def time(self) -> int:
        """Cycles since reset was released; programs may ask while they run."""
        return self._open().time

    def run(
        self,
        programs: Sequence[Program | None],
        *,
        max_cycles: int | None = None,
        quiet_cycles: int | None = None,
        events: bool = False,
        each_cycle: Callable[[], None] | None = None,
        until: int | Callable[[], bool] | None = None,
    ) -> Record:
        """Run programs, one per node, to their ends. A machine may run one set of programs after another.

        Parameters
        ----------
        programs : sequence of coroutine, generator or None
            What each processor does; see `pointsman.runtime.api.requests`.
        max_cycles : int or None
            Give up when a program is unfinished after so many cycles.
        quiet_cycles : int or None
            Give up when for so many cycles no processor has accessed its router, waited for a time, or been resumed.
            None: what the machine was made with; in a mesh, four times the schedule memories of all nodes and 1000.
        events : bool
            Record every access.
        each_cycle : callable or None
            Called in every cycle, after the programs and before the clock; slow.
        until : int, callable or None
            Stop before the programs have ended: in this cycle, or in the first one in which the function, called like
            ``each_cycle``, says so. The machine then stands there to be looked at, the programs are closed, and the
            record has ``stopped``, no events, and 0 for the ends of programs that had not ended.

        Raises
        ------
        DeadlockError
            If nothing has happened for ``quiet_cycles``.
        PointsmanError
            If the programs do not fit the machine, or ``max_cycles`` is exceeded.
        Exception
            What a program raises, with a note that names the node.
        """
        engine = self._open()
        if self._running:
            raise PointsmanError("a machine can run one set of programs at a time")
        _check_programs(programs, self.nodes)
        if quiet_cycles is None:
            quiet_cycles = self._quiet_cycles
        _check_limit("max_cycles", max_cycles)
        _check_limit("quiet_cycles", quiet_cycles)
        started, began = engine.time, perf_counter()
        progress = _Progress(self._progress, started, self.nodes)
        counts = self._counts = Counts.of(self.nodes, started)
        limit, observer = max_cycles, each_cycle
        if callable(until):
            observer = _break_when(until, each_cycle)
        elif until is not None:
            _check_limit("until", until - started)
            limit = until - started if max_cycles is None else min(max_cycles, until - started)
        outcome: Outcome | None = None
        self._running = True
        try:
            outcome = engine.run(programs, Options(limit, quiet_cycles, events, observer, progress, counts))
        except _BreakError:
            pass
        except TooLongError:
            if limit == max_cycles:
                raise
        finally:
            self._running = False
            progress.close()
            close_programs(programs)
        return Record(
            started=started,
            cycles=counts.cycles,
            finished=counts.finished,
            accesses=counts.accesses,
            results=counts.results,
            wall_seconds=perf_counter() - began,
            events=None if outcome is None else outcome.events,
            stopped=None if outcome is not None else engine.time,
        )

    @property
    def cycles(self) -> np.ndarray:
        """Cycles by node and category of the run that goes on, or of the last one, as they are counted."""
        return self._counts.cycles

    def _open(self) -> Runner:
        if self._engine is None:
            raise PointsmanError("the machine is closed")
        return self._engine


class HardwareMachine(ProcessorMachine):
    """Any described hardware with a program on every processor port; needs a C++ compiler.

    Parameters
    ----------
    hardware : Hardware
        Blocks, their processor ports, what joins them.
    progress : bool or None
        As in `ProcessorMachine`; also of the build.
    """

    def __init__(self, hardware: Hardware, *, progress: bool | None = None) -> None:
        from .engines.verilated.engine import HardwareEngine

        shown = sys.stderr.isatty() if progress is None else progress
        self.hardware = hardware
        self._compiled = HardwareEngine(hardware, progress=shown)
        super().__init__(self._compiled, quiet_cycles=hardware.quiet_cycles, progress=shown)

    def peek(self, name: str) -> list[Any]:
        """A register of every block, by its name in ``hardware.state``; a list of words for a memory."""
        self._open()
        return self._compiled.peek(name)

    def poke(self, node: int, name: str, value: int | tuple[int, ...]) -> None:
        """Set a register of a block; a tuple of all words for a memory."""
        self._open()
        self._compiled.poke(node, name, value)

    def peek_top(self, name: str) -> Any:
        """A register outside the blocks, by its name in ``hardware.top_state``."""
        self._open()
        return self._compiled.peek_top(name)

    def poke_top(self, name: str, value: int | tuple[int, ...]) -> None:
        """Set a register outside the blocks."""
        self._open()
        self._compiled.poke_top(name, value)


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
        Show the progress of builds and runs on standard error; None: if that is a terminal.
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
                f"neighbours must be at least {used} for a {topology} {topology.kind}, not {shape.neighbours}"
            )
        self.shape = shape
        self.topology = topology
        shown = sys.stderr.isatty() if progress is None else progress
        if wave_window is not None and wave_window[1] < wave_window[0]:
            first, last = wave_window
            raise PointsmanError(f"the last cycle of a waveform must not be before the first, as {last} before {first}")
        self._mesh = _engine(engine, shape, topology, shown, wave, wave_window)
        quiet_cycles = 4 * shape.schedule_depth * topology.nodes + 1000
        super().__init__(self._mesh, quiet_cycles=quiet_cycles, progress=shown)

    def preload(self, memories: Sequence[NodeMemories]) -> None:
        """Put contents into the memories of all nodes, without the hardware's help.

        In the first cycle after reset nothing has been read yet; later, what has been read already takes its way.
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
        """What the memories of all nodes hold."""
        self._open()
        return self._mesh.memories()

    def state(self) -> State:
        """All architectural state that the engine shows, as arrays by name (see `cosim.engines.base.Engine.state`)."""
        self._open()
        return self._mesh.state()

    def link_monitors(self) -> LinkMonitors:
        """Monitors of all links, for ``each_cycle``; they need the engine "verilated"."""
        from .engines.verilated import VerilatedEngine
        from .monitors import LinkMonitors

        self._open()
        if not isinstance(self._mesh, VerilatedEngine):
            raise PointsmanError(
                f"engine {self.engine!r} has no links to monitor", hint="use engine 'verilated' for monitors"
            )
        return LinkMonitors(self._mesh)


class _BreakError(Exception):
    """A breakpoint is reached."""


def _break_when(until: Callable[[], bool], each_cycle: Callable[[], None] | None) -> Callable[[], None]:
    def observer() -> None:
        if each_cycle is not None:
            each_cycle()
        if until():
            raise _BreakError

    return observer


class _Progress:
    """A line with the cycles so far, if the run takes longer than a second."""

    def __init__(self, shown: bool, started: int, nodes: int) -> None:
        self._shown = shown
        self._started = started
        self._nodes = nodes
        self._next = perf_counter() + _QUIET_SECONDS
        self._bar: Any = None

    def __call__(self, time: int, live: int) -> None:
        if not self._shown or perf_counter() < self._next:
            return
        if self._bar is None:
            from tqdm import tqdm

            # How often it is drawn is decided here.
            rare = {"mininterval": 0.0, "miniters": 1}
            self._bar = tqdm(desc="running", unit=" cycles", unit_scale=True, leave=False, file=sys.stderr, **rare)
        self._next = perf_counter() + _PROGRESS_SECONDS
        self._bar.set_postfix_str(f"{self._nodes - live} of {self._nodes} programs finished", refresh=False)
        self._bar.update(time - self._started - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _engine(
    name: EngineName,
    shape: NodeShape,
    topology: Topology,
    progress: bool,
    wave: Path | None,
    wave_window: tuple[int, int] | None,
) -> Engine:
    if name == "auto":
        from .engines.verilated.build import find_compiler

        if find_compiler() is None:
            print("no C++ compiler found: the cycle model runs in place of the RTL", file=sys.stderr)
            name = "model"
        else:
            name = "verilated"
    if wave is not None and name != "verilated":
        raise PointsmanError(f"engine {name!r} writes no waveforms", hint="use engine 'verilated'")
    if name == "model":
        from .engines.model import ModelEngine

        return ModelEngine(shape, topology)
    if name == "amaranth":
        from .engines.amaranth import AmaranthEngine

        return AmaranthEngine(shape, topology)
    from .engines.verilated import VerilatedEngine

    return VerilatedEngine(shape, topology, progress=progress, wave=wave, wave_window=wave_window)


def _check_programs(programs: Sequence[Program | None], nodes: int) -> None:
    if len(programs) != nodes:
        raise PointsmanError(f"programs must be given for {nodes} nodes, not {len(programs)}")
    seen: set[int] = set()
    for node, program in enumerate(programs):
        if program is None:
            continue
        if not all(hasattr(program, name) for name in ("send", "throw", "close")):
            raise PointsmanError(
                f"the program of node {node} must be a coroutine or a generator, not {type(program).__name__}",
                hint="call the function" if callable(program) else None,
            )
        if id(program) in seen:
            raise PointsmanError(f"the program of node {node} is that of another node too")
        seen.add(id(program))


def _check_limit(name: str, cycles: int | None) -> None:
    if cycles is not None and cycles < 1:
        raise PointsmanError(f"{name} must be at least 1, not {cycles}")
