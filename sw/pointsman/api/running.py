"""``pointsman.run``: an application's program into the hardware, and its answer; the command ``run`` is this function."""

from __future__ import annotations

import argparse
import inspect
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pointsman.errors import PointsmanError
from pointsman.files import check_writable, same_file

from .compiling import ProgramSource
from .options import HARDWARE, TARGETS, RunOptions, refuse_hardware_options, refuse_switch_options, target_for
from .result import Result
from .targets.by_name import target_named

MESSAGE_BITS = 32
"""Bits of the words that messages of applications are made of."""

if TYPE_CHECKING:
    import networkx

    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.runtime import Application
    from pointsman.runtime.active.trace import ActiveTrace
    from pointsman.runtime.api.clocks import Clocks
    from pointsman.runtime.api.guarded import GuardedApplication
    from pointsman.targets.target import Target, TargetRun

    _Maker = Callable[[Topology], GuardedApplication]


def run(
    application: Path | str | type[Application] | Application,
    network: Topology | networkx.Graph | str | None = None,
    *,
    target: str | None = None,
    arguments: Mapping[str, Any] | Sequence[str] = (),
    image: Path | str | None = None,
    dry: bool = False,
    outputs: Sequence[Path] = (),
    **options: Unpack[RunOptions],
) -> Result:
    """Compile an application's program, load it into the hardware, run it and check the answer.

    Parameters
    ----------
    application : path, class or object
        A file that defines an `pointsman.runtime.Application`, the class itself, or an object of it (which brings its network).
    network : Topology, networkx.Graph or str
        The nodes and links, for instance ``mesh(4, 4)`` or "torus:4x4"; see `options.network_from`.
    target : str, optional
        "numesh" (scheduled routers), "tdm" (a time-multiplexed switch) or "packet" (packet routers). When not given, the one that
        the program's ``*mode*`` sets, or numesh.
    arguments : mapping, or sequence of str
        The application's own options: ``{"size": 60}``, or as on the command line, ``["--size", "60"]``.
    image : path, optional
        Run this image instead of compiling the program.
    dry : bool
        Run the program by its meaning alone, without hardware.
    outputs : sequence of paths
        Files that the caller will write of the result: refused before the run, as those of ``trace`` and ``wave`` are, if one is
        the application's own.
    options
        See `RunOptions`.

    Returns
    -------
    Result
        Also if the answer is wrong, see `Result.correct`.

    Raises
    ------
    PointsmanError
        If the application fails, misuses an operator or deadlocks, or anything that was given is wrong.

    >>> import pointsman
    >>> from pointsman.network import mesh
    >>> result = pointsman.run("examples/halves/halves.py", mesh(2, 2), dry=True)  # doctest: +SKIP
    >>> result.correct  # doctest: +SKIP
    True
    """
    from pointsman.runtime import Application
    from pointsman.runtime.api.application import application_errors

    if isinstance(application, Application):
        network = application.topology if network is None else network
    source = ProgramSource(network, target, options)
    if dry and image is not None:
        raise PointsmanError("--dry runs the program, --image an image: give one of them")
    if dry:
        refuse_hardware_options(source.named)
    for name in ("trace", "wave"):
        if source.given[name] is not None:
            check_writable(source.given[name])
    if source.given["wave_window"] is not None and source.given["wave"] is None:
        raise PointsmanError("--wave-window needs --wave")
    if source.given["width"] != MESSAGE_BITS:
        raise PointsmanError(
            f"applications send words of {MESSAGE_BITS} bits, and nodes with --width {source.given['width']} have others",
            hint="leave --width out; `pointsman compile` and `verilog` take it, for processors of your own",
        )
    make, path = _maker(application, arguments)
    made = [one for one in (source.given["trace"], source.given["wave"], *outputs) if one is not None]
    make = _sparing(make, path, made)
    with application_errors(path):
        if dry:
            return _dry(source, make, path)
        return _on_target(source, make, path, None if image is None else Path(image))


