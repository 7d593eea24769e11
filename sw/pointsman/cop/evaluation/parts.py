"""Parts of a program while it is being evaluated, and how copies of them become instances.

Parts are immutable. A group knows the labels in it; parts of a parallel group that share labels are copies of each
other (Metcalf 1997, §2.5: "a single operator defined with four instances") and are merged when they have the same
shape. Copies that do not match stay apart; `pointsman.cop.evaluation.finish` then refuses the label that is used twice.

Merging descends trees by generators on an explicit stack (`_drive`), so that deep trees cost no recursion.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Protocol

from pointsman.cop.limits import Limits
from pointsman.cop.text.source import CopError, CopLimitError
from pointsman.program.program import DataType, GroupKind, Value


@dataclass(frozen=True, eq=False, slots=True)
class InstancePart:
    """One evaluation of an operator form."""

    nodes: tuple[int, ...]
    operands: tuple[tuple[str, Value], ...]
    at: int


@dataclass(frozen=True)
class OperatorOptions:
    """Optional arguments as they hold for an operator; ``c`` is approximate and apart."""

    type: DataType
    m: int
    pipelined: bool
    b: float | Literal["min"]
    impl: str | None
    valid: tuple[int, ...] | None


@dataclass(frozen=True, eq=False)
class OperatorPart:
    """An operator with the instances that are known so far."""

    label: str
    kind: str
    options: OperatorOptions
    c: int
    instances: tuple[InstancePart, ...]
    at: int
    label_at: int

    def __str__(self) -> str:
        return f"#<{self.kind} '{self.label}>"

    @property
    def labels(self) -> frozenset[str]:
        return frozenset((self.label,))

    @property
    def size(self) -> int:
        return len(self.instances)

    @property
    def depth(self) -> int:
        return 0


@dataclass(frozen=True, eq=False)
class GroupPart:
    """A grouping construct; ``label`` and ``count`` are a loop's."""

    kind: GroupKind
    children: tuple[OperatorPart | GroupPart, ...]
    at: int
    label: str | None
    count: int
    label_at: int
    labels: frozenset[str]
    size: int
    depth: int

    def __str__(self) -> str:
        return f"#<{self.kind}>"


Part = OperatorPart | GroupPart


class Accounts(Protocol):
    """The part of the evaluator that this module uses: bounds on the number of parts and on work, and places of errors."""

    limits: Limits

    def charge(self, steps: int) -> None: ...

    def limit(self, name: str, what: str, at: int | None = None) -> CopLimitError: ...

    def error(self, at: int, message: str, *, notes: Sequence[tuple[int, str]] = ()) -> CopError: ...

    def record(self, error: CopError) -> None: ...


def group(
    machine: Accounts,
    kind: GroupKind,
    children: Sequence[Part],
    at: int,
    *,
    label: str | None = None,
    count: int = 1,
    label_at: int = 0,
) -> GroupPart:
    """A group of these children, without merging; refused if it has too many operators or is nested too deeply."""
    size = 1 + sum(child.size for child in children)
    depth = 1 + max((child.depth for child in children), default=0)
    limits = machine.limits
    if size > limits.operators:
        raise machine.limit("operators", "this group has too many operators", at)
    if depth > limits.nesting:
        raise machine.limit("nesting", "groups are nested too deeply", at)
    labels: frozenset[str] = frozenset().union(*(child.labels for child in children))
    if label is not None:
        labels |= {label}
    machine.charge(len(children) + len(labels))
    return GroupPart(kind, tuple(children), at, label, count, label_at, labels, size, depth)


def sequential(machine: Accounts, children: Sequence[Part], at: int) -> Part | None:
    """Sequential group of ``children``; the child itself if there is only one, None if there is none."""
    if len(children) <= 1:
        return children[0] if children else None
    return group(machine, "sequential", children, at)


def parallel(machine: Accounts, children: Iterable[Part], at: int) -> Part | None:
    """Parallel group of ``children``: nested parallel groups dissolve, copies merge; a single child is given as it is."""
    merged = _drive(_merge_parallel(machine, children))
    if len(merged) <= 1:
        return merged[0] if merged else None
    return group(machine, "parallel", merged, at)


def copies(machine: Accounts, bodies: Iterable[Sequence[Part]], at: int) -> Part | None:
    """Merge the bodies of a ``subset`` form, a body for each subset: sequential inside, parallel to each other."""
    whole = [group(machine, "sequential", body, at) for body in bodies if body]
    merged = _drive(_merge_parallel(machine, whole))
    return parallel(machine, [_single(part) for part in merged], at)


Merging = Generator[Any, Any, Any]
"""A merge in progress: yields the merges that it needs and is sent their results."""


def _drive(merging: Merging) -> Any:
    """Run a merge, and all merges that it yields, to the end; gives its result."""
    stack = [merging]
    value: Any = None
    while stack:
        try:
            stack.append(stack[-1].send(value))
            value = None
        except StopIteration as stop:
            stack.pop()
            value = stop.value
    return value


