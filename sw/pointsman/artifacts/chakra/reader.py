"""Chakra traces -> flows: the bytes that ranks send each other, added up over all nodes of all traces.

The traces of a job are NAME.0.et, NAME.1.et, …, one for each rank, compressed by gzip or not. A COMM_SEND node is a message,
which the other rank must take. A collective is counted as every word sent by itself, since flows do not combine: ``comm_size`` is
what a rank has at its beginning, as ASTRA-sim has it, and reduce-scatters and all-to-alls send a part of it to each rank,
all-gathers all of it to all ranks in a multicast; an all-reduce is a reduce-scatter and an all-gather of the parts. Computing and
memory are passed over.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from pointsman.artifacts.flows.demands import check_counts, flows_of
from pointsman.artifacts.flows.flows import FlowSet, Task
from pointsman.errors import PointsmanError
from pointsman.files import open_without_waiting

from . import schema
from .schema import CollectiveType, NodeType
from .wire import fields, numbers, records, signed, text, unfolded

HINT = "docs/formats.md says what is read of a trace"
MOST_RANKS = 4096
MOST_COLLECTIVES = 100_000
"""Of different kinds or bytes."""
NAME = re.compile(r"(.*)\.(\d{1,4})\.et(\.gz)?", re.DOTALL)
KINDS = frozenset(map(int, NodeType))
MOVING = frozenset(map(int, (NodeType.COMM_SEND, NodeType.COMM_RECV, NodeType.COMM_COLL)))
Attribute = int | str | list[int] | None
Amounts = dict[tuple[int, tuple[int, ...]], float]


def import_chakra(path: Path) -> FlowSet:
    """Flows of all traces of which ``path`` is one; a task for each rank.

    Raises
    ------
    PointsmanError
        Naming the file, record and node that is wrong.
    """
    files = _files(path)
    ranks = len(files)
    sent, taken = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    first = Counter[tuple[CollectiveType, int]]()
    differs: str | None = None
    for rank, file in enumerate(files):
        mine = Counter[tuple[CollectiveType, int]]()
        number = 1
        try:
            with _opened(file) as opened:
                for record in records(opened):
                    if number == 1:
                        _check_metadata(record)
                    else:
                        _count(record, rank, ranks, sent, taken, mine)
                    number += 1
        except (OSError, EOFError, zlib.error) as error:
            raise PointsmanError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
        except PointsmanError as error:
            raise PointsmanError(f"{file}: record {number}: {error.message}", hint=error.hint or HINT) from None
        if rank == 0:
            first = mine
        for kind, size in sorted((mine - first) + (first - mine)) if differs is None else ():
            differs = (
                f"rank {rank} has {mine[kind, size]} of {kind.name} with {size} bytes, and rank 0 {first[kind, size]}"
            )
            break
    for a, b in sorted((sent - taken) + (taken - sent)):
        raise PointsmanError(
            f"rank {a} sends {sent[a, b]} bytes to rank {b}, which takes {taken[a, b]}",
            hint="the traces must be of one run, of all ranks",
        )
    if differs is not None:
        raise PointsmanError(f"{differs}: collectives of all ranks must agree")
    amounts: Amounts = {(a, (b,)): float(size) for (a, b), size in sent.items()}
    ends = len(amounts)
    for (kind, size), times in first.items() if ranks > 1 else ():
        for pair, amount in _collective(kind, size, ranks):
            if pair not in amounts:
                ends += len(pair[1])
                check_counts(PointsmanError, len(amounts) + 1, ends)
            amounts[pair] = amounts.get(pair, 0.0) + amount * times
    return flows_of([Task(f"rank {rank}") for rank in range(ranks)], amounts)


def _files(path: Path) -> list[Path]:
    """The traces of all ranks, in order."""
    found = NAME.fullmatch(path.name)
    if found is None:
        raise PointsmanError(
            f"{path}: a trace must be called NAME.RANK.et", hint="the traces of all ranks, from 0 on, are read with it"
        )
    base, rank, tail = found[1], int(found[2]), found[3] or ""
    files: list[Path] = []
    while len(files) < MOST_RANKS and (one := path.with_name(f"{base}.{len(files)}.et{tail}")).exists():
        files.append(one)
    if len(files) <= rank:
        missing = path.with_name(f"{base}.{len(files)}.et{tail}")
        raise PointsmanError(f"there is no file {missing}", hint="the traces of all ranks are read, from rank 0 on")
    return files


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """The file, decompressed if it is compressed."""
    with open(path, "rb", opener=open_without_waiting) as file:
        if file.peek(2)[:2] != b"\x1f\x8b":
            yield file
            return
        with gzip.open(file) as unpacked:
            yield cast(BinaryIO, unpacked)


def _check_metadata(record: bytes) -> None:
    for number, value in fields(record):
        if number == schema.METADATA_VERSION and not isinstance(value, bytes):
            break
    else:
        return
    raise PointsmanError("a file must begin with its metadata, of which the first field is the version as text")


def _count(
    record: bytes,
    rank: int,
    ranks: int,
    sent: Counter[tuple[int, int]],
    taken: Counter[tuple[int, int]],
    collectives: Counter[tuple[CollectiveType, int]],
) -> None:
    """Add what a node moves."""
    kind = identity = 0
    given: list[bytes] = []
    for number, value in fields(record):
        if number == schema.NODE_TYPE and isinstance(value, int):
            kind = value
        elif number == schema.NODE_ID and isinstance(value, int):
            identity = value
        elif number == schema.NODE_ATTRIBUTE and isinstance(value, bytes):
            given.append(value)
    if kind not in KINDS:
        raise PointsmanError(f"node {identity}: there is no type {kind} of nodes")
    if kind not in MOVING:
        return
    try:
        attributes = dict(map(_attribute, given))
        size = _number(attributes, "comm_size", 0, 1 << 53)
        if kind == NodeType.COMM_COLL:
            collectives[_kind(attributes), size] += 1
            if len(collectives) > MOST_COLLECTIVES:
                raise PointsmanError(
                    f"there must be at most {MOST_COLLECTIVES} collectives that differ in kind or bytes"
                )
            return
        ends = {}
        for key, own in (("comm_src", kind == NodeType.COMM_SEND), ("comm_dst", kind == NodeType.COMM_RECV)):
            ends[key] = rank if own and key not in attributes else _number(attributes, key, 0, ranks - 1)
            if own and ends[key] != rank:
                raise PointsmanError(f"{key} must be {rank}, the rank of the trace, not {ends[key]}")
        pair = ends["comm_src"], ends["comm_dst"]
        if pair[0] == pair[1]:
            raise PointsmanError("a message must go to another rank")
        moved = sent if kind == NodeType.COMM_SEND else taken
        moved[pair] += size
        check_counts(PointsmanError, len(moved))
    except PointsmanError as error:
        raise PointsmanError(f"node {identity}: {error.message}", hint=error.hint) from None


def _kind(attributes: dict[str, Attribute]) -> CollectiveType:
    """Which collective a node is, of those that have flows without a root, and of all ranks."""
    number = _number(attributes, "comm_type", 0, max(CollectiveType))
    kind = CollectiveType(number)
    if kind in (CollectiveType.REDUCE, CollectiveType.GATHER, CollectiveType.SCATTER, CollectiveType.BROADCAST):
        raise PointsmanError(f"{kind.name} is not read, since the schema does not say which rank is its root")
    if attributes.get("pg_name"):
        raise PointsmanError(
            f"collectives of the group {attributes['pg_name']!r} are not read, since a trace does not say whose group it is",
            hint="collectives of all ranks have no pg_name",
        )
    dimensions = attributes.get("involved_dim", [1])
    if not (isinstance(dimensions, list) and dimensions and all(dimensions)):
        raise PointsmanError("involved_dim must be true for all dimensions: collectives of some ranks are not read")
    return kind


def _attribute(record: bytes) -> tuple[str, Attribute]:
    name, found = "", None
    for number, value in fields(record):
        if number == schema.ATTRIBUTE_NAME:
            name = text(value, "the name of an attribute")
        else:
            found = _value(number, value)
    return name, found


def _value(number: int, value: int | bytes) -> Attribute:
    """The value of an attribute; None if it is of a type that communication does not use."""
    if isinstance(value, int):
        if number in (schema.SINT32, schema.SINT64):
            return unfolded(value)
        return signed(value) if number in (schema.INT32, schema.INT64) else value
    match number:
        case schema.FIXED32 | schema.FIXED64:
            return int.from_bytes(value, "little")
        case schema.SFIXED32 | schema.SFIXED64:
            return int.from_bytes(value, "little", signed=True)
        case schema.STRING:
            return text(value, "an attribute")
        case schema.BOOLS:
            return [one for key, packed in fields(value) if key == 1 for one in numbers(packed)]
    return None


def _number(attributes: dict[str, Attribute], key: str, least: int, most: int) -> int:
    if key not in attributes:
        raise PointsmanError(f"a node of this type must have the attribute {key}")
    value = attributes[key]
    if not isinstance(value, int) or not least <= value <= most:
        raise PointsmanError(f"{key} must be a whole number of {least} to {most}, not {str(value)[:40]}")
    return value


def _collective(kind: CollectiveType, size: int, ranks: int) -> Iterator[tuple[tuple[int, tuple[int, ...]], float]]:
    """What each rank sends to whom, in bytes."""
    everyone = range(ranks)
    part = size / ranks
    if not size or kind is CollectiveType.BARRIER:
        return
    for rank in everyone:
        others = tuple(other for other in everyone if other != rank)
        if kind is not CollectiveType.ALL_GATHER:
            for other in others:
                yield (rank, (other,)), part
        if kind in (CollectiveType.ALL_GATHER, CollectiveType.ALL_REDUCE):
            yield (rank, others), size if kind is CollectiveType.ALL_GATHER else part
