"""``pointsman fem``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from pointsman.cli.options import EXIT_WRONG, SEED, FilePath, check_output, topology_of
from pointsman.errors import PointsmanError
from pointsman.files import write_whole

if TYPE_CHECKING:
    from pointsman.api.meshes import Fem


@click.command()
@click.argument("mesh", metavar="MESH")
@click.option("--parts", type=int, required=True, help="Parts of the mesh, each on a node of its own.")
@click.option("--mesh", "size", metavar="XxY[xZ]", help="Size of the mesh of nodes, for instance 4x4.")
@click.option("--topology", metavar="FILE|KIND:SIZE", help="Network instead of --mesh, for instance torus:8x8.")
@click.option("--channels", type=int, default=12, show_default=True, help="Logical channels of a node.")
@click.option("--partition", default="metis", show_default=True, metavar="NAME", help="metis or bisection.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--json", "json_path", type=FilePath(), help="Write parts, placement, phases and runs as JSON.")
@click.option("--cop", "cop_path", type=FilePath(), help="Write the exchange as a COP program.")
@click.option("--plot", "plot_path", type=FilePath(), help="Draw parts and phases: .svg, .png or .pdf.")
@click.option("--run", "solving", is_flag=True, help="Solve Poisson's equation by conjugate gradients, and check it.")
@click.option(
    "--target",
    "targets",
    multiple=True,
    metavar="NAME",
    help="With --run, numesh (the RTL; default), tdm, packet, optical or iwarp; several may be given.",
)
@click.option("--rounds", type=int, help="Rounds of conjugate gradients (as many as needed if not given).")
def fem(mesh: str, parts: int, size: str | None, topology: str | None, **given: Any) -> None:
    """Put a finite-element MESH over the nodes of a network, and exchange halos between its parts.

    MESH is a file in a form that meshio reads (.msh, .vtk, .vtu, .inp, …) with triangles, quadrilaterals, tetrahedra or
    hexahedra, or a generator: plate:20x10, random:500:1, crack:500, valley:400, basin:20x10x5.

    Exit status 1: a solution is wrong.
    """
    from pointsman.api.meshes import fem as make
    from pointsman.api.meshes import fem_text, picture, solve
    from pointsman.api.progress import telling
    from pointsman.fem.exchange import cop_text
    from pointsman.report.figures.route_plot import check_plot_name

    for path in (given["json_path"], given["cop_path"], given["plot_path"]):
        if path is not None:
            check_output(path)
    if given["plot_path"] is not None:
        check_plot_name(given["plot_path"])
    if (given["targets"] or given["rounds"] is not None) and not given["solving"]:
        raise PointsmanError("--target and --rounds say how to run", hint="give --run")
    network = topology_of({"mesh": size, "network": topology, "faults": None})
    with telling("dividing the mesh"):
        work = make(mesh, parts, network, channels=given["channels"], method=given["partition"], seed=given["seed"])
    _summary(work)
    if given["plot_path"] is not None:
        picture(work, given["plot_path"])
    if given["cop_path"] is not None:
        write_whole(given["cop_path"], cop_text(work.answer, given["rounds"] or 1))
    if given["solving"]:
        solve(work, given["targets"] or ("numesh",), rounds=given["rounds"])
        for name, found in work.runs.items():
            each = found["cycles"] // found["rounds"]
            click.echo(
                f"{name}: {found['cycles']} cycles, {each} a round, {found['exchange_cycles']} an exchange; {found['answer']}"
            )
    if given["json_path"] is not None:
        write_whole(given["json_path"], fem_text(work))
    if not all(found["correct"] for found in work.runs.values()):
        raise SystemExit(EXIT_WRONG)


def _summary(work: Fem) -> None:
    content = work.as_dict()
    parts, place, phases = content["parts"], content["placement"], content["exchange"]["phases"]
    click.echo(f"mesh: {content['mesh']['nodes']} nodes, {content['mesh']['elements']} elements")
    low, high = parts["elements"]
    few, many = parts["words"]
    sent = f"{few} to {many} values sent, up to {parts['degree']} neighbours"
    click.echo(f"{parts['count']} parts of {low} to {high} elements, {sent}")
    click.echo(f"placement: {place['before']} values times links with the parts in order, {place['after']} as placed")
    connections = sum(len(phase["connections"]) for phase in phases)
    bound = content["exchange"]["bound"]
    click.echo(
        f"{connections} connections in {len(phases)} phases (bound {bound}), {work.answer.predicted} clocks predicted"
    )
