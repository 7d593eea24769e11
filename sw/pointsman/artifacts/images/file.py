"""The file of a compiled program's images. docs/image_format.md describes every byte.

Takes ``Images`` and gives bytes, and back; equal images give equal bytes. Judges nothing: images that break a rule of
the hardware can be written and read as long as their numbers fit the fields (``pointsman.verify.images`` is the
judge). Every bit that is read must be as Pointsman would write it.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable
from dataclasses import fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar, get_type_hints

import msgspec

from numesh.codes import LOOKAHEAD, SHORTEST_LOOP, Annotation, Codes, ScheduleEntry
from numesh.shape import NodeShape, ShapeError
from pointsman.artifacts.container import ImageError, Section, pack_sections, read_file, unpack_sections
from pointsman.artifacts.sections import SectionReader, encode_section, shape_differences, shape_digest
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.network import Link, Topology
from pointsman.network.topology import MAX_NODES

from .images import (
    Images,
    NodeImage,
    NodeOperator,
    NodePhase,
    OperatorImage,
    PhaseImage,
    Promise,
    ReplacedImage,
    Rewrite,
    listed_fields,
)

T = TypeVar("T")

NETWORK, PROGRAM, SCHEDULE, TABLES, LISTING = 1, 2, 3, 4, 5
"""Kinds of sections. There is a SCHEDULE and a TABLES section for each node, with the node's number as index."""


def _unlisted(kind: type) -> Any:
    """A structure with the fields of a class but those that are listed."""
    types = get_type_hints(kind)
    kept = [one.name for one in fields(kind) if one.name not in listed_fields(kind)]
    return msgspec.defstruct(f"_{kind.__name__}", [(name, types[name]) for name in kept])


if TYPE_CHECKING:
    _Operator: TypeAlias = OperatorImage
    _Phase: TypeAlias = PhaseImage
    _Promise: TypeAlias = Promise
    _Replaced: TypeAlias = ReplacedImage
else:
    _Operator, _Phase, _Promise, _Replaced = map(_unlisted, (OperatorImage, PhaseImage, Promise, ReplacedImage))


class _Network(msgspec.Struct, omit_defaults=True):
    shape: dict[str, int | bool]
    kind: str
    size: tuple[int, ...]
    links: tuple[tuple[int, int, int, int], ...]
    dead: tuple[int, ...] = ()


class _Program(msgspec.Struct):
    period: int
    parameters: tuple[tuple[str, int], ...]
    loops: tuple[str, ...]
    operators: tuple[_Operator, ...]
    phases: tuple[_Phase, ...]
    promises: tuple[_Promise, ...]
    passages: tuple[tuple[int, int, int, tuple[int, ...]], ...]
    replaced: tuple[_Replaced, ...]


class _Listing(msgspec.Struct):
    """The listed fields of the images, and of each operator, phase, promise and replaced operator in order."""

    images: tuple[str, tuple[str, ...]]
    operators: tuple[tuple[str, float, str], ...]
    phases: tuple[tuple[str, str], ...]
    promises: tuple[tuple[str], ...]
    replaced: tuple[tuple[str, str], ...]


class _Tables(msgspec.Struct, omit_defaults=True):
    settle: tuple[tuple[tuple[int, int], ...], ...]
    """``NodePhase.settle`` of each phase in the schedule section."""
    operators: tuple[tuple[int, NodeOperator], ...]
    ways: tuple[tuple[int, int], ...] = ()
    second: tuple[tuple[tuple[int, ...], ...], ...] = ()
    """``NodePhase.second`` of each phase in the schedule section; empty if no phase has a second schedule."""


def write_images(images: Images, path: str | os.PathLike[str]) -> None:
    """Write ``images`` to the file ``path``: all of it or nothing.

    Raises
    ------
    ImageError
        If the images do not fit the format.
    PointsmanError
        If the file cannot be written.
    """
    write_whole(Path(path), images_to_bytes(images))


