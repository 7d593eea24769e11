"""Program: the meaning of a COP text. A tree of groups and operators, every part with its place in the source.

Frozen: each stage of the compiler reads it and none changes it. Two programs are equal if they mean the same: their
places in the source do not count. Nothing here recurses, so a tree may be as deep as `Limits` allows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from pointsman.errors import PointsmanError
from pointsman.network import Topology

from .catalogue import OPERATORS, Flow


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
    """The values that it may take; None: every value that the operand allows."""
    distributed: bool = False
    dynamic: bool = False
    block: int = 1
    position: Position | None = field(default=None, compare=False)


Value = int | str | None | tuple[int, ...] | Runtime
"""An operand: a number, a function name, a permutation or list of nodes, nothing, or a run-time value."""


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
    """A copy of an operator: its nodes in subset order, and its operands, in which nodes are indices into ``nodes``."""

    nodes: tuple[int, ...]
    operands: tuple[tuple[str, Value], ...]
    position: Position | None = field(default=None, compare=False)

    def operand(self, name: str) -> Value:
        return dict(self.operands)[name]


@dataclass(frozen=True)
class Operator:
    """A communication operator (Metcalf 1997, A.1) with its instances.

    ``kind`` is the COP name ("broadcast", "cshift", …); `pointsman.program.catalogue` has the names of its operands.
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
    """Largest bandwidth of a stream, in words per slot; "min": one word per period."""
    impl: str | None = None
    valid: tuple[int, ...] | None = None
    position: Position | None = field(default=None, compare=False)

    @cached_property
    def nodes(self) -> frozenset[int]:
        """All nodes of its instances."""
        # Instances mostly share one tuple of nodes, which may be long.
        distinct = {id(instance.nodes): instance.nodes for instance in self.instances}
        return frozenset(node for nodes in distinct.values() for node in nodes)

    @cached_property
    def overlaps(self) -> bool:
        """Is some node in several of its instances?"""
        return len(self.instances) > 1 and sum(len(one.nodes) for one in self.instances) > len(self.nodes)

    @cached_property
    def runtime_names(self) -> tuple[str, ...]:
        """Names of the operands given at run time, in order."""
        return tuple(name for name, value in self.instances[0].operands if isinstance(value, Runtime))

    @cached_property
    def chosen(self) -> tuple[str, ...]:
        """Names of the operands given at run time that are nodes or distances, in order: their values can be listed."""
        sorts = {one.name: one.sort for one in OPERATORS[self.kind].operands}
        return tuple(name for name in self.runtime_names if sorts[name] in ("node", "distance"))

    @cached_property
    def chained(self) -> frozenset[int]:
        """Positions in the chain of a seqread or seqwrite, which cannot be its single end."""
        name = OPERATORS[self.kind].chain
        ends = (one.operand(name) for one in self.instances) if name is not None else ()
        return frozenset(end for chain in ends if isinstance(chain, tuple) for end in chain)

    @cached_property
    def legal_values(self) -> tuple[tuple[int, ...], ...]:
        """Every legal combination of the operands ``chosen``: `pointsman.operators.api.operands.runtime_values`."""
        choices: list[tuple[int, ...]] = []
        for name, value in self.instances[0].operands:
            if not isinstance(value, Runtime) or name not in self.chosen:
                continue
            nodes = min(len(instance.nodes) for instance in self.instances)
            if value.values is not None:
                choices.append(tuple(sorted(set(value.values))))
            elif name != "distance":
                choices.append(tuple(node for node in range(nodes) if node not in self.chained))
            elif self.kind == "cshift":
                choices.append(tuple(range(1 - nodes, nodes)))
            else:
                choices.append(tuple(range(-nodes, nodes + 1)))
            if self.valid is not None and name != "distance":
                # A source or destination must be one of the nodes that take part.
                choices[-1] = tuple(value for value in choices[-1] if value in self.valid)
        combinations: list[tuple[int, ...]] = [()]
        for choice in choices:
            combinations = [(*head, value) for head in combinations for value in choice]
            if len(combinations) > 65536:
                raise PointsmanError(
                    f"{self.position}: operator '{self.label}' has more than 65536 run-time choices",
                    hint="restrict them with :values",
                )
        return tuple(combinations)

    @property
    def flow(self) -> Flow:
        """Its class: "directional" or "functional"."""
        return OPERATORS[self.kind].flow

    @property
    def functions(self) -> tuple[str, ...]:
        """Names of the functions that the application calls: ``b_load``, ``b_write``, ``b_read`` or ``c_func``."""
        return tuple(f"{self.label}_{name}" for name in OPERATORS[self.kind].functions)