def _maker(
    application: Path | str | type[Application] | Application, arguments: Mapping[str, Any] | Sequence[str]
) -> tuple[_Maker, Path]:
    """A function that makes the application, with its own options, for a network; and the file where it is written."""
    from pointsman.foreign import foreign_code
    from pointsman.runtime import Application
    from pointsman.runtime.api.application import (
        ApplicationOptionError,
        check_class,
        load_application,
        options_help,
        parse_options,
    )
    from pointsman.runtime.api.guarded import GuardedApplication

    if isinstance(application, Application):
        made, path = application, _file_of(type(application))
        if arguments:
            raise PointsmanError("an application that is made already has its options", hint="give its class")

        def give(topology: Topology) -> GuardedApplication:
            if made.topology != topology:
                raise PointsmanError(
                    f"the application was made for a {made.topology.described}, not for a {topology.described}"
                )
            return GuardedApplication(made, path)

        return give, path
    if isinstance(application, str | Path):
        path = Path(application)
        kind = load_application(path)
    else:
        if not (inspect.isclass(application) and issubclass(application, Application)):
            told = (
                application.__name__ if inspect.isclass(application) else f"an object of {type(application).__name__}"
            )
            raise PointsmanError(
                f"an application must be the path of a file, or a class that derives from "
                f"pointsman.runtime.Application, not {told}",
                hint="a program of COP alone is compiled by pointsman.compile",
            )
        kind, path = application, _file_of(application)
        check_class(kind, path)
    words = _words(kind, path, arguments) if isinstance(arguments, Mapping) else arguments
    try:
        options = parse_options(kind, path, words)
    except ApplicationOptionError as error:
        raise PointsmanError(f"{error.message}\n{options_help(kind, path)}".rstrip()) from None

    def make(topology: Topology) -> GuardedApplication:
        with foreign_code(path, "the application", doing=f"{kind.__name__}.__init__"):
            return GuardedApplication(kind(options, topology), path)

    return make, path


def _sparing(make: _Maker, path: Path, outputs: Sequence[Path]) -> _Maker:
    """As ``make``, but refuses to overwrite the files of the application, which is in the file ``path``."""
    from pointsman.runtime.api.application import text_of

    def spared(topology: Topology) -> GuardedApplication:
        app = make(topology)
        text = text_of(app.application, path)
        for output in outputs:
            for what, own in (("is the application", path), ("has the application's program", text)):
                if own is not None and same_file(own, output):
                    raise PointsmanError(f"cannot write {output}: it {what}", hint="give another name")
        return app

    return spared


def _file_of(kind: type[Application]) -> Path:
    """The file (in a notebook: the cell) that an application's main program is in; where that is Pointsman's own, as of Split-C,
    the one of the class's first function."""
    from pointsman.foreign import is_ours

    if inspect.isabstract(kind):
        return Path(getattr(sys.modules.get(kind.__module__), "__file__", None) or kind.__name__)
    path = Path(kind.main.__code__.co_filename)
    own = [value for value in vars(kind).values() if inspect.isfunction(value)]
    return Path(own[0].__code__.co_filename) if own and is_ours(path) else path


def _words(kind: type[Application], path: Path, arguments: Mapping[str, Any]) -> list[str]:
    """An application's options as on the command line."""
    from pointsman.foreign import foreign_code

    parser = argparse.ArgumentParser(add_help=False)
    with foreign_code(path, "the application", doing=f"{kind.__name__}.options"):
        kind.options(parser)
    known = {action.dest: action for action in parser._actions}
    words: list[str] = []
    for name, value in arguments.items():
        if name not in known:
            raise PointsmanError(f"the application has no option {name!r}", hint=f"it has {', '.join(known) or 'none'}")
        action = known[name]
        values = [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]
        if action.nargs == 0:
            words += action.option_strings[-1:] if value else []
        elif action.option_strings:
            words += [action.option_strings[-1], *values]
        else:
            words += values
    return words


def _compiled(source: ProgramSource, make: _Maker, path: Path) -> tuple[GuardedApplication, Program, str]:
    """The application, its program, and a name for that. Both are for the network that the program sets, if it sets one."""
    from pointsman.runtime.api.application import compile_application

    topology = source.topology
    app = make(topology)
    for _ in range(2):
        program, name = compile_application(app.application, path, topology, **source.host(app.parameters()))
        if program.topology == topology:
            break
        topology = program.topology
        app = make(topology)
    source.look_for_mistakes(program)
    return app, program, name


def _with_hints(
    done: TargetRun, program: Program, name: str, chosen: Target[Any, Any], source: ProgramSource
) -> TargetRun:
    """The run with what would make the program quicker, in its results and its text."""
    from pointsman.report.hints import Change, changes, hints, hints_json, hints_text

    from .progress import telling

    given = source.given
    # Of the program as it is written, as of the changed ones; results have those of the way that the run took.
    cycles = chosen.predicted(program, name, given) if chosen.plan is None else chosen.plan.cycles
    if cycles is None:
        raise PointsmanError("there are no hints: the program is too long for its cycles to be predicted")

    def predict(change: Change) -> float | None:
        return chosen.predicted(change.program, name, {**given, **change.options})

    waiting = list(dict.fromkeys(one["function"].rpartition("_")[0] for one in done.results["waits"]))
    period = done.results["period"] if chosen.name == "numesh" else None
    asked = given["period"] is not None or program.schedlen is not None
    with telling("looking for hints") as say:
        found = hints(changes(program, waiting, period=period, asked=asked), cycles, predict, tell=say)
    plain = hints_json(*found)
    return done._replace(results={**done.results, **plain}, text=f"{done.text}\n\n{hints_text(plain)}")