def read_images(path: str | os.PathLike[str], *, shape: NodeShape | None = None) -> Images:
    """Read an image file.

    Parameters
    ----------
    path : path
        The file.
    shape : NodeShape or None
        The node shape that the images must be for; None: any.

    Raises
    ------
    ImageError
        If the file cannot be read, any bit of it is wrong, or it is for another shape.
    """
    return images_from_bytes(read_file(path), name=os.fspath(path), shape=shape)


def images_to_bytes(images: Images) -> bytes:
    """The image file as bytes.

    Raises
    ------
    ImageError
        If a number does not fit its field in the hardware's memories.
    """
    if len(images.nodes) != images.topology.nodes:
        raise ImageError(
            f"images must be given for {images.topology.nodes} nodes, not {len(images.nodes)}",
            section="program",
        )
    codes = Codes(images.shape)
    sections = [Section(NETWORK, 0, _network_bytes(images)), Section(PROGRAM, 0, _program_bytes(images))]
    for node, image in enumerate(images.nodes):
        try:
            sections.append(Section(SCHEDULE, node, _schedule_bytes(images, image, codes)))
        except (ValueError, TypeError, IndexError, AttributeError, struct.error, OverflowError) as error:
            raise ImageError(f"cannot be written: {error}", section=_section_name(SCHEDULE, node)) from error
    for node, image in enumerate(images.nodes):
        second = tuple(phase.second for phase in image.phases) if any(phase.second for phase in image.phases) else ()
        tables = _Tables(tuple(phase.settle for phase in image.phases), image.operators, image.ways, second)
        sections.append(Section(TABLES, node, encode_section(tables, _Tables, _section_name(TABLES, node))))
    sections.append(Section(LISTING, 0, _listing_bytes(images)))
    return pack_sections(sections, shape_digest(images.shape))


def images_from_bytes(data: bytes, *, name: str | None = None, shape: NodeShape | None = None) -> Images:
    """The images of a file given as bytes; ``name`` stands in messages. See ``read_images``."""
    sections, digest = unpack_sections(data, file=name, name=_section_name)
    reader = _ImageReader(name, sections)
    reader.expect_sections()
    found, topology = reader.network(digest)
    if shape is not None and shape != found:
        reader.fail(
            f"the images must be for nodes with {shape_differences(shape, found)}",
            sections[0],
            hint="compile the program for this hardware, or choose the hardware that it was compiled for",
        )
    if len(sections) != 3 + 2 * topology.nodes:
        reader.fail(
            f"images of {topology.nodes} nodes must have {3 + 2 * topology.nodes} sections, not {len(sections)}",
            sections[0],
        )
    program = reader.decode(sections[1], _Program)
    listing = reader.listing(program)
    codes = Codes(found)
    nodes = []
    for node in range(topology.nodes):
        tables_section = sections[2 + topology.nodes + node]
        tables = reader.decode(tables_section, _Tables)
        phases = _ScheduleReader(reader, sections[2 + node], codes, program).read()
        if len(tables.settle) != len(phases):
            reader.fail(
                f"settling times must be given for {len(phases)} phases, not {len(tables.settle)}",
                tables_section,
            )
        if tables.second and (len(tables.second) != len(phases) or not any(tables.second)):
            reader.fail(
                f"second schedules must be given for {len(phases)} phases, one at least, not {len(tables.second)}",
                tables_section,
            )
        nodes.append(
            NodeImage(
                tuple(
                    NodePhase(phase, rows, annotations, settle, second)
                    for (phase, rows, annotations), settle, second in zip(
                        phases, tables.settle, tables.second or ((),) * len(phases), strict=True
                    )
                ),
                tables.operators,
                tables.ways,
            )
        )
    title, notes = listing.images
    return Images(
        shape=found,
        topology=topology,
        period=program.period,
        name=title,
        parameters=program.parameters,
        loops=program.loops,
        operators=_with_listing(OperatorImage, program.operators, listing.operators),
        phases=_with_listing(PhaseImage, program.phases, listing.phases),
        nodes=tuple(nodes),
        promises=_with_listing(Promise, program.promises, listing.promises),
        passages=program.passages,
        notes=notes,
        replaced=_with_listing(ReplacedImage, program.replaced, listing.replaced),
    )


