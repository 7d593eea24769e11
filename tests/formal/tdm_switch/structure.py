"""Paths that must not be in the netlist."""

from __future__ import annotations

from pathlib import Path

from cosim.formal.paths import paths
from tdm_switch.emit import SWITCH_MODULE, switch_verilog
from tdm_switch.shape import SwitchShape


def no_path(shape: SwitchShape, folder: Path) -> list[str]:
    """No output of the switch depends on an input in the same cycle: what a processor may do is known when the cycle begins."""
    return paths(switch_verilog(shape), SWITCH_MODULE, folder)
