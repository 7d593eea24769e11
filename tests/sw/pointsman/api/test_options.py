"""Options of compiling and running: the same for the command and for Python, and checked in both."""

from __future__ import annotations

from typing import Any

import click
import networkx
import pytest

from pointsman.api.options import RULES, RunOptions, given_and_named, network_from, problem_of
from pointsman.cli.commands.compile import compile_
from pointsman.cli.commands.run import run
from pointsman.errors import PointsmanError
from pointsman.network import Topology, graph, mesh, torus


@pytest.mark.parametrize("command", [compile_, run])
def test_the_command_has_the_same_defaults(command: click.Command) -> None:
    shared = {one.name: one for one in command.params if one.name in RULES}
    assert len(shared) > 10
    for name, parameter in shared.items():
        default = parameter.get_default(click.Context(command))
        assert (default if isinstance(default, int | float | str) else None) == RULES[name][0], name


def test_every_option_is_typed() -> None:
    assert {*RULES, "implementations", "limits", "tell"} == set(RunOptions.__annotations__)


@pytest.mark.parametrize(
    ("options", "target", "said"),
    [
        ({"sed": 1}, "numesh", "there is no option 'sed'\n  hint: did you mean 'seed'?"),
        ({"effort": 0}, "numesh", "effort must be a number above 0 and at most 1000, not 0"),
        ({"effort": True}, "numesh", "effort must be a number above 0 and at most 1000, not True"),
        ({"seed": 1.5}, "numesh", "seed must be a whole number from 0 to 2^32 - 1, not 1.5"),
        ({"phases": 0}, "numesh", "phases must be a whole number, 1 or more, not 0"),
        ({"engine": ["auto"]}, "numesh", "engine must be one of auto, verilated, model, amaranth, not ['auto']"),
        ({"mode": "fast"}, "tdm", "mode must be one of auto, preload, dynamic, hybrid, not 'fast'"),
        ({"wave_window": 3}, "numesh", "wave_window must be two cycles, the first and the last, not 3"),
        ({"preload": 1}, "numesh", "preload must be true or false, not 1"),
        ({"slots": 4}, "packet", "--slots are for the switch, not for target packet"),
        ({}, "ring", "target must be one of numesh, tdm, packet, optical, logp, not 'ring'"),
    ],
)
def test_a_wrong_option_is_refused_with_its_rule(options: dict[str, Any], target: str, said: str) -> None:
    with pytest.raises(PointsmanError) as found:
        given_and_named(options, target)
    assert str(found.value).startswith(said)


def test_named_options_are_apart_from_defaults() -> None:
    given, named = given_and_named({"seed": 0, "trace": "t.jsonl", "implementations": ["x.py"]}, "numesh")
    assert set(named) == {"seed", "trace", "plugins"}
    assert given["engine"] == "auto"
    assert given["trace"].suffix == ".jsonl"
    assert problem_of("engine", "auto") is None


@pytest.mark.parametrize(
    ("network", "meant"),
    [
        (mesh(2, 3), mesh(2, 3)),
        ("2x3", mesh(2, 3)),
        ("torus:3x3", torus(3, 3)),
        (networkx.path_graph(3), graph(3, [(0, 1), (1, 2)])),
        (None, mesh(8)),
    ],
)
def test_networks_in_all_forms(network: Any, meant: Topology) -> None:
    assert network_from(network, target="tdm", ports=8) == meant


@pytest.mark.parametrize("target", ["numesh", "tdm"])
def test_a_network_has_to_be_given(target: str) -> None:
    with pytest.raises(PointsmanError, match="the network is missing"):
        network_from(None, target=target, ports=None)
