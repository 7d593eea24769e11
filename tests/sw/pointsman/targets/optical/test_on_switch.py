"""Optical networks as tables of a switch."""

from __future__ import annotations

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh, torus
from pointsman.targets.optical import make_optical, on_switch, switch_tables
from pointsman.verify.configurations import check_configurations
from pointsman.verify.tables import check_tables

TEXTS = (
    "(cshift 'c 1 :m 4)",
    "(reduce 'r 0 :m 3)",
    "(sequential (broadcast 'b (runtime) :m 2) (cshift 'c 1 :m 2))",
    "(permute 'p (runtime) :m 2)",
)


@pytest.mark.parametrize("topology", [torus(4), mesh(3), mesh(2), torus(2, 2)], ids=repr)
@pytest.mark.parametrize("text", TEXTS)
def test_registers_are_configurations_of_the_network(topology, text):
    program = compile_text(text, topology=topology, mode="tdm")
    made = make_optical(program)
    found = switch_tables(program, made)
    assert found is not None
    tables, configurations = found
    assert check_tables(tables) == []
    assert check_configurations(configurations) == []
    (everything,) = tables.sets
    assert tables.shape.slots == configurations.degree
    assert (tables.shape.slot_cycles, tables.shape.guard_cycles) == (1, 0)
    between = {pair for pair in everything.pairs if pair[0] != pair[1]}
    assert between == {pair for one in made.sets for pair in one.problem.connections}
    for row, part in zip(everything.configurations, configurations.configurations, strict=True):
        assert {pair for pair in row if pair[0] != pair[1]} == set(part)


def test_too_many_channels_or_ports_are_none(monkeypatch):
    program = compile_text("(permute 'p (runtime) :m 2)", topology=torus(4), mode="tdm")
    made = make_optical(program)
    for name in ("MOST_SLOTS", "MOST_PORTS"):
        with monkeypatch.context() as patch:
            patch.setattr(on_switch, name, 2)
            assert switch_tables(program, made) is None
