"""``pointsman run``."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from pointsman.cli.options import (
    EXIT_WRONG,
    effort_option,
    implementations_of,
    language_options,
    limits_of,
    mesh_option,
    phases_option,
    prove,
    refuse_malformed,
    report_warnings,
    shape_of,
    shape_options,
    topology_of,
    warnings_option,
)
from pointsman.cli.targets.tdm import refuse_others, run_on_switch, switch_given, switch_options, target_option
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole

if TYPE_CHECKING:
    from pointsman.cop import Limits
    from pointsman.network import Topology
    from pointsman.runtime import Application


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("application", type=click.Path(path_type=Path))
@mesh_option()
@target_option
@click.option("-P", "--addresses", type=int, help="Interface addresses to use, of 16; all when not given.  [packet]")
@click.option(
    "--engine",
    type=click.Choice(["auto", "verilated", "model", "amaranth"]),
    default="auto",
    show_default=True,
    help="verilated: the RTL, compiled; model: a cycle model; amaranth: the RTL, interpreted (slow). "
    "auto: verilated if there is a C++ compiler, else model.",
)
@click.option("--image", type=click.Path(path_type=Path), help="Run this image instead of compiling the program.")
@click.option("--dry", is_flag=True, help="Run the program by its meaning alone, without hardware; quick.")
@click.option("--preload", is_flag=True, help="Fill the routers' memories at once instead of by the processors.")
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@effort_option
@phases_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the stream router.")
@click.option("--max-cycles", type=click.IntRange(min=1), help="Stop with an error after so many cycles.")
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    help="Write every word and activity: .jsonl as lines of JSON, else for Perfetto.",
)
@click.option(
    "--wave", type=click.Path(path_type=Path), help="Write a waveform (FST) of all routers; engine verilated."
)
@click.option("--wave-window", nargs=2, type=click.IntRange(min=0), help="First and last cycle of the waveform.")
@click.option("--monitors", is_flag=True, help="Check every link and register in every cycle; slow.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results as JSON.")
@switch_options
@warnings_option
@language_options
@shape_options
@click.pass_context
def run(
    ctx: click.Context,
    application: Path,
    mesh: str,
    target: str,
    addresses: int | None,
    engine: Literal["auto", "verilated", "model", "amaranth"],
    image: Path | None,
    dry: bool,
    preload: bool,
    period: int | None,
    effort: float,
    phases: int | None,
    seed: int,
    max_cycles: int | None,
    trace: Path | None,
    wave: Path | None,
    wave_window: tuple[int, int] | None,
    monitors: bool,
    json_path: Path | None,
    warnings: str,
    limits: tuple[str, ...],
    plugins: tuple[Path, ...],
    **sizes: int,
) -> None:
    """Compile an APPLICATION's COP program, load it into the hardware, run it and check the answer.

    Options that are not listed below go to the application; see its file.

    \b
    Example:
      pointsman run examples/matmul/matmul.py --mesh 4x4 --size 60 --json result.json

    Exit status 0: the answer is right; 1: it is wrong; 2: something has to be mended first.
    """
    from pointsman.runtime.api.application import (
        application_errors,
        compile_application,
        load_application,
        options_help,
        parse_options,
    )

    topology = topology_of(mesh)
    switch = switch_given(ctx, target)
    shape = shape_of(topology, sizes)
    for path in (json_path, trace, wave):
        if path is not None:
            check_writable(path)
    if wave_window is not None and wave is None:
        raise PointsmanError("--wave-window needs --wave")
    kind = load_application(application)
    try:
        options = parse_options(kind, application, ctx.args)
    except PointsmanError as error:
        raise PointsmanError(f"{error.message}\n{options_help(kind, application)}".rstrip()) from None
    with application_errors(application):
        app = kind(options, topology)
        parameters = dict(app.parameters())

    if dry:
        if image is not None:
            raise PointsmanError("--dry runs the program, --image an image: give one of them")
        _run_dry(ctx, app, application, topology, parameters, warnings, limits_of(limits), json_path)
        return
    if target == "packet":
        from pointsman.cli.targets.packet import check_options, run_packet

        check_options(ctx, engine)
        started = time.perf_counter()
        bounds = limits_of(limits)
        with application_errors(application):
            parsed, name = compile_application(app, application, topology, parameters, bounds)
            report_warnings(parsed, warnings, bounds)
            plain, text = run_packet(
                app, parsed, name=name, addresses=addresses, max_cycles=max_cycles, started=started
            )
        _finish(ctx, plain, text, json_path)
        return
    if addresses is not None:
        raise PointsmanError("--addresses is for --target packet")
    if target == "tdm":
        refuse_others(
            preload=preload,
            period=period,
            implementations=plugins,
            trace=trace,
            wave=wave,
            wave_window=wave_window,
            monitors=monitors,
        )
        run_on_switch(
            ctx,
            app,
            application,
            topology,
            parameters,
            switch,
            engine=engine,
            image=image,
            warnings=warnings,
            bounds=limits_of(limits),
            max_cycles=max_cycles,
            json_path=json_path,
        )
        return
    seconds: dict[str, float] = {}
    started = time.perf_counter()
    if image is not None:
        from pointsman.artifacts.images.file import read_images

        images = read_images(image)
        refuse_malformed(images)
    else:
        from pointsman.plan.make_plan import PlanOptions, make_plan
        from pointsman.targets.numesh import make_images

        bounds = limits_of(limits)
        with application_errors(application):
            parsed, name = compile_application(app, application, topology, parameters, bounds)
        report_warnings(parsed, warnings, bounds)
        known = implementations_of(plugins)
        asked = PlanOptions(seed=seed, most_phases=phases)
        plan = make_plan(parsed, shape, name=name, period=period, implementations=known, effort=effort, options=asked)
        images = make_images(plan)
        prove(images)
    seconds["compile"] = time.perf_counter() - started

    from cosim.numesh.activities import cycles_by
    from cosim.numesh.machine import Machine
    from cosim.numesh.session import run_application
    from pointsman.report.run import run_json, run_text

    started = time.perf_counter()
    with Machine(shape, topology, engine=engine, wave=wave, wave_window=wave_window) as machine:
        seconds["build"] = time.perf_counter() - started
        with application_errors(application):
            result = run_application(
                images,
                app,
                machine,
                preload=preload,
                seconds=seconds,
                max_cycles=max_cycles,
                events=trace is not None,
                monitors=monitors,
            )
    record = result.record
    plain = run_json(
        images,
        correct=result.correct,
        answer=result.answer,
        target=target,
        engine=result.engine,
        seed=seed,
        cycles=record.cycles,
        total_cycles=record.total_cycles,
        node_cycles_per_second=record.node_cycles_per_second,
        seconds=result.seconds,
        by_operator=cycles_by(result.spans, "operator", record.nodes),
        by_phase=cycles_by(result.spans, "phase", record.nodes),
    )
    if trace is not None:
        from cosim.numesh.trace import trace_text

        write_whole(trace, trace_text(images, record, result.spans, lines=trace.suffix == ".jsonl"))
    _finish(ctx, plain, run_text(plain, images, app.reference()), json_path)


def _finish(ctx: click.Context, plain: dict[str, Any], text: str, json_path: Path | None) -> None:
    """Print the report, write the results, and say by the exit status whether the answer is right."""
    click.echo(text)
    if json_path is not None:
        write_whole(json_path, json.dumps(plain, indent=1) + "\n")
    if not plain["correct"]:
        ctx.exit(EXIT_WRONG)


def _run_dry(
    ctx: click.Context,
    app: Application,
    path: Path,
    topology: Topology,
    parameters: dict[str, int],
    warnings: str,
    bounds: Limits,
    json_path: Path | None,
) -> None:
    """Run on the reference machine."""
    from pointsman.runtime import WrongAnswer
    from pointsman.runtime.api.application import application_errors, compile_application
    from pointsman.runtime.reference import ReferenceMachine

    started = time.perf_counter()
    with application_errors(path):
        parsed, name = compile_application(app, path, topology, parameters, bounds)
    report_warnings(parsed, warnings, bounds)
    with application_errors(path):
        done = ReferenceMachine(parsed, name, app.functions).run(app.main)
        try:
            answer, correct = app.check(done.results), True
        except WrongAnswer as error:
            answer, correct = str(error), False
    for line in done.unread:
        click.echo(f"note: {line}", err=True)
    click.echo(f"{'right' if correct else 'WRONG'}: {answer}")
    click.echo(f"without a network; {done.cycles} cycles of computation at the busiest node")
    if json_path is not None:
        plain = {
            "program": name,
            "target": "reference",
            "correct": correct,
            "answer": answer,
            "cycles_of_computation": done.cycles,
            "unread": list(done.unread),
            "seconds": time.perf_counter() - started,
        }
        write_whole(json_path, json.dumps(plain, indent=1) + "\n")
    if not correct:
        ctx.exit(EXIT_WRONG)
