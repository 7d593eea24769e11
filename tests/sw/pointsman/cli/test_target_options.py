"""Options that choose a target or belong to one."""

from __future__ import annotations

import pytest

from pointsman.api.options import refuse_addresses, refuse_hardware_options, refuse_switch_options, target_for
from pointsman.api.targets.by_name import target_named
from pointsman.cli.target_options import network_of
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, torus
from pointsman.network.faults import with_faults


def test_options_of_the_switch_are_refused_elsewhere_in_the_order_in_which_they_were_written() -> None:
    refuse_switch_options({"slots": 4, "ports": 8}, "tdm")
    refuse_switch_options({"mesh": "2x2"}, "packet")
    with pytest.raises(
        PointsmanError, match=r"^--sl-cycles, --ports are for the switch, not for target numesh"
    ) as found:
        refuse_switch_options({"sl_cycles": 2, "mesh": "2", "ports": 8}, "numesh")
    assert found.value.hint == "add --target tdm"


def test_addresses_are_for_packet_routers() -> None:
    refuse_addresses({})
    with pytest.raises(PointsmanError, match="--addresses is for --target packet"):
        refuse_addresses({"addresses": 0})


NOTHING = {"mesh": None, "network": None, "faults": None, "ports": None}


@pytest.mark.parametrize(
    ("given", "network"),
    [
        ({"mesh": "4x4", "target": "numesh"}, mesh(4, 4)),
        ({"network": "torus:4x4", "target": "numesh"}, torus(4, 4)),
        ({"target": "tdm", "ports": 16}, mesh(16)),
        ({"mesh": "4x4", "target": "tdm", "ports": 32}, mesh(4, 4)),
    ],
)
def test_processors_of_a_switch_stand_in_a_row_if_nothing_else_is_said(given: dict, network: Topology) -> None:
    assert network_of({**NOTHING, **given}) == network


@pytest.mark.parametrize("target", ["packet", "tdm"])
def test_a_network_must_be_given(target: str) -> None:
    with pytest.raises(PointsmanError, match="the size of the network is missing"):
        network_of({**NOTHING, "target": target})


def test_a_network_must_be_given_once() -> None:
    with pytest.raises(PointsmanError, match="--mesh and --topology both name the network"):
        network_of({**NOTHING, "target": "numesh", "mesh": "2x2", "network": "torus:2x2"})


@pytest.mark.parametrize("target", ["tdm"])
def test_hardware_without_faulty_links_says_so(target: str) -> None:
    program = compile_text("(barrier 'b)", topology=with_faults(mesh(2, 2), links=[(0, 1)]))
    given = {"ports": None, "addresses": None, "slots": None, "slot_cycles": None, "sl_cycles": None, "mode": None}
    with pytest.raises(PointsmanError, match=r"fault"):
        target_named(target).compile(program, "p", {**given, "check": True})


@pytest.mark.parametrize(
    ("target", "named", "said"),
    [
        ("numesh", {"emit": "tables"}, "--emit tables is a stage of target tdm"),
        ("tdm", {"emit": "routes"}, "--emit routes is a stage of target numesh"),
        ("tdm", {"plugins": ("x.py",)}, "--implementations is for the mesh of scheduled routers, not for target tdm"),
        ("tdm", {"wave_window": (1, 2)}, "--wave is for routers"),
        ("packet", {"check": True}, "--check/--no-check is for scheduled routers, not for --target packet"),
        ("packet", {"engine": "amaranth"}, "packet routers run on the engines verilated and model, not on amaranth"),
        ("tdm", {"engine": "amaranth"}, "an engine of the switch must be auto, verilated or model, not 'amaranth'"),
        ("optical", {"engine": "amaranth"}, "an engine of the switch must be auto, verilated or model, not 'amaranth'"),
        ("packet", {"emit": "images"}, "--emit images is for scheduled routers"),
    ],
)
def test_a_target_refuses_what_is_another_ones(target: str, named: dict, said: str) -> None:
    with pytest.raises(PointsmanError) as found:
        target_named(target).refuse(named)
    assert found.value.message.startswith(said)


def test_mode_and_target_force_each_other() -> None:
    scheduled, packets = (
        compile_text(f"(define *mode* '{mode}) (barrier 'b)", topology=mesh(2)) for mode in ("numesh", "dyn")
    )
    assert target_for(packets, None) == "packet"
    assert target_for(packets, "packet") == "packet"
    assert target_for(scheduled, None) == "numesh"
    with pytest.raises(PointsmanError, match="which is target numesh, and --target asks for tdm") as found:
        target_for(scheduled, "tdm")
    assert found.value.hint == (
        "leave --target out, or (define *mode* 'tdm) in a text, compile_text(…, mode='tdm') in Python"
    )


def test_what_is_about_hardware_is_refused_without_hardware() -> None:
    refuse_hardware_options({"target": "tdm", "period": 8, "dry": True})
    with pytest.raises(PointsmanError, match="--trace, --vfsms are about hardware, and --dry runs without any"):
        refuse_hardware_options({"trace": "x", "vfsms": 3})
