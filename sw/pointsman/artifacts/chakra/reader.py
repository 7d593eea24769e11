"""Chakra traces -> flows: the bytes that ranks send each other, added up over all nodes of all traces.

The traces of a job are NAME.0.et, NAME.1.et, …, one for each rank, compressed by gzip or not. A COMM_SEND node is a message,
which the other rank must take. A collective is counted as every word sent by itself, since flows do not combine: ``comm_size`` is
what a rank has at its beginning, as ASTRA-sim has it, and reduce-scatters and all-to-alls send a part of it to each rank,
all-gathers all of it to all ranks in a multicast; an all-reduce is a reduce-scatter and an all-gather of the parts. The ranks are
those of the group ``pg_name``, which a file of groups has, or a trace of PyTorch in its metadata. Computing and memory are passed
over, and what is communication on a processor (``is_cpu_op``): the call of what is done on the device.
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

import msgspec

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
EVERYONE = ("", "0")
"""Names of the group of all ranks, where nothing says otherwise."""
Attribute = int | str | list[int] | None
Group = tuple[int, ...]
Collectives = Counter[tuple[Group, CollectiveType, int]]
Amounts = dict[tuple[int, tuple[int, ...]], float]


class _Described(msgspec.Struct):
    """A group of processes, as PyTorch writes it. No ranks are all."""

    pg_name: str
    ranks: list[int]


def import_chakra(path: Path, groups: Path | None = None) -> FlowSet:
    """Flows of all traces of which ``path`` is one; a task for each rank. ``groups``: a JSON file of the ranks of each group, by
    the name that collectives have as ``pg_name``; ASTRA-sim has such files.

    Raises
    ------
    PointsmanError
        Naming the file, record and node that is wrong.
    """
    files = _files(path)
    ranks = len(files)
    named = {name: tuple(range(ranks)) for name in EVERYONE} | ({} if groups is None else _groups(groups, ranks))
    sent, taken = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    agreed: dict[Group, Collectives] = {}
    differs: str | None = None
    for rank, file in enumerate(files):
        trace = _Trace(rank, ranks, dict(named), sent, taken)
        number = 1
        try:
            with _opened(file) as opened:
                for record in records(opened):
                    if number == 1:
                        _check_metadata(record)
                    else:
                        trace.count(record)
                    number += 1
        except (OSError, EOFError, zlib.error) as error:
            raise PointsmanError(f"cannot read {file}: {getattr(error, 'strerror', None) or error}") from None
        except PointsmanError as error:
            raise PointsmanError(f"{file}: record {number}: {error.message}", hint=error.hint or HINT) from None
        mine: dict[Group, Collectives] = {}
        for key, times in trace.collectives.items():
            mine.setdefault(key[0], Counter())[key] = times
        for group in sorted(mine.keys() | {one for one in agreed if rank in one}):
            # The least rank of a group is the first that is read.
            has, others = (
                mine.get(group, Counter()),
                agreed.setdefault(group, mine[group] if rank == group[0] else Counter()),
            )
            for _, kind, size in sorted((has - others) + (others - has)) if differs is None else ():
                times, first = has[group, kind, size], others[group, kind, size]
                differs = f"rank {rank} has {times} of {kind.name} with {size} bytes, and rank {group[0]} {first}"
                break
    for a, b in sorted((sent - taken) + (taken - sent)):
        raise PointsmanError(
            f"rank {a} sends {sent[a, b]} bytes to rank {b}, which takes {taken[a, b]}",
            hint="the traces must be of one run, of all ranks",
        )
    if differs is not None:
        raise PointsmanError(f"{differs}: collectives of all ranks of a group must agree")
    amounts: Amounts = {(a, (b,)): float(size) for (a, b), size in sent.items()}
    ends = len(amounts)
    for (group, kind, size), times in (one for collectives in agreed.values() for one in collectives.items()):
        for pair, amount in _collective(kind, size, group):
            if pair not in amounts:
                ends += len(pair[1])
                check_counts(PointsmanError, len(amounts) + 1, ends)
            amounts[pair] = amounts.get(pair, 0.0) + amount * times
    return flows_of([Task(f"rank {rank}") for rank in range(ranks)], amounts)


def _groups(path: Path, ranks: int) -> dict[str, Group]:
    """The groups of a file, by name."""
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            found = msgspec.json.decode(file.read(), type=dict[str, list[int]])
    except msgspec.MsgspecError as error:
        raise PointsmanError(
            f"{path}: groups must be an object of lists of ranks by name: {error}", hint='as {"1": [0, 1], "2": [2, 3]}'
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise PointsmanError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    for name, group in found.items():
        if not _is_group(group, ranks):
            raise PointsmanError(
                f"{path}: group {name[:40]!r} must be one or more of the ranks 0 to {ranks - 1}, each once"
            )
    return {name: tuple(sorted(group)) for name, group in found.items()}


def _is_group(group: list[int], ranks: int) -> bool:
    return 0 < len(set(group)) == len(group) and min(group) >= 0 and max(group) < ranks


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


class _Trace:
    """What a rank sends, takes and does in collectives. ``groups``: the ranks of each by name."""

    def __init__(
        self,
        rank: int,
        ranks: int,
        groups: dict[str, Group],
        sent: Counter[tuple[int, int]],
        taken: Counter[tuple[int, int]],
    ) -> None:
        self.rank, self.ranks, self.groups, self.sent, self.taken = rank, ranks, groups, sent, taken
        self.collectives: Collectives = Counter()

    def count(self, record: bytes) -> None:
        """Add what a node moves."""
        kind = identity = 0
        given: list[bytes] = []
        inputs = b""
        for number, value in fields(record):
            if number == schema.NODE_TYPE and isinstance(value, int):
                kind = value
            elif number == schema.NODE_ID and isinstance(value, int):
                identity = value
            elif number == schema.NODE_ATTRIBUTE and isinstance(value, bytes):
                given.append(value)
            elif number == schema.NODE_INPUTS and isinstance(value, bytes):
                inputs = value
        if kind not in KINDS:
            raise PointsmanError(f"node {identity}: there is no type {kind} of nodes")
        try:
            if kind == NodeType.METADATA:
                self._learn_groups(inputs)
            elif kind in MOVING:
                self._move(kind, dict(map(_attribute, given)))
        except PointsmanError as error:
            raise PointsmanError(f"node {identity}: {error.message}", hint=error.hint) from None

    def _learn_groups(self, inputs: bytes) -> None:
        """Groups that PyTorch describes, as text of JSON in a list in the metadata of its trace."""
        for number, value in fields(inputs):
            if number != schema.INPUTS_VALUES:
                continue
            try:
                described = msgspec.json.decode(text(value, "the values of a node")[2:-2], type=list[_Described])
            except msgspec.MsgspecError:
                continue  # metadata of something else
            for one in described:
                group = one.ranks or list(range(self.ranks))
                if not _is_group(group, self.ranks):
                    raise PointsmanError(
                        f"group {one.pg_name[:40]!r} must be one or more of the ranks 0 to {self.ranks - 1}, each once",
                        hint="the traces of all ranks are read, from rank 0 on",
                    )
                self.groups[one.pg_name] = tuple(sorted(group))

    def _move(self, kind: int, attributes: dict[str, Attribute]) -> None:
        if attributes.get("is_cpu_op"):
            return
        size = _number(attributes, "comm_size", 0, 1 << 53)
        if kind == NodeType.COMM_COLL:
            sort = _kind(attributes)
            self.collectives[self._group(attributes), sort, size] += 1
            if len(self.collectives) > MOST_COLLECTIVES:
                raise PointsmanError(
                    f"there must be at most {MOST_COLLECTIVES} collectives that differ in kind or bytes"
                )
            return
        ends = {}
        for key, own in (("comm_src", kind == NodeType.COMM_SEND), ("comm_dst", kind == NodeType.COMM_RECV)):
            ends[key] = self.rank if own and key not in attributes else _number(attributes, key, 0, self.ranks - 1)
            if own and ends[key] != self.rank:
                raise PointsmanError(f"{key} must be {self.rank}, the rank of the trace, not {ends[key]}")
        pair = ends["comm_src"], ends["comm_dst"]
        if pair[0] == pair[1]:
            raise PointsmanError("a message must go to another rank")
        moved = self.sent if kind == NodeType.COMM_SEND else self.taken
        moved[pair] += size
        check_counts(PointsmanError, len(moved))

    def _group(self, attributes: dict[str, Attribute]) -> Group:
        """The ranks of a collective."""
        name = attributes.get("pg_name") or ""
        group = self.groups.get(str(name))
        if group is None:
            raise PointsmanError(
                f"the group {str(name)[:40]!r} is not known, since neither this trace nor a file says whose it is",
                hint='--groups FILE with the ranks of each, as {"1": [0, 1], "2": [2, 3]}',
            )
        if self.rank not in group:
            raise PointsmanError(
                f"rank {self.rank} is not in the group {str(name)[:40]!r}, which has {len(group)} ranks"
            )
        return group


def _kind(attributes: dict[str, Attribute]) -> CollectiveType:
    """Which collective a node is, of those that have flows without a root, over all dimensions."""
    number = _number(attributes, "comm_type", 0, max(CollectiveType))
    kind = CollectiveType(number)
    if kind in (CollectiveType.REDUCE, CollectiveType.GATHER, CollectiveType.SCATTER, CollectiveType.BROADCAST):
        raise PointsmanError(f"{kind.name} is not read, since the schema does not say which rank is its root")
    dimensions = attributes.get("involved_dim", [1])
    if not (isinstance(dimensions, list) and dimensions and all(dimensions)):
        raise PointsmanError("involved_dim must be true for all dimensions: collectives of some of them are not read")
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


def _collective(kind: CollectiveType, size: int, group: Group) -> Iterator[tuple[tuple[int, tuple[int, ...]], float]]:
    """What each rank of a group sends to whom, in bytes."""
    part = size / len(group)
    if not size or kind is CollectiveType.BARRIER or len(group) == 1:
        return
    for rank in group:
        others = tuple(other for other in group if other != rank)
        if kind is not CollectiveType.ALL_GATHER:
            for other in others:
                yield (rank, (other,)), part
        if kind in (CollectiveType.ALL_GATHER, CollectiveType.ALL_REDUCE):
            yield (rank, others), size if kind is CollectiveType.ALL_GATHER else part
