"""Which engine runs where "auto" is asked for, and what can be refused of an engine before a program is compiled for it."""

from __future__ import annotations

import sys
from pathlib import Path

from pointsman.errors import PointsmanError


def chosen_engine(engine: str) -> str:
    """The engine itself; for "auto" the compiled RTL ("verilated") if there is a C++ compiler, else the cycle model, with a line
    on standard error that says so.

    >>> chosen_engine("model")
    'model'
    """
    if engine != "auto":
        return engine
    from .verilated.build import find_compiler

    if find_compiler() is not None:
        return "verilated"
    print("no C++ compiler found: the cycle model runs in place of the RTL", file=sys.stderr)
    return "model"


def check_switch_engine(engine: str) -> None:
    """Refuse an engine that the switch has not.

    Raises
    ------
    PointsmanError
        If there is none of this name.
    """
    if engine not in ("auto", "verilated", "model"):
        raise PointsmanError(f"an engine of the switch must be auto, verilated or model, not {engine!r}")


def check_wave(engine: str, wave: Path | None, window: tuple[int, int] | None) -> None:
    """Refuse waveforms of engines that write none, and cycles of a waveform that end before they begin.

    Raises
    ------
    PointsmanError
        If ``engine``, as `chosen_engine` gives it, or the first and last cycle in ``window`` are so.
    """
    if wave is not None and engine != "verilated":
        raise PointsmanError(f"engine {engine!r} writes no waveforms", hint="use engine 'verilated'")
    if window is not None and window[1] < window[0]:
        first, last = window
        raise PointsmanError(f"the last cycle of a waveform must not be before the first, as {last} before {first}")


def check_engine(engine: str, wave: Path | None = None, window: tuple[int, int] | None = None) -> str:
    """Find out before long work whether an engine could be built. Gives it as `chosen_engine` does.

    Raises
    ------
    PointsmanError
        As `check_wave`; and for the compiled RTL if there is no compiler, no Python header or no Verilator, or if the cache
        cannot be written and holds no engine.
    """
    engine = chosen_engine(engine)
    check_wave(engine, wave, window)
    if engine == "verilated":
        from .verilated.build import check_tools
        from .verilated.kept import check_cache

        check_tools()
        check_cache("engine")
    return engine