GroupKind = Literal["sequential", "loop", "parallel", "optional", "phase"]


@dataclass(frozen=True, eq=False, repr=False)
class Group:
    """A grouping construct (Metcalf 1997, A.5). ``subset`` and ``doall`` are no groups: they end up in the instances.

    Groups are compared, hashed and printed without recursion.
    """

    kind: GroupKind
    children: tuple[Group | Operator, ...]
    label: str | None = None
    """Name of a loop; None for other groups."""
    count: int = 1
    """Approximate number of rounds of a loop; 1 for other groups."""
    position: Position | None = field(default=None, compare=False)
    fewest: int = 0
    """Fewest rounds of a loop."""

    @property
    def may_be_passed(self) -> bool:
        """May a program pass over the group? A loop's count is approximate, so it may have no round (Metcalf 1997, A.5)."""
        return self.kind == "optional" or (self.kind == "loop" and self.fewest == 0)

    def walk(self) -> Iterator[tuple[Group | Operator, int]]:
        """This group and all parts in it, in the order of the text, each with the number of groups around it."""
        stack: list[tuple[Group | Operator, int]] = [(self, 0)]
        while stack:
            part, depth = stack.pop()
            yield part, depth
            if isinstance(part, Group):
                stack.extend((child, depth + 1) for child in reversed(part.children))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Group):
            return NotImplemented
        return self is other or self._flat() == other._flat()

    def __hash__(self) -> int:
        return hash(self._flat())

    def __repr__(self) -> str:
        words = [self.kind, *([] if self.label is None else [self.label, str(self.count)])]
        return f"<Group {' '.join(words)}: {len(self.children)} children>"

    def _flat(self) -> tuple[object, ...]:
        """The tree as a flat tuple for comparisons; each group's number of children is in it, which fixes the tree."""
        return tuple(
            (part.kind, part.label, part.count, len(part.children)) if isinstance(part, Group) else part
            for part, _ in self.walk()
        )


@dataclass(frozen=True)
class Program:
    """A COP program on one network."""

    root: Group
    topology: Topology
    parameters: tuple[tuple[str, int], ...] = ()
    """(name, value) of each parameter when the text was evaluated."""
    mode: str = "numesh"
    schedlen: int | None = None
    """``*schedlen*``, if the program sets it."""
    source: str = field(default="", compare=False)
    file: str = field(default="<cop>", compare=False)
    """The file in which the program was written, COP text or Python."""

    def operators(self) -> Iterator[Operator]:
        """All operators in the order of the text."""
        return (part for part, _ in self.root.walk() if isinstance(part, Operator))

    def rounds(self) -> dict[str, int]:
        """By label, how often the program comes to the operator: the product of the counts of the loops around it.

        Approximate, as the counts are (Metcalf 1997, A.3).
        """
        times: dict[str, int] = {}
        around = [1]  # by depth
        for part, depth in self.root.walk():
            del around[depth + 1 :]
            if isinstance(part, Operator):
                times[part.label] = around[depth]
            else:
                around.append(around[depth] * part.count)
        return times

    def traffic(self) -> dict[str, int]:
        """By label, words that the operator moves in the whole program: m · c · `rounds`; approximate, as ``c`` is."""
        rounds = self.rounds()
        return {operator.label: operator.m * operator.c * rounds[operator.label] for operator in self.operators()}
