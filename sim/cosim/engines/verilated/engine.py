"""Any hardware with processor ports, compiled by Verilator, and the programs on it."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path
from typing import Any

import numpy as np

from cosim.engines import processors
from cosim.engines.processors import Access, Counts, Outcome, Program, Programs, RunOptions
from cosim.errors import DeadlockError
from cosim.hardware import Hardware, PortShape
from cosim.record import EVENT
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole
from pointsman.runtime.api.requests import MAX_CYCLES, Category, Request

from .build import MODULE, engine_library, forget, is_whole
from .gtkw import gtkw_path, gtkw_text
from .verilog import joints_of

_loaded: dict[Path, Any] = {}


class HardwareEngine:
    """Blocks of a description as compiled RTL.

    Parameters
    ----------
    hardware : Hardware
        The blocks and the connections between them.
    progress : bool
        Show the progress of a build on standard error.
    wave : Path or None
        File for a waveform (FST) of all blocks; it is complete when the engine is closed. A save file for GTKWave is beside it.
    wave_window : (int, int) or None
        First and last cycle of the waveform; None: all.
    """

    name = "verilated"

    def __init__(
        self,
        hardware: Hardware,
        *,
        progress: bool = False,
        wave: Path | None = None,
        wave_window: tuple[int, int] | None = None,
    ) -> None:
        if wave is not None:
            check_writable(wave)
            if gtkw_path(wave) == wave:
                raise PointsmanError(f"a waveform cannot be called {wave.name}", hint="its save file for GTKWave is")
            check_writable(gtkw_path(wave))
        self.hardware = hardware
        self.nodes = hardware.blocks
        self._mesh: Any = _load(hardware, progress, wave is not None).Mesh(hardware.blocks, joints_of(hardware) or [])
        if wave is not None:
            first, last = wave_window or (0, MAX_CYCLES)
            if not self._mesh.open_wave(str(wave), first, last):
                raise PointsmanError(
                    f"no waveform can be written to {wave}",
                    hint="the blocks of the hardware must be registered",
                )
            write_whole(gtkw_path(wave), gtkw_text(hardware, wave))

    @property
    def time(self) -> int:
        """Cycles since reset was released."""
        return int(self._mesh.time)

    def close(self) -> None:
        """Free the engine's resources. It cannot be used afterwards."""
        self._mesh = None

    # -- what Python may see -----------------------------------------------------------------------------------

    def names(self) -> set[str]:
        """Names of registers for `peek`."""
        return set(self._mesh.names().split())

    def peek(self, name: str) -> list[Any]:
        """A register of every block, by its name in ``state``; a list of words for a memory."""
        return list(self._mesh.peek(name))

    def poke(self, node: int, name: str, value: int | tuple[int, ...]) -> None:
        """Set a register of a block; a tuple of all words for a memory."""
        self._mesh.poke(node, name, value)

    def peek_top(self, name: str) -> Any:
        """A register outside the blocks, by its name in ``top_state``."""
        return self._mesh.peek_top(name)

    def poke_top(self, name: str, value: int | tuple[int, ...]) -> None:
        """Set a register outside the blocks."""
        self._mesh.poke_top(name, value)

    # -- single cycles, as the plain processors drive them ---------------------------------------------------

    def full(self, node: int) -> int:
        """Bits of the registers of a node that take no word."""
        return int(self._mesh.full(node))

    def available(self, node: int) -> int:
        """Bits of the registers of a node with a word to read."""
        return int(self._mesh.available(node))

    def clock(self, accesses: Mapping[int, Access]) -> Mapping[int, int]:
        """Simulate a cycle in which nodes make these accesses. Gives the words read, by node."""
        with _told():
            words = self._mesh.clock([(node, a.register, a.write, a.word) for node, a in accesses.items()])
        return {node: word for node, word in zip(accesses, words, strict=True) if word is not None}

    # -- programs --------------------------------------------------------------------------------------------

    def run(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        """Run the programs to their ends."""
        counts = options.counts or Counts.of(self.nodes, self.time)
        with _told():
            recorded = self._mesh.run(
                list(programs),
                counts.results,
                counts.cycles,
                counts.accesses,
                counts.finished,
                len(Category),
                -1 if options.max_cycles is None else options.max_cycles,
                options.quiet_cycles,
                options.events,
                options.observer,
                _Host(self.hardware, options),
            )
        events = None if recorded is None else np.frombuffer(bytearray(recorded), dtype=EVENT)
        return Outcome(counts.cycles, counts.finished, counts.accesses, counts.results, events)

    def run_plain(self, programs: Sequence[Program | None], options: RunOptions) -> Outcome:
        """As `run`, with the plain Python processors in place of the compiled processors."""
        held = Programs(
            self.hardware,
            programs,
            self.time,
            lambda node, register: bool(self.full(node) >> register & 1),
            lambda node, register: bool(self.available(node) >> register & 1),
        )
        return processors.run(self, held, options)


@contextmanager
def _told() -> Iterator[None]:
    """Turn errors that the compiled code finds in the description into a `PointsmanError`."""
    try:
        yield
    except ValueError as error:
        if "`registered` must be False" not in str(error):
            raise
        raise PointsmanError(str(error)) from None


class _Host:
    """Callbacks of the compiled loop into Python: errors and progress."""

    def __init__(self, shape: PortShape, options: RunOptions) -> None:
        self._shape = shape
        self._options = options
        self.progress = options.progress

    def refusal(self, request: object) -> PointsmanError:
        """The error for a request that a node cannot carry out."""
        try:
            processors.check_request(request, self._shape)
        except PointsmanError as error:
            return error.with_traceback(None)
        return PointsmanError(f"the node cannot carry out {request!r}")

    note = staticmethod(processors.note_place)

    def too_long(self, live: int) -> None:
        assert self._options.max_cycles is not None
        raise processors.too_long(live, self._options.max_cycles)

    def deadlock(self, time: int, quiet: int, rows: list[tuple[int, Request, tuple[int, ...], int]]) -> None:
        waiting = [processors.waiting(node, request, moved, since) for node, request, moved, since in rows]
        raise DeadlockError(time=time, quiet=quiet, waiting=waiting)


class _BuildLine:
    """One line on standard error that says how a build goes on."""

    def __init__(self, shown: bool, what: str) -> None:
        self._shown = shown
        self._what = what
        self._width = 0

    def __call__(self, step: str, done: int, steps: int) -> None:
        if self._shown:
            text = f"building the engine for {self._what}: {step} ({done} of {steps})"
            sys.stderr.write("\r" + text.ljust(self._width))
            sys.stderr.flush()
            self._width = max(self._width, len(text))

    def close(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def _load(hardware: Hardware, progress: bool, wave: bool) -> Any:
    """The extension for a description; built again if the file in the cache cannot be loaded."""
    line = _BuildLine(progress, hardware.name)
    try:
        library = engine_library(hardware, line, wave=wave)
        if library not in _loaded:
            if not is_whole(library):
                forget(library)
                library = engine_library(hardware, line, wave=wave)
            try:
                _loaded[library] = _import(library)
            except ImportError:
                forget(library)
                _loaded[library] = _import(engine_library(hardware, line, wave=wave))
    finally:
        line.close()
    return _loaded[library]


def _import(library: Path) -> Any:
    loader = ExtensionFileLoader(MODULE, str(library))
    module = module_from_spec(ModuleSpec(MODULE, loader, origin=str(library)))
    loader.exec_module(module)
    return module
