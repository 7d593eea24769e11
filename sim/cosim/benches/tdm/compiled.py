"""Compiled connection tables for the bench ``tables``: the programs of ``cosim.benches.programs`` in every mode of the switch."""

from __future__ import annotations

from pathlib import Path

from cosim.benches.programs import programs
from pointsman.artifacts.tables import write_tables
from pointsman.artifacts.tables.tables import MODES
from pointsman.cop import compile_text
from pointsman.network import Topology
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape


def prepare(topology: Topology, shape: SwitchShape, folder: Path) -> None:
    """Compile programs for the switch, in each mode, into ``folder``."""
    for program in programs(topology):
        compiled = compile_text(
            program.text(), file=f"{program.name}.cop", topology=topology, parameters=program.parameters()
        )
        for mode in MODES:
            tables = make_tables(compiled, shape, mode=mode, name=program.name)
            write_tables(tables, folder / tables_file(program.name, mode))


def tables_file(name: str, mode: str) -> str:
    return f"{name}-{mode}.tables"
