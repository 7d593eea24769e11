"""Options of ``compile`` and ``run`` that choose the target or belong to one target only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from pointsman.cli.options import NODE_SIZES, names_network, topology_of
from pointsman.errors import PointsmanError

if TYPE_CHECKING:
    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.targets.target import Given

TARGETS = ("numesh", "tdm", "packet")
_SWITCH = (
    ("ports", int, "Ports of the switch; one for each node when not given.  [tdm]"),
    ("slots", int, "Configuration registers of the switch, its greatest degree; 4 when not given.  [tdm]"),
    ("slot_cycles", int, "Cycles of a slot, guard band included; 8 when not given.  [tdm]"),
    ("sl_cycles", int, "Cycles of a decision of the scheduler; 1 when not given.  [tdm]"),
    (
        "mode",
        click.Choice(["auto", "preload", "dynamic", "hybrid"]),
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
        "routers.",
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


def refuse_switch_options(named: Given, target: str) -> None:
    """Refuse options of the switch if the target is another."""
    given = [name for name, _, _ in _SWITCH if name in named]
    if target != "tdm" and given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in named if name in given)
        raise PointsmanError(f"{names} are for the switch, not for target {target}", hint="add --target tdm")


MODES = {"numesh": "numesh", "tdm": "tdm", "packet": "dyn"}
"""Value of ``*mode*`` for each target."""
_HARDWARE = {
    "engine": "--engine",
    "preload": "--preload",
    "effort": "--effort",
    "phases": "--phases",
    "seed": "--seed",
    "max_cycles": "--max-cycles",
    "trace": "--trace",
    "wave": "--wave",
    "wave_window": "--wave-window",
    "monitors": "--monitors",
    "addresses": "--addresses",
    "plugins": "--implementations",
    **{name: f"--{name.replace('_', '-')}" for name, _, _ in _SWITCH},
    **{name: f"--{name.replace('_', '-')}" for name in NODE_SIZES},
}
"""Options of ``run`` that say something about hardware only, by their names in Python."""


def target_for(program: Program, given: Mapping[str, Any], named: Given) -> str:
    """The target of a program: the one that its ``*mode*`` forces, otherwise that of the options.

    Raises
    ------
    PointsmanError
        If the program sets ``*mode*`` and ``--target`` asks for another.
    """
    target = str(given["target"])
    if program.mode == MODES[target]:
        return target
    forced = next(name for name, mode in MODES.items() if mode == program.mode)
    if "target" in named:
        raise PointsmanError(
            f"the program sets *mode* to {program.mode}, which is target {forced}, and --target asks for {target}",
            hint="leave --target out, or (define *mode* …)",
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


def refuse_addresses(named: Given) -> None:
    """Refuse ``--addresses``, which only packet routers have."""
    if named.get("addresses") is not None:
        raise PointsmanError("--addresses is for --target packet")


def network_of(given: Mapping[str, Any]) -> Topology:
    """The network that the options name; for a switch without a network a row of all its ports."""
    if not names_network(given) and given["target"] == "tdm":
        if given["ports"] is None:
            raise PointsmanError("the size of the network is missing", hint="--mesh 4x4, or --ports 16 for target tdm")
        return topology_of({**given, "mesh": str(given["ports"])})
    return topology_of(given)
