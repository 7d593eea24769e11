"""Options of ``compile`` and ``run``: their names, defaults and rules, the same for the command and for Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from pointsman.errors import PointsmanError

if TYPE_CHECKING:
    import networkx

    from numesh.shape import NodeShape
    from pointsman.cop.limits import Limits
    from pointsman.network import Topology
    from pointsman.operators import Implementation
    from pointsman.program.program import Program
    from pointsman.targets.target import Given

HARDWARE = ("numesh", "tdm", "packet", "optical")
"""Targets that are hardware: the cycles of a program on them are known before it runs."""
TARGETS = (*HARDWARE, "logp")
MODES = {"numesh": "numesh", "tdm": "tdm", "packet": "dyn", "optical": "tdm", "logp": "dyn"}
"""Value of ``*mode*`` for each target; optical networks are multiplexed in time as the switch is, which comes first."""
ENGINES = ("auto", "verilated", "model", "amaranth")
SWITCH_MODES = ("auto", "preload", "dynamic", "hybrid")
WARNINGS = ("show", "error", "ignore")
SWITCH = ("ports", "slots", "slot_cycles", "sl_cycles", "mode")
"""Options of target *tdm*."""

NODE_SIZES = {
    "pipelines": ("Words that a node can move in a cycle.", 2),
    "vfsms": ("Virtual state machines per pipeline.", 32),
    "schedule_depth": ("Entries of the schedule memory.", 128),
    "registers": ("Interface registers between processor and router.", 16),
    "width": ("Bits of a word.", 32),
}
"""Meaning and default of the sizes of a node."""


class CompileOptions(TypedDict, total=False):
    """Options of `pointsman.compile`. The command has the same, with dashes: ``schedule_depth`` is ``--schedule-depth``."""

    period: int
    """Slots of the schedule; chosen when not given.  [numesh]"""
    effort: float
    """Work to spend on phases and routes, relative to the usual.  [numesh]"""
    phases: int
    """Most phases of a node.  [numesh]"""
    seed: int
    """Seed of the stream router.  [numesh]"""
    implementations: Sequence[Path]
    """Python files with further implementations of operators.  [numesh]"""
    check: bool
    """Prove the images; True when not given.  [numesh]"""
    in_c: bool
    """Choose only implementations that the driver in C can carry out, for `Compiled.write_c`; ``--emit c`` does.  [numesh]"""
    limits: Limits
    """Bounds on what the COP text may use."""
    warnings: str
    """What to do about likely mistakes in the program: "show" (they become notes), "error" or "ignore"."""
    pipelines: int
    vfsms: int
    schedule_depth: int
    registers: int
    width: int
    """Sizes of a node, see `NODE_SIZES`.  [numesh]"""
    addresses: int
    """Interface addresses to use, of 16; all when not given.  [packet]"""
    ports: int
    """Ports of the switch; one for each node when not given.  [tdm]"""
    slots: int
    """Configuration registers of the switch; 4 when not given.  [tdm]"""
    slot_cycles: int
    """Cycles of a slot; 8 when not given.  [tdm]"""
    sl_cycles: int
    """Cycles of a decision of the scheduler; 1 when not given.  [tdm]"""
    mode: str
    """Who makes connections: "preload", "dynamic", "hybrid", or "auto", the mode with the least predicted cycles.  [tdm]"""
    tell: Callable[[str], None]
    """Called with each note as it comes up; notes are kept in the result in any case."""


class RunOptions(CompileOptions, total=False):
    """Options of `pointsman.run`: those of compiling, and these."""

    engine: str
    """"auto", "verilated" (the RTL, compiled), "model" (a cycle model) or "amaranth" (the RTL, interpreted)."""
    preload: bool
    """Fill the routers' memories at once instead of by the processors.  [numesh]"""
    max_cycles: int
    """Stop with an error after so many cycles; 1,000,000,000 unless told."""
    trace: Path
    """Write every word and activity: .jsonl as lines of JSON (numesh only), else for Perfetto."""
    wave: Path
    """Write a waveform (FST) of all routers, and beside it a .gtkw for GTKWave; engine "verilated".  [numesh, packet]"""
    wave_window: tuple[int, int]
    """First and last cycle of the waveform.  [numesh, packet]"""
    monitors: bool
    """Check every link and register in every cycle; slow.  [numesh]"""
    hints: bool
    """Plan small changes to the program, and say which are predicted to be quicker; takes up to a minute."""
    events: bool
    """Keep every access of the processors, for ``Result.table("words")``.  [numesh]"""
    processor_mhz: float
    network_mhz: float
    """Clocks of processors and of the network, in which a run is counted; the same when one is not given."""
    operation_cycles: float
    """Cycles of the processor for each cycle that an application computes; 1 when not given."""
    logp: str
    """The machine: a name, then changes, as "cm5,latency=50"; "example" when not given.  [logp]"""


