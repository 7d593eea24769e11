"""The file of connection tables; docs/tdm_target.md describes it. Its container is the same as for image files.

Equal tables give equal bytes. The bytes read must be those that Pointsman would write, and every number must be in its
range, so that a file can harm neither the run time nor the switch. Leaves to the judge (``verify.tables``) whether the
tables do what the program needs.
"""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path

import msgspec

from pointsman.artifacts.container import FileKind, ImageError, Section, pack_sections, read_file, unpack_sections
from pointsman.artifacts.sections import SectionReader, encode_section, shape_differences, shape_digest
from pointsman.files import write_whole
from pointsman.network import Link, Topology
from pointsman.network.topology import MAX_NODES
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator, Runtime
from tdm_switch.shape import ShapeError, SwitchShape

from .tables import ConnectionTables, Mode, OperatorTable, Pair, PhaseTable, WorkingSet

KIND = FileKind(b"\x89PtsTab\n", 2, "connection table")
SWITCH, PROGRAM, SET = 1, 2, 3
"""Kinds of sections. There is a SET section for each working set, with the number of the set as index."""
MAX_SETS = 65_536
MAX_WORDS = 1 << 24
"""Longest message that a table may ask for, in words."""


class _Switch(msgspec.Struct):
    shape: dict[str, int | bool | str]
    kind: str
    size: tuple[int, ...]
    links: tuple[tuple[int, int, int, int], ...]
    dead: tuple[int, ...] = ()


class _Program(msgspec.Struct):
    name: str
    parameters: tuple[tuple[str, int], ...]
    mode: Mode
    registers: int
    timeout: int
    loops: tuple[str, ...]
    operators: tuple[OperatorTable, ...]
    phases: tuple[PhaseTable, ...]
    notes: tuple[str, ...]


def write_tables(tables: ConnectionTables, path: str | os.PathLike[str]) -> None:
    """Write ``tables`` to the file ``path``: all of it or nothing.

    Raises
    ------
    ImageError
        If the tables do not fit the format.
    PointsmanError
        If the file cannot be written.
    """
    write_whole(Path(path), tables_to_bytes(tables))


def read_tables(path: str | os.PathLike[str], *, shape: SwitchShape | None = None) -> ConnectionTables:
    """Read a file of connection tables.

    Parameters
    ----------
    path : path
        The file.
    shape : SwitchShape or None
        The switch that the tables must be for; None: any.

    Raises
    ------
    ImageError
        If the file cannot be read, any bit of it is wrong, or it is for another switch.
    """
    return tables_from_bytes(read_file(path, KIND), name=os.fspath(path), shape=shape)


def tables_to_bytes(tables: ConnectionTables) -> bytes:
    """The file as bytes."""
    links = tuple((link.node, link.port, link.other, link.other_port) for link in tables.topology.links)
    dead = tuple(sorted(tables.topology.dead))
    switch = _Switch(tables.shape.as_dict(), tables.topology.kind, tables.topology.size, links, dead)
    program = _Program(**{name: getattr(tables, name) for name in _Program.__struct_fields__})
    sections = [
        Section(SWITCH, 0, encode_section(switch, _Switch, "switch")),
        Section(PROGRAM, 0, encode_section(program, _Program, "program")),
        *(Section(SET, i, encode_section(one, WorkingSet, f"set {i}")) for i, one in enumerate(tables.sets)),
    ]
    return pack_sections(sections, shape_digest(tables.shape), kind=KIND)


def tables_from_bytes(data: bytes, *, name: str | None = None, shape: SwitchShape | None = None) -> ConnectionTables:
    """The tables of a file given as bytes; ``name`` stands in messages. See ``read_tables``."""
    sections, digest = unpack_sections(data, file=name, name=_section_name, kind=KIND)
    reader = _TablesReader(name, sections)
    reader.expect_sections()
    found, topology = reader.switch(digest)
    if shape is not None and shape != found:
        reader.fail(
            f"the tables must be for a switch with {shape_differences(shape, found)}",
            sections[0],
            hint="compile the program for this switch, or choose the switch that it was compiled for",
        )
    program = reader.decode(sections[1], _Program)
    sets = tuple(reader.decode(section, WorkingSet) for section in sections[2:])
    tables = ConnectionTables(
        **{field: getattr(program, field) for field in _Program.__struct_fields__},
        topology=topology,
        shape=found,
        sets=sets,
    )
    reader.check_program(tables)
    for section, one in zip(sections[2:], sets, strict=True):
        reader.check_set(tables, one, section)
    return tables