def _with_listing(kind: type[T], unlisted: tuple[Any, ...], listed: tuple[tuple[Any, ...], ...]) -> tuple[T, ...]:
    names = listed_fields(kind)
    return tuple(
        kind(**msgspec.structs.asdict(one), **dict(zip(names, said, strict=True)))
        for one, said in zip(unlisted, listed, strict=True)
    )


# -- writing ---------------------------------------------------------------------------------------------


def _network_bytes(images: Images) -> bytes:
    links = tuple((link.node, link.port, link.other, link.other_port) for link in images.topology.links)
    network = _Network(
        images.shape.as_dict(), images.topology.kind, images.topology.size, links, tuple(sorted(images.topology.dead))
    )
    return encode_section(network, _Network, "network")


def _program_bytes(images: Images) -> bytes:
    values: dict[str, Any] = {field: getattr(images, field) for field in _Program.__struct_fields__}
    structs: dict[str, Any] = {"operators": _Operator, "phases": _Phase, "promises": _Promise, "replaced": _Replaced}
    for field, kind in structs.items():
        names = kind.__struct_fields__
        values[field] = tuple(kind(*[getattr(one, name) for name in names]) for one in values[field])
    return encode_section(_Program(**values), _Program, "program")


def _listing_bytes(images: Images) -> bytes:
    parts: list[tuple[type, Any]] = [
        (Images, (images,)),
        (OperatorImage, images.operators),
        (PhaseImage, images.phases),
        (Promise, images.promises),
        (ReplacedImage, images.replaced),
    ]
    ((whole,), *rows) = (_rows(listed_fields(kind), part) for kind, part in parts)
    return encode_section(_Listing(whole, *rows), _Listing, "listing")


def _rows(names: tuple[str, ...], part: tuple[Any, ...]) -> Any:
    return tuple(tuple([getattr(one, name) for name in names]) for one in part)


def _schedule_bytes(images: Images, image: NodeImage, codes: Codes) -> bytes:
    entry_units, annotation_units = _units(codes.entry_layout), _units(codes.annotation_layout)
    words = [len(image.phases), images.period, entry_units, annotation_units]
    for part in image.phases:
        if not 0 <= part.phase < len(images.phases):
            raise ValueError(f"a phase must be 0 to {len(images.phases) - 1}, not {part.phase}")
        if len(part.schedule) != images.period:
            raise ValueError(f"a schedule must have {images.period} slots, not {len(part.schedule)}")
        start = images.phases[part.phase].block * images.period
        rest = images.period * entry_units + len(part.annotations) * (1 + annotation_units)
        words += [part.phase, start, len(part.annotations), rest]
        for slot, row in enumerate(part.schedule):
            if len(row) != codes.shape.pipelines:
                raise ValueError(f"a slot must have {codes.shape.pipelines} VFSMs, not {len(row)}")
            entry = ScheduleEntry(row, start + (slot + LOOKAHEAD) % images.period)
            words += _split(codes.encode_entry(entry), entry_units)
        for rewrite in part.annotations:
            if not 0 <= rewrite.pipeline < codes.shape.pipelines:
                raise ValueError(f"a pipeline must be 0 to {codes.shape.pipelines - 1}, not {rewrite.pipeline}")
            if not 0 <= rewrite.vfsm < codes.shape.vfsms:
                raise ValueError(f"a VFSM must be 0 to {codes.shape.vfsms - 1}, not {rewrite.vfsm}")
            words.append(rewrite.pipeline << 16 | rewrite.vfsm)
            words += _split(codes.encode_annotation(rewrite.annotation), annotation_units)
    return struct.pack(f"<{len(words)}I", *words)