def _dry(source: ProgramSource, make: _Maker, path: Path) -> Result:
    from .targets.reference import run_dry

    started = time.perf_counter()
    app, program, name = _compiled(source, make, path)
    target_for(program, source.target)
    done = run_dry(program, name, app, time.perf_counter() - started)
    for line in [*done.results["unread"], *done.results["early"]]:
        source.note(f"note: {line}")
    return Result(done.results, done.text, program, done.finished, tuple(source.notes))


def _on_target(source: ProgramSource, make: _Maker, path: Path, image: Path | None) -> Result:
    from cosim.errors import StuckError
    from pointsman.runtime.api.claims import unclaimed
    from pointsman.runtime.api.left_out import left_out
    from pointsman.runtime.api.unread import unread
    from pointsman.runtime.reference.awaited import awaited

    started = time.perf_counter()
    if image is not None:
        name = source.target or TARGETS[0]
        refuse_switch_options(source.named, name)
        chosen = target_named(name)
        chosen.refuse({**source.named, "image": image})
        app, artifact = make(source.topology), chosen.read(image, source.topology, source.given)
        if source.given["hints"]:
            raise PointsmanError("--hints changes the program, which an image does not have", hint="leave --image out")
    else:
        app, program, name = _compiled(source, make, path)
        chosen = source.target_of(program)
        _unforeseen(source, app, chosen.name)
        _check_engine(source, chosen.name)
        artifact = chosen.compile(program, name, source.given)
    trace = _traced(app) if source.given["events"] else None
    app.clocks = _clocks(source)
    try:
        done = chosen.run(artifact, app, {"compile": time.perf_counter() - started}, source.given)
    except StuckError as error:
        if image is None:
            for wrong in unclaimed(program, error.loaded):
                raise PointsmanError(f"{wrong.message}\n{error.waits}", hint=wrong.hint) from None
            lines = [*awaited(program, error.loaded), *left_out(program, error.loaded)]
            error.message += "".join(f"\n  {line}" for line in lines)
        raise
    record = getattr(done.finished, "record", None)
    if image is None and app.foreseen and record is not None:
        for line in unread(program, record.moved):
            source.note(f"note: {line}")
    window = source.given["wave_window"]
    if window is not None and window[0] > done.results["total_cycles"]:
        source.note(
            f"note: nothing is in the waveform: --wave-window begins with cycle {window[0]:,}, and the run took "
            f"{done.results['total_cycles']:,} cycles"
        )
    if any(name in source.named for name in _CLOCKS):
        cycles = done.results["total_cycles"]
        results = {**done.results, "clocks": app.clocks.as_dict(cycles)}
        done = done._replace(results=results, text=f"{done.text}\n\n{app.clocks.text(cycles)}")
    if source.given["hints"]:
        done = _with_hints(done, program, name, chosen, source)
    return Result(done.results, done.text, artifact, done.finished, tuple(source.notes), chosen.plan, trace)


def _unforeseen(source: ProgramSource, app: GuardedApplication, target: str) -> None:
    """Leave out what would be predicted from a program that does not say what its nodes will send."""
    if app.foreseen:
        return
    if source.given["hints"]:
        raise PointsmanError(
            "there are no hints: this application's nodes send what they like, so no change to its program can be judged",
            hint="leave --hints out; --target and the application's own options can be compared by their runs",
        )
    if target == "tdm" and source.given["mode"] in (None, "auto"):
        # By prediction no mode could be chosen; connections that nobody knows before are made on request.
        source.given = {**source.given, "mode": "dynamic"}


def _check_engine(source: ProgramSource, target: str) -> None:
    """Refuse an engine that cannot be built before the program is compiled for it; from here on it is no longer "auto"."""
    from cosim.engines.chosen import check_engine

    if target in HARDWARE:
        given = source.given
        source.given = {**given, "engine": check_engine(given["engine"], given["wave"], given["wave_window"])}


_CLOCKS = ("processor_mhz", "network_mhz", "operation_cycles")


def _clocks(source: ProgramSource) -> Clocks:
    """The clocks that options give."""
    from pointsman.runtime.api.clocks import Clocks

    given = source.given
    price = given["operation_cycles"]
    return Clocks(given["processor_mhz"], given["network_mhz"], 1.0 if price is None else price)


def _traced(app: GuardedApplication) -> ActiveTrace | None:
    """Have an application of active messages keep what they do."""
    from pointsman.runtime.active.application import ActiveApplication
    from pointsman.runtime.active.trace import ActiveTrace

    inner = app.application
    if not isinstance(inner, ActiveApplication):
        return None
    inner.trace = ActiveTrace()
    return inner.trace
