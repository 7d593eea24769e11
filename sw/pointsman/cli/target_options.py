"""Options of ``compile`` and ``run`` that choose the target or belong to one target only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from pointsman.api.options import SWITCH_MODES, TARGETS
from pointsman.cli.options import limits_of, names_network, topology_of
from pointsman.errors import PointsmanError

if TYPE_CHECKING:
    from pointsman.network import Topology
    from pointsman.targets.target import Given

_SWITCH = (
    ("ports", int, "Ports of the switch; one for each node when not given.  [tdm]"),
    ("slots", int, "Configuration registers of the switch, its greatest degree; 4 when not given.  [tdm]"),
    ("slot_cycles", int, "Cycles of a slot, guard band included; 8 when not given.  [tdm]"),
    ("sl_cycles", int, "Cycles of a decision of the scheduler; 1 when not given.  [tdm]"),
    (
        "mode",
        click.Choice(SWITCH_MODES),
        "Who makes connections; auto, the mode with the least predicted cycles, when not given.  [tdm]",
    ),
)
"""Options of ``--target tdm``."""


def target_option(command: Any) -> Any:
    return click.option(
        "--target",
        type=click.Choice(TARGETS),
        default="numesh",
        show_default=True,
        help="Hardware: numesh, a mesh of scheduled routers; tdm, a time-multiplexed crossbar switch; packet, a mesh of packet "
        "routers; optical, an optical mesh or torus, run on a switch; logp, an abstract machine (run only, Split-C).",
    )(command)


def addresses_option(command: Any) -> Any:
    text = "Interface addresses to use, of 16; all when not given.  [packet]"
    return click.option("-P", "--addresses", type=int, help=text)(command)


def switch_options(command: Any) -> Any:
    """Options of ``--target tdm``; None where they are not given."""
    for name, kind, text in reversed(_SWITCH):
        command = click.option(f"--{name.replace('_', '-')}", name, type=kind, help=text)(command)
    return command


def named_options(ctx: click.Context) -> Given:
    """Options that the user has written on the command line, by name; defaults are left out."""
    command_line = click.core.ParameterSource.COMMANDLINE
    return {name: value for name, value in ctx.params.items() if ctx.get_parameter_source(name) == command_line}


def api_options(ctx: click.Context) -> dict[str, Any]:
    """What the user has written, as options of `pointsman.compile` and `pointsman.run`; the rest has the defaults there."""
    from pointsman.api.options import RULES

    named = named_options(ctx)
    found = {name: value for name, value in named.items() if name in RULES or name == "target"}
    if "plugins" in named:
        found["implementations"] = named["plugins"]
    if "limits" in named:
        found["limits"] = limits_of(named["limits"])
    return found


def network_of(given: Mapping[str, Any]) -> Topology:
    """The network that the options name; for a switch without a network a row of all its ports."""
    if not names_network(given) and given["target"] == "tdm":
        if given["ports"] is None:
            raise PointsmanError("the size of the network is missing", hint="--mesh 4x4, or --ports 16 for target tdm")
        return topology_of({**given, "mesh": str(given["ports"])})
    return topology_of(given)
