"""Machines: programs on processor ports, independent of the hardware behind the ports and of the engine that simulates it.

`cosim.numesh.machine.Machine` is the mesh of scheduled routers, `cosim.tdm.model.switch_machine` a switch,
`cosim.packet.session.packet_machine` packet routers, and `HardwareMachine` any other described hardware.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from time import perf_counter
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np

from pointsman.errors import PointsmanError

from .engines.processors import Counts, Outcome, Program, RunOptions, close_programs
from .errors import TooLongError
from .hardware import Hardware
from .record import Record, State

_QUIET_SECONDS = 1.0
"""Runs that take no longer show no progress."""
_PROGRESS_SECONDS = 0.1


def is_shown(progress: bool | None) -> bool:
    """Is the progress of a run to be shown? None: where standard error is a terminal; it may have been closed."""
    return (sys.stderr is not None and sys.stderr.isatty()) if progress is None else progress


class Runner(Protocol):
    """Runs programs on processor ports."""

    name: str
    nodes: int

    @property
    def time(self) -> int:
        """Cycles since reset was released."""
        ...

    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        """Run the programs to their ends."""
        ...

    def close(self) -> None:
        """Free the engine's resources."""
        ...


class ProcessorMachine(ABC):
    """Processors on an engine, independent of the hardware behind their ports.

    Parameters
    ----------
    engine : Runner
        Runs programs.
    quiet_cycles : int
        Cycles without an access after which a run is a deadlock, unless `run` is given another number.
    progress : bool or None
        Show the progress of runs on standard error; None: only if standard error is a terminal.
    """

    def __init__(self, engine: Runner, *, quiet_cycles: int, progress: bool | None = None) -> None:
        self._progress = is_shown(progress)
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
        """Free the engine's resources. Closing twice is harmless."""
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
            Program of each processor; see `pointsman.runtime.api.requests`.
        max_cycles : int or None
            Give up when a program is unfinished after this number of cycles.
        quiet_cycles : int or None
            Give up when for this number of cycles no processor has accessed its router, waited for a time, or been resumed.
            None: the machine's own; in a mesh, four times the schedule memories of all nodes and 1000.
        events : bool
            Record every access.
        each_cycle : callable or None
            Called in every cycle, after the programs and before the clock; slow.
        until : int, callable or None
            Stop before the programs have ended: in this cycle, or in the first cycle in which the function, called like
            ``each_cycle``, gives true. The machine keeps its state for inspection, the programs are closed, and the record
            has ``stopped``, no events, and 0 for the ends of unfinished programs.

        Raises
        ------
        DeadlockError
            If nothing has happened for ``quiet_cycles``.
        PointsmanError
            If the programs do not fit the machine, or ``max_cycles`` is exceeded.
        Exception
            Any exception of a program, with a note that names the node.
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
            outcome = engine.run(programs, RunOptions(limit, quiet_cycles, events, observer, progress, counts))
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

    @abstractmethod
    def state(self) -> State | None:
        """The hardware's registers as arrays by name, to say in which of them words are stuck; None if they are not shown."""

    @property
    def cycles(self) -> np.ndarray:
        """Cycles by node and category of the current run, as counted so far, or of the last run."""
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
        Blocks, their processor ports, and the connections between them.
    progress : bool or None
        As in `ProcessorMachine`; also of the build.
    """

    def __init__(self, hardware: Hardware, *, progress: bool | None = None) -> None:
        from .engines.verilated.engine import HardwareEngine

        shown = is_shown(progress)
        self.hardware = hardware
        self._compiled = HardwareEngine(hardware, progress=shown)
        super().__init__(self._compiled, quiet_cycles=hardware.quiet_cycles, progress=shown)

    def state(self) -> None:
        return None

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

            # This code decides how often the bar is drawn, not tqdm.
            rare = {"mininterval": 0.0, "miniters": 1}
            self._bar = tqdm(desc="running", unit=" cycles", unit_scale=True, leave=False, file=sys.stderr, **rare)
        self._next = perf_counter() + _PROGRESS_SECONDS
        self._bar.set_postfix_str(f"{self._nodes - live} of {self._nodes} programs finished", refresh=False)
        self._bar.update(time - self._started - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


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