Rule = tuple[Any, Callable[[Any], bool], str]
"""Default of an option, which values it takes, and that in words."""


def _whole(least: int, default: int | None = None) -> Rule:
    said = "a whole number" if least < -(1 << 60) else f"a whole number, {least} or more"
    return default, lambda value: isinstance(value, int) and not isinstance(value, bool) and value >= least, said


def _either(default: bool) -> Rule:
    return default, lambda value: isinstance(value, bool), "true or false"


def _of(names: Sequence[str], default: str | None = None) -> Rule:
    return default, lambda value: value in names, f"one of {', '.join(names)}"


def _path() -> Rule:
    return None, lambda value: isinstance(value, str | Path), "a path"


def _positive() -> Rule:
    return (
        None,
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 1e-6 <= value <= 1e6,
        "a number from 0.000001 to 1,000,000",
    )


_ANY = -(1 << 63)
MOST_CYCLES = 1_000_000_000
"""Cycles after which a run is given up unless more are allowed: at tens of millions of node-cycles a second some minutes."""
RULES: Mapping[str, Rule] = {
    "period": _whole(_ANY),
    "effort": (
        1.0,
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and 0 < value <= 1000,
        "a number above 0 and at most 1000",
    ),
    "phases": _whole(1),
    "seed": (0, lambda value: type(value) is int and 0 <= value < 1 << 32, "a whole number from 0 to 2^32 - 1"),
    "check": _either(True),
    "in_c": _either(False),
    "warnings": _of(WARNINGS, "show"),
    **{name: _whole(_ANY, default) for name, (_, default) in NODE_SIZES.items()},
    "addresses": _whole(_ANY),
    **{name: _whole(_ANY) for name in SWITCH if name != "mode"},
    "mode": _of(SWITCH_MODES),
    "engine": _of(ENGINES, "auto"),
    "preload": _either(False),
    "max_cycles": _whole(1, MOST_CYCLES),
    "trace": _path(),
    "wave": _path(),
    "wave_window": (
        None,
        lambda value: len(value) == 2 and all(isinstance(one, int) and one >= 0 for one in value),
        "two cycles, the first and the last",
    ),
    "monitors": _either(False),
    "hints": _either(False),
    "events": _either(False),
    "processor_mhz": _positive(),
    "network_mhz": _positive(),
    "operation_cycles": _positive(),
    "logp": (None, lambda value: isinstance(value, str), "a text such as cm5,latency=50"),
}
"""Options that are plain values. ``implementations``, ``limits`` and ``tell`` are objects of Python."""
_OBJECTS = ("implementations", "limits", "tell")


def plain(value: Any) -> Any:
    """A number of NumPy as one of Python, which options and parameters are; anything else as it is."""
    if isinstance(value, bool | int | float):
        return value
    return int(value) if isinstance(value, Integral) else float(value) if isinstance(value, Real) else value


def check_numbers(*, whole: Mapping[str, Any] | None = None, real: Mapping[str, Any] | None = None) -> None:
    """Are arguments, by name, numbers, or None?

    Raises
    ------
    PointsmanError
        With the argument that is none, or the seed that is out of range.
    """
    for kind, said, given in ((Integral, "a whole number", whole or {}), (Real, "a number", real or {})):
        for name, value in given.items():
            if (value is not None or name == "seed") and (isinstance(value, bool) or not isinstance(value, kind)):
                raise PointsmanError(f"{name} must be {said}, not {value!r}")
            if name == "seed" and not 0 <= plain(value) < 1 << 32:
                raise PointsmanError(f"a seed must be 0 to 2^32 - 1, not {value}")


def problem_of(name: str, value: object) -> PointsmanError | None:
    """Why an option cannot have this value; None if it can."""
    if name not in RULES:
        from pointsman.cop.text.source import suggestion

        known = [*RULES, *_OBJECTS]
        return PointsmanError(
            f"there is no option {name!r}", hint=suggestion(name, known) or f"known are {', '.join(known)}"
        )
    _, takes, said = RULES[name]
    try:
        if takes(value):
            return None
    except TypeError:
        pass
    return PointsmanError(f"{name} must be {said}, not {value!r}")


def given_and_named(options: Mapping[str, Any], target: str | None) -> tuple[Given, Given]:
    """All options with their defaults, and those that the caller named, as targets take them.

    Raises
    ------
    PointsmanError
        If there is no such option or target, an option cannot have its value, or is for the switch and ``target`` is another.
    """
    if target is not None and target not in TARGETS:
        raise PointsmanError(f"target must be one of {', '.join(TARGETS)}, not {target!r}")
    named = {name: plain(value) for name, value in options.items() if name not in _OBJECTS}
    for name, value in named.items():
        problem = problem_of(name, value)
        if problem is not None:
            raise problem
    for name in ("trace", "wave"):
        if name in named:
            named[name] = Path(named[name])
    if "implementations" in options:
        named["plugins"] = tuple(Path(path) for path in options["implementations"])
    if target is not None:
        refuse_switch_options(named, target)
    return {"plugins": (), **{name: default for name, (default, _, _) in RULES.items()}, **named}, named


