"""Program: what a COP text means. A tree of groups and operators, every part with its place in the source.

Frozen: each stage of the compiler reads it and none changes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from pointsman.network import Topology


@dataclass(frozen=True)
class Position:
    """A place in a source file; ``line`` and ``column`` count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Runtime:
    """``(runtime …)``: a value that the application gives to the load function (Metcalf 1997, §2.6, A.4)."""

    values: tuple[int, ...] | None = None
    """The only values that it takes; None: every value that the operand allows."""
    distributed: bool = False
    dynamic: bool = False
    block: int = 1
    position: Position | None = field(default=None, compare=False)


Value = int | str | None | tuple[int, ...] | Runtime
"""An operand: a number, a function name, a permutation, nothing, or a run-time value."""


@dataclass(frozen=True)
class DataType:
    """Type of an operator's items: "int32", "float32", "int64" or "float64"; ``array`` for the ``*`` forms."""

    name: str = "int32"
    array: bool = True

    @property
    def words(self) -> int:
        """32-bit words of one item."""
        return 2 if self.name.endswith("64") else 1

    def __str__(self) -> str:
        return self.name + ("*" if self.array else "")


@dataclass(frozen=True)
class Instance:
    """One copy of an operator: its nodes in subset order, and its operands, relative to them."""

    nodes: tuple[int, ...]
    operands: tuple[tuple[str, Value], ...]

    def operand(self, name: str) -> Value:
        return dict(self.operands)[name]


@dataclass(frozen=True)
class Operator:
    """A communication operator (Metcalf 1997, A.1) with its instances.

    ``kind`` is the COP name ("broadcast", "cshift", …); operand names are ``source``, ``destination``,
    ``distance``, ``permutation``, ``function``.
    """

    label: str
    kind: str
    instances: tuple[Instance, ...]
    type: DataType = DataType()
    m: int = 1
    """Message length in 32-bit words, exact."""
    c: int = 1
    """Calls within the innermost loop, approximate."""
    pipelined: bool = False
    b: float | Literal["min"] = 1.0
    """Largest bandwidth to use."""
    impl: str | None = None
    valid: tuple[int, ...] | None = None
    position: Position | None = field(default=None, compare=False)

    @property
    def nodes(self) -> frozenset[int]:
        """All nodes that take part."""
        return frozenset(node for instance in self.instances for node in instance.nodes)


GroupKind = Literal["sequential", "loop", "parallel", "optional", "phase"]


@dataclass(frozen=True)
class Group:
    """A grouping construct (Metcalf 1997, A.5). ``subset`` and ``doall`` are gone: they end up in the instances."""

    kind: GroupKind
    children: tuple[Group | Operator, ...]
    label: str | None = None
    """Loops only."""
    count: int = 1
    """Loops only: times round, approximate."""
    position: Position | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Program:
    """A COP program on one network."""

    root: Group
    topology: Topology
    parameters: tuple[tuple[str, int], ...] = ()
    """Parameters and the values that they had."""
    mode: str = "numesh"
    schedlen: int | None = None
    """``*schedlen*``, when the program sets it."""
    source: str = field(default="", compare=False)
    file: str = field(default="<cop>", compare=False)
    """Where it was written: a text or a Python file."""

    def operators(self) -> Iterator[Operator]:
        """All operators in the order of the text."""
        stack: list[Group | Operator] = [self.root]
        while stack:
            part = stack.pop()
            if isinstance(part, Operator):
                yield part
            else:
                stack.extend(reversed(part.children))