def _units(layout: dict[str, int]) -> int:
    """32-bit units that a packed word takes."""
    return -(-sum(layout.values()) // 32)


def _split(word: int, units: int) -> list[int]:
    return [word >> 32 * unit & 0xFFFFFFFF for unit in range(units)]


# -- reading ---------------------------------------------------------------------------------------------


def _section_name(kind: int, index: int) -> str:
    if kind in (NETWORK, PROGRAM, LISTING):
        return {NETWORK: "network", PROGRAM: "program", LISTING: "listing"}[kind]
    if kind in (SCHEDULE, TABLES):
        return f"{'schedule' if kind == SCHEDULE else 'tables'} of node {index}"
    return f"section of unknown kind {kind}"


class _ImageReader(SectionReader):
    def name(self, kind: int, index: int) -> str:
        return _section_name(kind, index)

    def expect_sections(self) -> None:
        """Check that the sections are network, program, the schedules of all nodes, the tables of all nodes, listing."""
        sections = self.sections
        if len(sections) < 3 or not len(sections) % 2 or len(sections) > 3 + 2 * MAX_NODES:
            raise ImageError(
                f"an image file must have 3 sections and 2 for each of at most {MAX_NODES} nodes, "
                f"not {len(sections)} sections",
                file=self.file,
                section="header",
                offset=16,
            )
        nodes = (len(sections) - 3) // 2
        of_nodes = [(kind, node) for kind in (SCHEDULE, TABLES) for node in range(nodes)]
        self.expect_order([(NETWORK, 0), (PROGRAM, 0), *of_nodes, (LISTING, 0)])

    def listing(self, program: _Program) -> _Listing:
        section = self.sections[-1]
        listing = self.decode(section, _Listing)
        for part in ("operators", "phases", "promises", "replaced"):
            there, right = len(getattr(listing, part)), len(getattr(program, part))
            if there != right:
                self.fail(f"{part} must be listed {right} times, not {there}", section)
        return listing

    def network(self, digest: bytes) -> tuple[NodeShape, Topology]:
        section = self.sections[0]
        network = self.decode(section, _Network)
        names = [field.name for field in fields(NodeShape)]
        if list(network.shape) != names:
            self.fail(f"a shape must have {', '.join(names)}, not {', '.join(network.shape)}", section)
        arguments: dict[str, Any] = network.shape
        try:
            shape = NodeShape(**arguments)
        except ShapeError as error:
            self.fail(str(error), section)
        if shape_digest(shape) != digest:
            raise ImageError(
                f"the digest of the shape must be {shape_digest(shape).hex()}, not {digest.hex()}",
                file=self.file,
                section="header",
                offset=32,
                hint="header and network do not belong together",
            )
        return shape, self._topology(network, shape, section)

    def _topology(self, network: _Network, shape: NodeShape, section: Section) -> Topology:
        if network.kind not in ("mesh", "torus", "diamond", "graph"):
            self.fail(f"a network must be a mesh, torus, diamond or graph, not {network.kind!r}", section)
        most = 3 if network.kind in ("mesh", "torus") else 1
        nodes = 1
        for extent in network.size:
            # A product that stops growing, so that a long list of large numbers does no harm.
            nodes = nodes * extent if extent > 0 and nodes <= MAX_NODES else 0
        if not 1 <= len(network.size) <= most or not 1 <= nodes <= MAX_NODES:
            self.fail(
                f"a {network.kind} must have 1 to {most} dimensions and 1 to {MAX_NODES} nodes, not {network.size[:4]}",
                section,
            )
        for node, port, other, other_port in network.links:
            if not (0 <= node < nodes and 0 <= other < nodes and node != other):
                self.fail(f"a link must join two different nodes of 0..{nodes - 1}, not {node} and {other}", section)
            if not (0 <= port < shape.neighbours and 0 <= other_port < shape.neighbours):
                self.fail(f"a link must join ports 0..{shape.neighbours - 1}, not {port} and {other_port}", section)
        if list(network.dead) != sorted({node for node in network.dead if 0 <= node < nodes}):
            self.fail(f"faulty nodes must be nodes of 0..{nodes - 1} in order, not {network.dead[:4]}", section)
        links = tuple(Link(*link) for link in network.links)
        topology = Topology(network.kind, network.size, links, frozenset(network.dead))
        try:
            topology.at_port  # noqa: B018 - computing it finds ports that are joined twice
        except PointsmanError as error:
            self.fail(error.message, section)
        return topology


Phase = tuple[int, tuple[tuple[int, ...], ...], tuple[Rewrite, ...]]


class _ScheduleReader:
    """Unpacks the schedule section of one node."""

    def __init__(self, reader: _ImageReader, section: Section, codes: Codes, program: _Program) -> None:
        self.reader = reader
        self.section = section
        self.codes = codes
        self.program = program
        if len(section.data) % 4:
            self.fail(f"the length must be a multiple of 4, not {len(section.data)}", 0)
        self.words = struct.unpack(f"<{len(section.data) // 4}I", section.data)
        self.entry_units, self.annotation_units = _units(codes.entry_layout), _units(codes.annotation_layout)
        self.decode_entry: Callable[[int], ScheduleEntry] = lru_cache(4096)(codes.decode_entry)
        self.decode_annotation: Callable[[int], Annotation] = lru_cache(4096)(codes.decode_annotation)

    def fail(self, message: str, word: int) -> NoReturn:
        self.reader.fail(message, self.section, at=4 * word)

    def read(self) -> list[Phase]:
        words, period = self.words, self.program.period
        if len(words) < 4:
            self.fail(f"a schedule must have at least 4 words, not {len(words)}", 0)
        depth = self.codes.shape.schedule_depth
        if not SHORTEST_LOOP <= period <= depth:
            self.reader.fail(
                f"a period must be {SHORTEST_LOOP} to {depth} slots, not {period}", self.reader.sections[1]
            )
        for at, name, right in (
            (1, "period", period),
            (2, "words per schedule entry", self.entry_units),
            (3, "words per annotation", self.annotation_units),
        ):
            if words[at] != right:
                self.fail(f"{name} must be {right}, not {words[at]}", at)
        phases = []
        at = 4
        for _ in range(words[0]):
            phase, at = self._phase(at)
            phases.append(phase)
        if at != len(words):
            self.fail(f"{words[0]} phases must take {at} words, not {len(words)}", at)
        return phases

    def _phase(self, at: int) -> tuple[Phase, int]:
        words, period = self.words, self.program.period
        if at + 4 > len(words):
            self.fail(f"phase {words[0]} must end within the section", at)
        phase, start, count, rest = words[at : at + 4]
        if phase >= len(self.program.phases):
            self.fail(f"a phase must be 0 to {len(self.program.phases) - 1}, not {phase}", at)
        right = self.program.phases[phase].block * period
        if start != right:
            self.fail(f"phase {phase} must start at schedule address {right}, not {start}", at + 1)
        right = period * self.entry_units + count * (1 + self.annotation_units)
        if rest != right:
            self.fail(f"{count} annotations must take {right} words with the schedule, not {rest}", at + 3)
        at += 4
        if at + rest > len(words):
            self.fail(f"{count} annotations must end within the section", at - 2)
        rows = []
        entry_bits = sum(self.codes.entry_layout.values())
        for slot in range(period):
            word = self._join(at, self.entry_units, entry_bits)
            entry = self.decode_entry(word)
            right = start + (slot + LOOKAHEAD) % period
            if entry.ahead != right:
                self.fail(f"the entry of slot {slot} must point to {right}, not to {entry.ahead}", at)
            rows.append(entry.vfsms)
            at += self.entry_units
        annotations = []
        annotation_bits = sum(self.codes.annotation_layout.values())
        for _ in range(count):
            pipeline, vfsm = words[at] >> 16, words[at] & 0xFFFF
            if pipeline >= self.codes.shape.pipelines or vfsm >= self.codes.shape.vfsms:
                self.fail(
                    f"an annotation must be for pipeline 0..{self.codes.shape.pipelines - 1} and VFSM "
                    f"0..{self.codes.shape.vfsms - 1}, not {pipeline} and {vfsm}",
                    at,
                )
            word = self._join(at + 1, self.annotation_units, annotation_bits)
            annotations.append(Rewrite(pipeline, vfsm, self.decode_annotation(word)))
            at += 1 + self.annotation_units
        return (phase, tuple(rows), tuple(annotations)), at

    def _join(self, at: int, units: int, bits: int) -> int:
        word = sum(self.words[at + unit] << 32 * unit for unit in range(units))
        if word >> bits:
            self.fail(f"a word of {bits} bits must be below {1 << bits:#x}, not {word:#x}", at)
        return word
