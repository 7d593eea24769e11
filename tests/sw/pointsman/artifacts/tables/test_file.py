"""The file of connection tables gives back what was written; whatever else stands in it is refused with its place."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from pointsman.artifacts.container import ImageError, Section, pack_sections, unpack_sections
from pointsman.artifacts.tables import ConnectionTables, read_tables, tables_from_bytes, tables_to_bytes, write_tables
from pointsman.artifacts.tables.file import KIND, PROGRAM, SWITCH
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Link, Topology, mesh, torus
from pointsman.network.faults import with_faults
from pointsman.network.lattice import diamond
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape

TEXT = """
(parameter words 8)
(loop 'l 9
  (broadcast 'b (runtime :values '(0 2)) :m words :valid '(0 1 2))
  (reduce 'r 'add 2 :type 'float64* :m 4)
  (stream 's 0 (runtime :dynamic t))
  (permute 'p '(1 0 3 2)) (seqread 'q '(1 2) 0))
"""


def ring(nodes: int) -> Topology:
    return Topology("graph", (nodes,), tuple(sorted(Link(k, 0, (k + 1) % nodes, 1) for k in range(nodes))))


@pytest.fixture(scope="module")
def tables() -> ConnectionTables:
    return make_tables(compile_text(TEXT, topology=mesh(2, 2)), SwitchShape(ports=5), mode="hybrid", name="t")


def test_tables_come_back_as_they_were(tables: ConnectionTables, tmp_path: Path) -> None:
    assert tables_from_bytes(tables_to_bytes(tables)) == tables
    assert tables_to_bytes(tables) == tables_to_bytes(tables)
    write_tables(tables, tmp_path / "t.tables")
    assert read_tables(tmp_path / "t.tables", shape=SwitchShape(ports=5)) == tables


@pytest.mark.parametrize(
    "topology",
    [torus(2, 2), diamond(2), ring(5), with_faults(mesh(5), nodes=[2], apart=True)],
    ids=["torus", "diamond", "graph", "faulty"],
)
def test_tables_for_any_network_come_back(topology: Topology) -> None:
    program = compile_text("(broadcast 'b 0)", topology=topology)
    tables = make_tables(program, SwitchShape(ports=topology.nodes))
    assert tables_from_bytes(tables_to_bytes(tables)) == tables


def test_every_changed_bit_is_found(tables: ConnectionTables) -> None:
    data = tables_to_bytes(tables)
    chance = random.Random(1)
    for _ in range(300):
        at = chance.randrange(len(data))
        spoilt = bytearray(data)
        spoilt[at] ^= 1 << chance.randrange(8)
        with pytest.raises(ImageError):
            tables_from_bytes(bytes(spoilt))


def test_every_shortened_file_is_found(tables: ConnectionTables) -> None:
    data = tables_to_bytes(tables)
    for length in [0, 1, 7, 8, 63, 64, *range(65, len(data), 97)]:
        with pytest.raises(ImageError):
            tables_from_bytes(data[:length])
    with pytest.raises(ImageError, match="followed by other bytes"):
        tables_from_bytes(data + b"\0")


def test_an_image_is_no_table_and_says_so(tables: ConnectionTables) -> None:
    data = pack_sections([Section(1, 0, b"")], bytes(32))
    with pytest.raises(ImageError, match="a connection table file must start with"):
        tables_from_bytes(data)


def test_tables_of_another_shape_are_refused(tables: ConnectionTables) -> None:
    with pytest.raises(ImageError, match="for a switch with slots 8, not 4"):
        tables_from_bytes(tables_to_bytes(tables), shape=SwitchShape(ports=5, slots=8))


def resealed(tables: ConnectionTables, section: int, change: Callable[[dict], None]) -> bytes:
    """The file with the plain values of a section changed, and sums that fit."""
    sections, digest = unpack_sections(tables_to_bytes(tables), file=None, name=lambda k, i: f"{k} {i}", kind=KIND)
    plain = msgspec.msgpack.decode(sections[section].data)
    change(plain)
    sections[section] = replace(sections[section], data=msgspec.msgpack.encode(plain))
    return pack_sections(sections, digest, kind=KIND)


def _put(*path: str | int) -> Callable[[dict], None]:
    *way, last, value = path

    def change(plain: dict) -> None:
        for step in way:
            plain = plain[step]  # type: ignore[index]
        plain[last] = value  # type: ignore[index]

    return change


INSTANCE = ("operators", 0, "operator", "instances", 0)


@pytest.mark.parametrize(
    ("section", "change", "message"),
    [
        (SWITCH - 1, _put("shape", "ports", 0), "ports must be 1 to 128, not 0"),
        (SWITCH - 1, _put("shape", "slots", 5), "the digest of the shape must be"),
        (SWITCH - 1, _put("size", [9, 9]), "at most 5 nodes, one for each port"),
        (SWITCH - 1, _put("size", [1 << 60, 1 << 60]), "at most 5 nodes"),
        (SWITCH - 1, _put("kind", "web"), "a network must be a mesh, torus, diamond or graph, not 'web'"),
        (SWITCH - 1, _put("dead", [2, 1]), "faulty nodes must be nodes of 0..3 in order, not (2, 1)"),
        (SWITCH - 1, _put("dead", [4]), "faulty nodes must be nodes of 0..3 in order, not (4,)"),
        (PROGRAM - 1, _put("mode", "magic"), "does not have the form of this section"),
        (PROGRAM - 1, _put("registers", 5), "registers of the tables must be 0 to 4, not 5"),
        (PROGRAM - 1, _put("timeout", 256), "a time-out must be 0 to 255 cycles, not 256"),
        (PROGRAM - 1, _put("operators", 0, "sets", [99, 99]), "a set of operator 'b' must be 0 to"),
        (PROGRAM - 1, _put("operators", 0, "sets", [0]), "must have a set for each of its 2 values, not 1"),
        (PROGRAM - 1, _put("operators", 0, "phase", -1), "the phase of operator 'b' must be 0 to"),
        (PROGRAM - 1, _put("operators", 0, "values", [[0], [4]]), "source of 'b' must be 0 to 3, not 4"),
        (PROGRAM - 1, _put("operators", 0, "values", [[0], [1, 2]]), "must have 1 numbers, not 2"),
        (PROGRAM - 1, _put("operators", 0, "operator", "kind", "shout"), "of a kind that there is, not 'shout'"),
        (PROGRAM - 1, _put("operators", 0, "operator", "m", 1 << 40), "must have 1 to 16777216 words"),
        (PROGRAM - 1, _put("operators", 0, "operator", "valid", [7]), "a valid node of 'b' must be 0 to 3, not 7"),
        (PROGRAM - 1, _put(*INSTANCE, "nodes", [0, 0, 1, 2]), "must have nodes, each once"),
        (PROGRAM - 1, _put(*INSTANCE, "nodes", [0, 1, 2, 77]), "a node of operator 'b' must be 0 to 3, not 77"),
        (PROGRAM - 1, _put(*INSTANCE, "operands", []), "operator 'b' must have the operands source"),
        (PROGRAM - 1, _put("operators", 1, "operator", "type", "name", "int7"), "must have a type that there is"),
        (PROGRAM - 1, _put("phases", 0, "operators", [55]), "an operator of phase 0 must be 0 to 4, not 55"),
        (2, _put("configurations", [[[0, 9]], [], []]), "a connection must join ports 0 to 4, not (0, 9)"),
        (2, _put("configurations", []), "a set must have 3 configurations"),
        (2, _put("dynamic", [[0, -1]]), "a connection must join ports 0 to 4"),
    ],
)
def test_numbers_that_the_run_time_could_not_bear_are_refused(
    tables: ConnectionTables, section: int, change: Callable[[dict], None], message: str
) -> None:
    with pytest.raises(PointsmanError) as caught:
        tables_from_bytes(resealed(tables, section, change))
    assert message in str(caught.value)


def test_sections_must_stand_in_their_order(tables: ConnectionTables) -> None:
    sections, digest = unpack_sections(tables_to_bytes(tables), file=None, name=lambda k, i: f"{k} {i}", kind=KIND)
    swapped = pack_sections([sections[1], sections[0], *sections[2:]], digest, kind=KIND)
    with pytest.raises(ImageError, match="this must be the switch, not kind 2"):
        tables_from_bytes(swapped)
    with pytest.raises(ImageError, match="must have 2 sections and one for each"):
        tables_from_bytes(pack_sections(sections[:1], digest, kind=KIND))
