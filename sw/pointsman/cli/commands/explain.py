"""``pointsman explain``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import (
    FilePath,
    SourceOptions,
    check_output,
    effort_option,
    emit_text,
    limit_option,
    network_options,
    phases_option,
    set_option,
    topology_of,
    warnings_option,
)
from pointsman.errors import PointsmanError

DEEPEST_JSON = 200
"""Groups within each other that readers of JSON bear."""


class _Explain(click.Command):
    """Other commands write JSON into a file that follows --json."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "--json" not in given or not error.message.startswith("Got unexpected extra argument"):
                raise
            text = "explain --json prints, and takes no file; -o FILE writes what would be printed into a file"
            raise click.UsageError(text, ctx) from None


@click.command(cls=_Explain)
@click.argument("program", type=FilePath())
@network_options
@set_option
@click.option("--json", "as_json", is_flag=True, help="As JSON, with every instance.")
@click.option(
    "--decision",
    is_flag=True,
    help="Plan it for nodes of the usual size, too, and say what was decided and what else there was.",
)
@effort_option
@phases_option
@click.option("-o", "--output", type=FilePath(), help="Write it into this file.")
@warnings_option
@limit_option
def explain(program: Path, as_json: bool, decision: bool, output: Path | None, **given: Any) -> None:
    """Say what a PROGRAM (COP, or Python) means on a mesh: its tree, and of each operator what the application
    calls, on which nodes it works, how far it reaches, how many words it moves, and what may run together with it.
    With --decision also how it is done: the phases, their implementations and the next best ones with predicted cycles, what
    each change of phase costs and why it is made so, and the divisions that were not taken.

    \b
    Example:
      pointsman explain examples/matmul/matmul.cop --mesh 4x4
    """
    from pointsman.report.explain import explain_json, explain_text

    if output is not None:
        check_output(output)
    parsed = SourceOptions.of(given).program(program, topology_of(given))
    topology = parsed.topology
    plain = explain_json(parsed)
    if as_json and any(depth > DEEPEST_JSON for _, depth in parsed.root.walk()):
        raise PointsmanError(f"groups are nested more than {DEEPEST_JSON} deep, too deep for JSON")
    text = "" if as_json else explain_text(plain)
    if decision:
        from numesh.shape import NodeShape
        from pointsman.api.progress import telling
        from pointsman.operators import IMPLEMENTATIONS, Context
        from pointsman.plan.analysis import ProgramAnalysis
        from pointsman.plan.fitting import fitted_plan
        from pointsman.plan.options import PlanOptions
        from pointsman.report.decision import decision_json, decision_text

        shape = NodeShape(neighbours=max(4, topology.ports))
        with telling(f"planning {program.stem}") as say:
            options = PlanOptions(most_phases=given["phases"], progress=say)
            plan = fitted_plan(parsed, shape, name=program.stem, effort=given["effort"], options=options)
        analysis = ProgramAnalysis(plan.program, Context(topology, shape), IMPLEMENTATIONS)
        plain["decision"] = decision_json(plan, analysis)
        text += "\n\n" + decision_text(plain["decision"])
    emit_text(json.dumps(plain, indent=1) if as_json else text, output)
