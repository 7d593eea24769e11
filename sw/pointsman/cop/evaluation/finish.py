"""The last pass: from the parts that were evaluated to a `Program`.

Takes the parts of the top level; checks the properties of the whole tree: labels, instances, operators that were
evaluated and then lost. Gives the frozen tree. Leaves meshes and routes alone: later stages decide whether an operator
can be implemented.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pointsman.program.program import Group, Instance, Operator, Program

from .evaluator import Evaluator
from .operators import ends, runtime_operands
from .parts import GroupPart, OperatorPart, Part, group, sequential


def finish(machine: Evaluator, parts: Sequence[Part]) -> Program:
    """Check the parts of the top level and freeze them.

    Raises
    ------
    CopError
        With all faults of this pass and of the evaluation before it.
    """
    root = sequential(machine, parts, 0)
    if root is None:
        machine.raise_errors()
        hint = "for instance (broadcast 'b 0), or in Python cop.broadcast('b', 0)"
        if machine.network.topology.nodes == 1:
            hint = "on a single node many groups are empty; (barrier 'b) makes it a program all the same"
        raise machine.error(0, "the program has no operator", hint=hint)
    if not (isinstance(root, GroupPart) and root.kind == "sequential"):
        root = group(machine, "sequential", [root], root.at)
    operators = [part for part in walk(root) if isinstance(part, OperatorPart)]
    _check_labels(machine, root)
    _check_placed(machine, operators)
    for operator in operators:
        _check_instances(machine, operator)
    machine.raise_errors()
    settings = machine.settings
    frozen = _freeze(machine, root)
    assert isinstance(frozen, Group)
    return Program(
        root=frozen,
        topology=settings.topology,
        parameters=tuple(machine.parameters.items()),
        mode=settings.mode,
        schedlen=settings.schedlen if settings.schedlen_set else None,
        source=machine.source.text,
        file=machine.source.file,
    )


def walk(part: Part) -> Iterator[Part]:
    """A part and all parts within it, in the order of the text."""
    stack = [part]
    while stack:
        part = stack.pop()
        yield part
        if isinstance(part, GroupPart):
            stack.extend(reversed(part.children))


def _check_labels(machine: Evaluator, root: Part) -> None:
    """Refuse labels used twice: they are a flat namespace, because the application's functions are named after them."""
    seen: dict[str, Part] = {}
    for part in walk(root):
        if part.label is None:
            continue
        other = seen.setdefault(part.label, part)
        if other is part or _share_instance(other, part):
            continue
        what = f"label '{part.label}' is used twice"
        if part.kind != other.kind:
            what += f", for a {other.kind} and for a {part.kind}"
            hint = "labels of operators and loops are one namespace"
        elif isinstance(part, OperatorPart):
            hint = "instances of one operator must stand in the same parallel, doall or subset"
        else:
            hint = None
        notes = [(other.label_at, "first use")] if other.label_at != part.label_at else []
        machine.record(machine.error(part.label_at, what, hint=hint, notes=notes))


def _share_instance(one: Part, other: Part) -> bool:
    """Whether both parts come from the same evaluation, placed twice; `_check_placed` reports that."""
    if isinstance(one, OperatorPart) and isinstance(other, OperatorPart):
        return not {id(instance) for instance in one.instances}.isdisjoint(map(id, other.instances))
    return one.label == other.label and isinstance(one, GroupPart) and one is other


def _check_placed(machine: Evaluator, operators: Sequence[OperatorPart]) -> None:
    """Refuse operators that were evaluated but are not in the program exactly once."""
    placed: set[int] = set()
    for operator in operators:
        for instance in operator.instances:
            if id(instance) in placed:
                machine.record(
                    machine.error(
                        instance.at,
                        f"{operator.kind} '{operator.label}' is placed twice in the program",
                        hint="a function that is called twice, with another label, gives two operators",
                    )
                )
            placed.add(id(instance))
    if machine.errors:
        return  # operators in a faulty construct are lost with it
    for key, instance in machine.created.items():
        if key not in placed:
            machine.record(
                machine.error(
                    instance.at,
                    "this operator is evaluated but stands nowhere in the program",
                    hint="its value must reach the top level or a grouping construct",
                )
            )


def _check_instances(machine: Evaluator, operator: OperatorPart) -> None:
    """Refuse instances that share a writing or a reading node (Metcalf 1997, §2.5), or differ in run-time operands."""
    if len(operator.instances) == 1:
        return
    first = operator.instances[0]
    runtimes = len(runtime_operands(first.operands))
    writer_of: dict[int, int] = {}
    reader_of: dict[int, int] = {}
    for number, instance in enumerate(operator.instances):
        if len(runtime_operands(instance.operands)) != runtimes:
            machine.record(
                machine.error(
                    instance.at,
                    f"instances of '{operator.label}' must all have the same number of run-time operands",
                    hint=f"{operator.label}_load takes the same arguments on every node",
                    notes=[(first.at, f"another instance of '{operator.label}'")] if first.at != instance.at else [],
                )
            )
            return
        writers, readers = ends(operator.kind, instance.nodes, instance.operands)
        for verb, nodes, owner_of in (("written", writers, writer_of), ("read", readers, reader_of)):
            for node in nodes:
                owner = owner_of.setdefault(node, number)
                if owner == number:
                    continue
                other = operator.instances[owner]
                machine.record(
                    machine.error(
                        instance.at,
                        f"two instances of '{operator.label}' are {verb} by node {node} of the network",
                        hint="instances of one operator may not share a reading or writing node",
                        notes=[(other.at, "the other instance")] if other.at != instance.at else [],
                    )
                )
                return


def _freeze(machine: Evaluator, root: Part) -> Group | Operator:
    """The frozen tree, from the leaves up."""
    frozen: list[Group | Operator] = []
    stack: list[tuple[Part, bool]] = [(root, False)]
    while stack:
        part, ready = stack.pop()
        if isinstance(part, OperatorPart):
            frozen.append(_freeze_operator(machine, part))
        elif ready:
            count = len(part.children)
            children = tuple(frozen[len(frozen) - count :])
            del frozen[len(frozen) - count :]
            position = machine.source.position(part.at)
            frozen.append(Group(part.kind, children, part.label, part.count, position))
        else:
            stack.append((part, True))
            stack.extend((child, False) for child in reversed(part.children))
    return frozen[0]


def _freeze_operator(machine: Evaluator, part: OperatorPart) -> Operator:
    position = machine.source.position
    options = part.options
    return Operator(
        label=part.label,
        kind=part.kind,
        instances=tuple(Instance(one.nodes, one.operands, position(one.at)) for one in part.instances),
        type=options.type,
        m=options.m,
        c=part.c,
        pipelined=options.pipelined,
        b=options.b,
        impl=options.impl,
        valid=options.valid,
        position=position(part.at),
    )
