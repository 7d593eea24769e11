"""``pointsman show``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.api.options import ENGINES, MOST_CYCLES
from pointsman.cli.options import (
    SEED,
    FilePath,
    check_output,
    effort_option,
    language_options,
    network_options,
    note,
    parameters_of,
    phases_option,
    set_option,
    shape_options,
    warnings_option,
)
from pointsman.cli.shown import Kind, answer_document, kind_of
from pointsman.cli.target_options import addresses_option, api_options, network_of, switch_options, target_option
from pointsman.errors import PointsmanError
from pointsman.files import write_whole

if TYPE_CHECKING:
    from pointsman.report.show.document import Document


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("application", metavar="WHAT", type=FilePath())
@network_options
@target_option
@addresses_option
@set_option
@click.option("-o", "--output", type=FilePath(), help="The page; WHAT with the ending .html when nothing is named.")
@click.option("--json", "json_path", type=FilePath(), help="Write the document that the page shows as JSON.")
@click.option("--png", type=FilePath(), help="Write each view as PNG into this folder.")
@click.option("--svg", type=FilePath(), help="Write each view as SVG into this folder.")
@click.option("--perfetto", type=FilePath(), help="Write a trace for Perfetto; one cycle is written as 1 ns.")
@click.option("--npeviz", type=FilePath(), help="Write the timetable for the viewer of tt-npe.")
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="Engine of the run, as for `pointsman run`.",
)
@click.option("--logp", help="The machine: a name (example, cm5), then changes, as cm5,latency=50.  [logp]")
@click.option("--preload", is_flag=True, help="Fill the routers' memories at once instead of by the processors.")
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@effort_option
@phases_option
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the stream router.")
@click.option(
    "--max-cycles",
    type=click.IntRange(min=1),
    default=MOST_CYCLES,
    show_default=True,
    help="Stop with an error after so many cycles.",
)
@switch_options
@warnings_option
@language_options
@shape_options
@click.pass_context
def show(ctx: click.Context, application: Path, **given: Any) -> None:
    """Show WHAT as a page of HTML: where each word is in each cycle, and where the time goes. The page fetches nothing.

    WHAT is an application (it is run first), a COP program, an image, connection tables, or JSON that another command has
    written: the results of `run`, the routes of `route` or `collective` (with --mesh or --topology, the network is drawn in
    its shape), the configurations of `configure`, the results of `optical`, or a document of `show`. Options that are not
    listed below go to the application.

    \b
    Example:
      pointsman show examples/matmul/matmul.py --mesh 4x4 -o matmul.html
    """
    from pointsman.report.show.page import write_page

    if application.is_dir():
        raise PointsmanError(f"{application} cannot be read: it is a folder")
    outputs = {name: given[name] for name in ("output", "json_path", "png", "svg", "perfetto", "npeviz")}
    if not any(outputs.values()):
        outputs["output"] = application.with_suffix(".html")
    for name, path in outputs.items():
        if path is not None and name not in ("png", "svg"):
            check_output(path)
    document = _document(ctx, application, [path for path in outputs.values() if path is not None])
    texts = _texts(document, outputs)
    if outputs["output"] is not None:
        size = write_page(document, outputs["output"])
        note(f"wrote {outputs['output']} ({size / 1e6:.2f} MB)")
    for path, text in texts.items():
        write_whole(path, text)
        note(f"wrote {path}")
    _draw(document, outputs)


def _texts(document: Document, outputs: Mapping[str, Path | None]) -> dict[Path, str | bytes]:
    """Files of text but the page, as yet unwritten: what cannot be drawn is refused before anything is written."""
    from pointsman.report.show.document import document_bytes
    from pointsman.report.show.exports import npeviz_text, perfetto_text

    makers: dict[str, Callable[[Document], str | bytes]] = {
        "json_path": lambda document: document_bytes(document) + b"\n",
        "perfetto": perfetto_text,
        "npeviz": npeviz_text,
    }
    return {path: make(document) for name, make in makers.items() if (path := outputs[name]) is not None}


def _draw(document: Document, outputs: Mapping[str, Path | None]) -> None:
    for ending in ("png", "svg"):
        folder = outputs[ending]
        if folder is not None:
            from pointsman.report.show.figures import write_figures

            for path in write_figures(document, folder, ending):
                note(f"wrote {path}")


def _document(ctx: click.Context, path: Path, outputs: Sequence[Path]) -> Document:
    kind = kind_of(path)
    if kind != Kind.APPLICATION and ctx.args:
        raise PointsmanError(f"there is no option {ctx.args[0]}", hint="only an application has options of its own")
    if kind in (Kind.IMAGE, Kind.TABLES, Kind.ANSWER):
        return answer_document(path, kind, ctx.params)
    from pointsman.api.showing import not_shown

    if ctx.params["target"] == "optical":
        raise not_shown()
    from pointsman import api

    if kind == Kind.PROGRAM:
        for name in ("engine", "logp", "preload", "max_cycles"):
            if name in api_options(ctx):
                raise PointsmanError(f"--{name.replace('_', '-')} is for applications, which are run")
        given = {"parameters": parameters_of(ctx.params["settings"]), **api_options(ctx), "tell": note}
        return api.compile(path, network_of(ctx.params), **given).document()
    if ctx.params["settings"]:
        raise PointsmanError(
            "--set is for COP programs", hint="an application sets the parameters of its program itself"
        )
    options = {**api_options(ctx), "tell": note, "events": True}
    result = api.run(path, network_of(ctx.params), arguments=ctx.args, outputs=outputs, **options)
    if not result.correct:
        note(f"the answer is WRONG: {result.answer}")
    return result.document()