def _merge_parallel(machine: Accounts, children: Iterable[Part]) -> Merging:
    """Children of a parallel group with copies merged, in the order in which their labels first occur."""
    flat: list[Part] = []
    for child in children:
        if isinstance(child, GroupPart) and child.kind == "parallel":
            flat.extend(child.children)
        else:
            flat.append(child)
    machine.charge(len(flat))
    families: list[list[Part]] = []
    family_of: dict[str, list[Part]] = {}
    for part in flat:
        hit = {id(family_of[label]): family_of[label] for label in part.labels if label in family_of}
        if len(hit) == 1:
            family = next(iter(hit.values()))
            family.append(part)
        else:
            family = [part]
            families.append(family)
        if len(hit) <= 1:
            for label in part.labels:
                family_of[label] = family
    result: list[Part] = []
    for family in families:
        merged = yield _merge(machine, family)
        result.extend(family if merged is None else [merged])
    return result


def _merge(machine: Accounts, family: Sequence[Part]) -> Merging:
    """Merge copies of a part into a single part; None if they are not alike."""
    if len(family) == 1:
        return family[0]
    operators = [part for part in family if isinstance(part, OperatorPart)]
    groups = [part for part in family if isinstance(part, GroupPart)]
    if len(operators) == len(family):
        return _merge_operators(machine, operators)
    if len(groups) == len(family):
        return (yield _merge_groups(machine, groups))
    return None


def _merge_operators(machine: Accounts, operators: Sequence[OperatorPart]) -> OperatorPart | None:
    first = operators[0]
    if any(other.kind != first.kind for other in operators):
        return None
    for other in operators:
        if other.options != first.options:
            names = [entry.name for entry in fields(OperatorOptions)]
            name = next(n for n in names if getattr(other.options, n) != getattr(first.options, n))
            machine.record(
                machine.error(
                    other.at,
                    f"instances of '{first.label}' must have the same :{name}",
                    notes=[(first.at, f"another instance of '{first.label}'")] if first.at != other.at else [],
                )
            )
    instances = [instance for operator in operators for instance in operator.instances]
    machine.charge(len(instances))
    if len(instances) > machine.limits.operators:
        raise machine.limit("operators", f"'{first.label}' has too many instances", first.at)
    return replace(first, c=max(operator.c for operator in operators), instances=tuple(instances))


def _merge_groups(machine: Accounts, groups: Sequence[GroupPart]) -> Merging:
    """Merge copies of a group into a single group; None if they are not alike."""
    first = groups[0]
    if any((other.kind, other.label) != (first.kind, first.label) for other in groups):
        return None
    if first.kind == "parallel":
        children: list[Part] | None = yield _merge_parallel(machine, [c for part in groups for c in part.children])
    else:
        children = yield _merge_ordered(machine, [part.children for part in groups])
    if children is None:
        return None
    count = max(part.count for part in groups)
    return group(machine, first.kind, children, first.at, label=first.label, count=count, label_at=first.label_at)


def _merge_ordered(machine: Accounts, copies: Sequence[Sequence[Part]]) -> Merging:
    """Merge the lists of children of sequential copies; None if their orders disagree.

    Merging puts children that only some copies have before or after each other. That orders nothing at any node if the
    copies have no node in common; if they have, the text did not write such an order.
    """
    order: list[list[Part]] = []
    place: dict[str, int] = {}
    for children in copies:
        machine.charge(len(children))
        cursor = 0
        for child in children:
            hit = {place[label] for label in child.labels if label in place}
            if len(hit) > 1 or (hit and min(hit) < cursor):
                return None
            if hit:
                cursor = hit.pop()
                order[cursor].append(child)
            else:
                order.insert(cursor, [child])
                if cursor < len(order) - 1:
                    machine.charge(len(place))
                    place = {label: at + (at >= cursor) for label, at in place.items()}
            for label in child.labels:
                place[label] = cursor
            cursor += 1
    if any(len(family) < len(copies) for family in order) and not _disjoint(machine, copies):
        return None
    result = []
    for family in order:
        merged = yield _merge(machine, family)
        if merged is None:
            return None
        result.append(merged)
    return result


def _disjoint(machine: Accounts, copies: Sequence[Sequence[Part]]) -> bool:
    """Whether no node takes part in two of the copies."""
    taken: set[int] = set()
    for children in copies:
        own: set[int] = set()
        stack = list(children)
        while stack:
            part = stack.pop()
            if isinstance(part, GroupPart):
                stack.extend(part.children)
                continue
            for nodes in {id(instance.nodes): instance.nodes for instance in part.instances}.values():
                machine.charge(len(nodes))
                own.update(nodes)
        if not taken.isdisjoint(own):
            return False
        taken |= own
    return True


def _single(part: Part) -> Part:
    if isinstance(part, GroupPart) and part.kind == "sequential" and len(part.children) == 1:
        return part.children[0]
    return part


def holds_part(value: object) -> bool:
    """Whether a value is an operator or a list with an operator near its front; operators missed here are reported as lost."""
    stack = [value]
    for _ in range(100):
        if not stack:
            break
        item = stack.pop()
        if isinstance(item, Part):
            return True
        if isinstance(item, tuple):
            stack.extend(reversed(item[:20]))
    return False