def network_from(
    network: Topology | networkx.Graph | str | None, *, target: str | None = None, ports: int | None = None
) -> Topology:
    """The network that is meant by a `Topology`, a graph of networkx, "4x4", "torus:4x4" or the path of a JSON file; None: as
    many processors in a row as the switch has ports.

    Raises
    ------
    PointsmanError
        If it is none of these.
    """
    from pointsman.artifacts.network_files import topology_from
    from pointsman.network import Topology, from_networkx, mesh, parse_size

    if isinstance(network, Topology):
        return network
    if isinstance(network, str):
        return mesh(*parse_size(network)) if network[:1].isdigit() and "." not in network else topology_from(network)
    if hasattr(network, "edges"):
        return from_networkx(network)
    if network is not None:
        raise PointsmanError(
            f"a network must be a Topology, a graph of networkx, or text, not {type(network).__name__}",
            hint='for instance mesh(4, 4), "4x4" or "torus:4x4"',
        )
    if target == "tdm" and ports is not None:
        return mesh(ports)
    raise PointsmanError("the network is missing", hint='for instance mesh(4, 4), or "torus:4x4"')


_WRITTEN = {"plugins": "--implementations", "check": "--check/--no-check", "in_c": "--emit c"}


def option_of(name: str) -> str:
    """How an option of this name is written on the command line."""
    return _WRITTEN.get(name, f"--{name.replace('_', '-')}")


_HARDWARE = {
    name: option_of(name)
    for name in (
        *(
            "engine",
            "preload",
            "effort",
            "phases",
            "seed",
            "max_cycles",
            "trace",
            "wave",
            "wave_window",
            "monitors",
            "hints",
            "events",
            "processor_mhz",
            "network_mhz",
            "operation_cycles",
        ),
        *("addresses", "plugins", "in_c", "logp", *SWITCH, *NODE_SIZES),
    )
}
"""Options that say something about hardware only, by their names in Python."""


def target_for(program: Program, target: str | None) -> str:
    """The target of a program: the one that its ``*mode*`` forces, otherwise ``target``, or *numesh* where that is None.

    Raises
    ------
    PointsmanError
        If the program sets ``*mode*`` and ``target`` is another.
    """
    if program.mode == MODES[target or TARGETS[0]]:
        return target or TARGETS[0]
    forced = next(name for name, mode in MODES.items() if mode == program.mode)
    if target is not None:
        mode = MODES[target]
        raise PointsmanError(
            f"the program is for *mode* {program.mode}, which is target {forced}, and --target asks for {target}",
            hint=f"leave --target out, or (define *mode* '{mode}) in a text, compile_text(…, mode={mode!r}) in Python",
        )
    return forced


def refuse_hardware_options(named: Given) -> None:
    """Refuse options that say something about hardware, for ``--dry``."""
    given = [option for name, option in _HARDWARE.items() if name in named]
    if given:
        raise PointsmanError(
            f"{', '.join(given)} {'are' if len(given) > 1 else 'is'} about hardware, and --dry runs without any",
            hint="leave --dry out, or " + ("these options" if len(given) > 1 else given[0]),
        )


def refuse_switch_options(named: Given, target: str) -> None:
    """Refuse options of the switch, and of the LogP machine, if the target is another."""
    given = [name for name in SWITCH if name in named]
    if target != "tdm" and given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in named if name in given)
        raise PointsmanError(f"{names} are for the switch, not for target {target}", hint="add --target tdm")
    if target != "logp" and named.get("logp") is not None:
        raise PointsmanError(f"--logp is for a LogP machine, not for target {target}", hint="add --target logp")


def refuse_addresses(named: Given) -> None:
    """Refuse ``--addresses``, which only packet routers have."""
    if named.get("addresses") is not None:
        raise PointsmanError("--addresses is for --target packet")


def refuse_engine(given: Given) -> None:
    """Refuse an engine that the switch has not, before a program is compiled for it."""
    from cosim.engines.chosen import check_switch_engine

    check_switch_engine(given.get("engine", "auto"))


def implementations_of(files: Sequence[Path]) -> tuple[Implementation, ...]:
    """Implementations that are built in, that entry points give, and that ``files`` define."""
    from pointsman.operators import IMPLEMENTATIONS
    from pointsman.operators.api.registry import all_implementations

    return all_implementations(IMPLEMENTATIONS, files)


def shape_of(topology: Topology, given: Mapping[str, Any]) -> NodeShape:
    """Nodes of the sizes that the options give, with as many links as the network takes."""
    from numesh.shape import NodeShape, ShapeError

    try:
        return NodeShape(neighbours=max(4, topology.ports), **{name: given[name] for name in NODE_SIZES})
    except ShapeError as error:
        raise PointsmanError(str(error)) from None
