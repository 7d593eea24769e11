"""Clock and critical path from a report of nextpnr."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pointsman.fpga.netlist import Names
from pointsman.fpga.timing import read_report
from pointsman.fpga.tools import ToolError

CLOCK = "$glbnet$clk$TRELLIS_IO_IN"


def part(kind: str, delay: float, cell: str, net: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": kind, "delay": delay, "to": {"cell": cell, "port": "D", "loc": [1, 2]}}
    return found if net is None else {**found, "net": net}


def report(**clocks: float) -> dict[str, Any]:
    edge = f"posedge {CLOCK}"
    path = [
        part("clk-to-q", 0.4, "dut.a_TRELLIS_FF_Q"),
        part("routing", 1.25, "dut.a_LUT4_A", "dut.a"),
        part("logic", 0.18, "dut.a_LUT4_A"),
        part("routing", 0.5, "dut.b_TRELLIS_FF_Q", "dut.a_LUT4_A_Z"),
        part("setup", 0.0, "dut.b_TRELLIS_FF_Q"),
    ]
    others = [{"from": "<async>", "to": edge, "path": path[:2]}, {"from": edge, "to": "<async>", "path": path[2:]}]
    return {
        "fmax": {name: {"achieved": mhz, "constraint": 300} for name, mhz in clocks.items()},
        "critical_paths": [others[0], {"from": edge, "to": edge, "path": path}, others[1]],
        "utilization": {},
    }


@pytest.fixture
def names() -> Names:
    def register(name: str, line: int, bit: int) -> dict[str, Any]:
        source = f"{name}@hdl/x.py:{line}|/share/y.v:1"
        return {"type": "TRELLIS_FF", "attributes": {"src": source}, "connections": {"Q": [bit]}}

    module = {
        "ports": {},
        "cells": {"a_TRELLIS_FF_Q": register("stage.a", 3, 1), "b_TRELLIS_FF_Q": register("stage.b", 4, 2)},
        "netnames": {"a": {"bits": [1], "attributes": {}}},
    }
    return Names({"modules": {"dut": module}}, "dut", "dut")


def test_the_path_from_register_to_register_is_told_in_our_names(names: Names) -> None:
    timing = read_report(json.dumps(report(**{CLOCK: 429.0})), 7, names)
    assert (timing.seed, timing.mhz) == (7, 429.0)
    assert timing.path.as_json() == {
        "seed": 7,
        "ns": 2.33,
        "from": "stage.a",
        "to": "stage.b",
        "levels": 1,
        "logic_ns": 0.58,
        "routing_ns": 1.75,
        "steps": [
            {"kind": "clk-to-q", "ns": 0.4, "signal": "stage.a", "source": "hdl/x.py:3"},
            {"kind": "routing", "ns": 1.25, "signal": "stage.a", "source": "hdl/x.py:3"},
            {"kind": "logic", "ns": 0.18},
            {"kind": "routing", "ns": 0.5, "logic_near": "stage.a", "source": "hdl/x.py:3"},
            {"kind": "setup", "ns": 0.0, "signal": "stage.b", "source": "hdl/x.py:4"},
        ],
    }


def test_a_report_that_does_not_tell_one_clock_is_refused(names: Names) -> None:
    with pytest.raises(ToolError, match=r"^the design must have one clock, and nextpnr reports 2$"):
        read_report(json.dumps(report(**{CLOCK: 100.0, "other": 50.0})), 1, names)
    for text in ("", "{}", "[]", json.dumps({"fmax": {CLOCK: {"achieved": 3}}, "critical_paths": []})):
        with pytest.raises(ToolError, match=r"report of nextpnr cannot be understood|one clock"):
            read_report(text, 1, names)