def _section_name(kind: int, index: int) -> str:
    if kind in (SWITCH, PROGRAM):
        return "switch" if kind == SWITCH else "program"
    return f"set {index}" if kind == SET else f"section of unknown kind {kind}"


class _TablesReader(SectionReader):
    def name(self, kind: int, index: int) -> str:
        return _section_name(kind, index)

    def expect_sections(self) -> None:
        """Check that the sections are the switch, the program, and then every set in order."""
        sections = self.sections
        if not 2 <= len(sections) <= 2 + MAX_SETS:
            raise ImageError(
                f"a connection table file must have 2 sections and one for each of at most {MAX_SETS} sets, "
                f"not {len(sections)}",
                file=self.file,
                section="header",
                offset=16,
            )
        self.expect_order([(SWITCH, 0), (PROGRAM, 0), *((SET, i) for i in range(len(sections) - 2))])

    def switch(self, digest: bytes) -> tuple[SwitchShape, Topology]:
        section = self.sections[0]
        switch = self.decode(section, _Switch)
        names = [field.name for field in fields(SwitchShape)]
        if list(switch.shape) != names:
            self.fail(f"a shape must have {', '.join(names)}, not {', '.join(switch.shape)}", section)
        try:
            shape = SwitchShape(**switch.shape)  # type: ignore[arg-type]
        except ShapeError as error:
            self.fail(str(error), section)
        if shape_digest(shape) != digest:
            self.fail(f"the digest of the shape must be {shape_digest(shape).hex()}, not {digest.hex()}", section)
        if switch.kind not in ("mesh", "torus", "diamond", "graph"):
            self.fail(f"a network must be a mesh, torus, diamond or graph, not {switch.kind!r}", section)
        nodes = 1
        for extent in switch.size:
            nodes = nodes * extent if extent > 0 and nodes <= MAX_NODES else 0
        if not 1 <= len(switch.size) <= (3 if switch.kind in ("mesh", "torus") else 1) or not 1 <= nodes <= shape.ports:
            self.fail(
                f"a {switch.kind} must have 1 to 3 dimensions and at most {shape.ports} nodes, one for each port, "
                f"not {switch.size[:4]}",
                section,
            )
        for node, port, other, other_port in switch.links:
            ports = 0 <= port < MAX_NODES and 0 <= other_port < MAX_NODES
            if not (0 <= node < nodes and 0 <= other < nodes and node != other and ports):
                self.fail(f"a link must join two different nodes of 0..{nodes - 1}, not {node} and {other}", section)
        if list(switch.dead) != sorted({node for node in switch.dead if 0 <= node < nodes}):
            self.fail(f"faulty nodes must be nodes of 0..{nodes - 1} in order, not {switch.dead[:4]}", section)
        links = tuple(Link(*link) for link in switch.links)
        return shape, Topology(switch.kind, switch.size, links, frozenset(switch.dead))

    def check_program(self, tables: ConnectionTables) -> None:
        section = self.sections[1]
        if not 0 <= tables.registers <= tables.slots:
            self.fail(f"registers of the tables must be 0 to {tables.slots}, not {tables.registers}", section)
        most = (1 << tables.shape.age_bits) - 1
        if not 0 <= tables.timeout <= most:
            self.fail(f"a time-out must be 0 to {most} cycles, not {tables.timeout}", section)
        for number, phase in enumerate(tables.phases):
            self._within(f"a set of phase {number}", phase.sets, len(tables.sets))
            self._within(f"an operator of phase {number}", phase.operators, len(tables.operators))
        labels = [one.operator.label for one in tables.operators]
        if len(set(labels)) != len(labels):
            self.fail("each operator must have a label of its own", section)
        for one in tables.operators:
            self._within(f"the phase of operator '{one.operator.label}'", (one.phase,), len(tables.phases))
            self._within(f"a set of operator '{one.operator.label}'", one.sets, len(tables.sets))
            if len(one.sets) != len(one.values) or not one.values:
                self.fail(
                    f"operator '{one.operator.label}' must have a set for each of its {len(one.values)} values, "
                    f"not {len(one.sets)}",
                    section,
                )
            self._connections(tables, one.marked, section)
            self._operator(one, tables.topology.nodes)
        for one in tables.operators:
            if one.agreement != -1:
                self._within(
                    f"the agreement of operator '{one.operator.label}'", (one.agreement,), len(tables.operators)
                )
                self._agreement(one, tables.operators[one.agreement])

    def _within(self, what: str, numbers: tuple[int, ...], count: int) -> None:
        for number in numbers:
            if not 0 <= number < count:
                self.fail(f"{what} must be 0 to {count - 1}, not {number}", self.sections[1])

    def _operator(self, one: OperatorTable, nodes: int) -> None:
        """Check everything that the run time takes for granted about an operator."""
        operator, section = one.operator, self.sections[1]
        spec = OPERATORS.get(operator.kind)
        if spec is None:
            self.fail(f"operator '{operator.label}' must be of a kind that there is, not {operator.kind!r}", section)
        if not operator.instances:
            self.fail(f"operator '{operator.label}' must have an instance", section)
        if not 1 <= operator.m <= MAX_WORDS or operator.m % operator.type.words:
            self.fail(f"a message of '{operator.label}' must have 1 to {MAX_WORDS} words, not {operator.m}", section)
        if operator.type.name not in ("int32", "float32", "int64", "float64"):
            self.fail(
                f"operator '{operator.label}' must have a type that there is, not {operator.type.name!r}", section
            )
        wanted = [operand.name for operand in spec.operands]
        for instance in operator.instances:
            self._within(f"a node of operator '{operator.label}'", instance.nodes, nodes)
            size = len(instance.nodes)
            if not size or len(set(instance.nodes)) != size:
                self.fail(f"an instance of '{operator.label}' must have nodes, each once", section)
            if [name for name, _ in instance.operands] != wanted:
                self.fail(f"operator '{operator.label}' must have the operands {', '.join(wanted) or 'none'}", section)
            for operand in spec.operands:
                self._operand(operator, operand.sort, instance.operand(operand.name), size)
        self._within(f"a valid node of '{operator.label}'", operator.valid or (), len(operator.instances[0].nodes))
        if operator.valid == ():
            self.fail(f"operator '{operator.label}' must have a valid node", section)
        chosen = [
            operand
            for operand in spec.operands
            if operand.sort in ("node", "distance") and isinstance(operator.instances[0].operand(operand.name), Runtime)
        ]
        smallest = min(len(instance.nodes) for instance in operator.instances)
        for value in one.values:
            if len(value) != len(chosen):
                self.fail(f"a value of '{operator.label}' must have {len(chosen)} numbers, not {len(value)}", section)
            for operand, number in zip(chosen, value, strict=True):
                if operand.sort == "node":
                    self._within(f"{operand.name} of '{operator.label}'", (number,), smallest)

    def _agreement(self, one: OperatorTable, other: OperatorTable) -> None:
        """Check that an operator's nodes can agree by another: an allreduce of the same nodes with a word for each unknown."""
        operator, hidden = one.operator, other.operator
        sorts = {operand.name: operand.sort for operand in OPERATORS[operator.kind].operands}
        most = max(len(instance.nodes) for instance in operator.instances)
        words = sum(
            most if sorts[name] == "permutation" else 1
            for name, value in operator.instances[0].operands
            if isinstance(value, Runtime) and value.distributed and not value.dynamic
        )
        same = [instance.nodes for instance in operator.instances] == [instance.nodes for instance in hidden.instances]
        if hidden.kind != "allreduce" or not same or hidden.m != words or other.agreement != -1 or not words:
            self.fail(
                f"the nodes of operator '{operator.label}' must agree by an allreduce of their own with {words} words, "
                f"not by '{hidden.label}'",
                self.sections[1],
            )

    def _operand(self, operator: Operator, sort: str, value: object, size: int) -> None:
        what, section = f"an operand of '{operator.label}'", self.sections[1]
        if isinstance(value, Runtime):
            return
        if sort == "node" and isinstance(value, int):
            self._within(what, (value,), size)
        elif sort == "nodes" and isinstance(value, tuple):
            self._within(what, value, size)
        elif sort == "permutation" and isinstance(value, tuple):
            if sorted(value) != list(range(size)):
                self.fail(f"{what} must name every node once", section)
        elif not (sort == "distance" and isinstance(value, int)) and not (
            sort == "function" and (value is None or isinstance(value, str))
        ):
            self.fail(f"{what} must be a {sort}, not {value!r}", section)

    def check_set(self, tables: ConnectionTables, one: WorkingSet, section: Section) -> None:
        if len(one.configurations) != tables.registers:
            self.fail(
                f"a set must have {tables.registers} configurations, one for each register of the tables, "
                f"not {len(one.configurations)}",
                section,
            )
        if one.in_turn and not tables.registers:
            self.fail("configurations in turn must have a register", section)
        for part in (*one.configurations, one.dynamic, one.hold, *one.in_turn):
            self._connections(tables, part, section)

    def _connections(self, tables: ConnectionTables, part: tuple[Pair, ...], section: Section) -> None:
        for pair in part:
            if not all(0 <= port < tables.ports for port in pair):
                self.fail(f"a connection must join ports 0 to {tables.ports - 1}, not {pair}", section)
