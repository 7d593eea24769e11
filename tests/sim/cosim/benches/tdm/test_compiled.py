"""Compiled connection tables of the bench: one file for each program and mode, read back as they were made."""

from __future__ import annotations

from pathlib import Path

import pytest

from cosim.benches.bench import FOUR_NODES
from cosim.benches.programs import programs
from cosim.benches.tdm.catalogue import SWITCH_TABLES
from cosim.benches.tdm.compiled import prepare, tables_file
from pointsman.artifacts.tables import read_tables
from pointsman.artifacts.tables.tables import MODES


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("tables")
    prepare(FOUR_NODES, SWITCH_TABLES, made)
    return made


def test_there_is_a_file_for_each_program_and_mode(folder: Path) -> None:
    names = {tables_file(program.name, mode) for program in programs(FOUR_NODES) for mode in MODES}
    assert {path.name for path in folder.iterdir()} == names
    assert len(names) == len(programs(FOUR_NODES)) * len(MODES)


@pytest.mark.parametrize("mode", MODES)
def test_tables_are_of_their_mode_and_their_sets_fit_the_switch(mode: str, folder: Path) -> None:
    for program in programs(FOUR_NODES):
        tables = read_tables(folder / tables_file(program.name, mode), shape=SWITCH_TABLES)
        assert (tables.name, tables.mode, tables.topology) == (program.name, mode, FOUR_NODES)
        assert tables.sets
        for working in tables.sets:
            assert len(working.configurations) <= tables.registers <= SWITCH_TABLES.slots
            for pairs in working.configurations:
                assert len({u for u, _ in pairs}) == len({v for _, v in pairs}) == len(pairs)
        if mode == "preload":
            assert not any(working.dynamic for working in tables.sets)
        if mode == "dynamic":
            assert not any(pairs for working in tables.sets for pairs in working.configurations)
