"""First pass of the judge, third part: the operators of the program that images name, which say what they mean.

Takes an operator of the program; notes findings. Every operand must be there, of its sort and within its instance, so that
run time and later passes can take it at its word (rule "structure"); and what the images repeat of it must be the same
("meaning").
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

from pointsman.artifacts.images.images import Images
from pointsman.program.catalogue import OPERATORS, Operand
from pointsman.program.program import Operator, Runtime

from .notes import StructureNotes

ONLINE = "online"
"""Kind of the operator that stands for the online streams of a phase."""
TYPES = {"int32": 1, "float32": 1, "int64": 2, "float64": 2}
"""Words of an item."""
MOST_WORDS = 1 << 40
"""Words of a message of which no memory is so large."""


def sequences_of_parts(images: Images) -> Iterator[tuple[Operator, tuple[int, ...]]]:
    """The replaced operators, each with the operators that do its work, one after the other: several times where one of these has
    a schedule for each value, and so is several operators of the images."""
    for one in images.replaced:
        labels = [images.operators[index].label for index in one.parts]
        schedules = [[i for i, other in enumerate(images.operators) if other.label == label] for label in labels]
        for parts in product(*schedules):
            yield one.program, parts


def check_operator(notes: StructureNotes, index: int, **place: Any) -> None:
    """Check the operator of the program that an operator of the images names, and that both say the same."""
    image = notes.images.operators[index]
    program = image.program
    if bool(image.way) != (image.online is not None):
        message = f"its messages are {'' if image.way else 'not '}passed on by a way of the run time"
        notes.note("structure", message, "a way if processors pass on its messages", **place)
    if image.kind != ONLINE and image.kind not in OPERATORS:
        notes.note("structure", f"it is a {image.kind}", f"one of {', '.join(OPERATORS)}", **place)
        return
    if image.type.removesuffix("*") not in TYPES:
        notes.note("structure", f"its type is {image.type}", f"one of {', '.join(TYPES)}, or an array of it", **place)
    if program is None:
        if image.online is not None:
            notes.note("structure", "it is no operator of a program", "one, as its messages are passed on", **place)
        return
    if not check_definition(notes, program, **place):
        return
    operands = program.instances[0].operands
    function = dict(operands).get("function")
    names = program.runtime_names
    nodes = tuple(instance.nodes for instance in program.instances)
    same: list[tuple[str, object, object]] = [
        ("label", image.label, program.label),
        ("kind", image.kind, program.kind),
        ("type", image.type, str(program.type)),
        ("length", image.m, program.m),
        ("function", image.function, function if isinstance(function, str) else None),
        ("run-time operands", image.runtime, names),
        ("instances for schedules at run time", image.instances, nodes if image.instances else ()),
    ]
    for what, found, right in same:
        if found != right:
            notes.note("meaning", f"its {what} is {found!r}", f"{right!r}, as of its operator in the program", **place)
    for other in notes.images.operators[:index]:
        if other.label == image.label and other.program is not None and any_value(other.program) != any_value(program):
            notes.note("meaning", "another operator has its label", "a label each", **place)
            break
    partly = any(isinstance(value, Runtime) and (value.distributed or value.dynamic) for _, value in operands)
    if image.remote and (len(names) != 1 or "function" in dict(operands)):
        what = "it combines messages" if len(names) == 1 else f"it has {len(names)} run-time operands"
        notes.note("structure", f"other nodes bring it its value, and {what}", "one operand, no function", **place)
    elif image.remote and (image.instances or image.gated or not image.synchronised):
        what = "other nodes bring it its value, and " + (
            "it works out schedules" if image.instances else "it has gates" if image.gated else "nobody waits for them"
        )
        notes.note("structure", what, "one way to make routers ready", **place)
    if image.online is None and not image.remote and image.partial != partly:
        message = f"its values are {'not ' if image.partial else ''}known to all nodes in the program"
        notes.note("meaning", message, "as in the program", **place)
    _check_values(notes, index, program, place)
    _check_nodes(notes, index, program, place)


def any_value(program: Operator) -> Operator:
    """The operator with all run-time values: one that has a schedule for each value stands in the images once for each."""
    return replace(
        program,
        instances=tuple(
            replace(
                instance,
                operands=tuple(
                    (name, replace(value, values=None) if isinstance(value, Runtime) else value)
                    for name, value in instance.operands
                ),
            )
            for instance in program.instances
        ),
    )


def check_definition(notes: StructureNotes, program: Operator, **place: Any) -> bool:
    """Check everything that run time and judge take for granted about an operator of the program; is it all there?"""
    spec = OPERATORS.get(program.kind)
    if spec is None:
        notes.note("structure", f"it is a {program.kind}", f"one of {', '.join(OPERATORS)}", **place)
        return False
    words = TYPES.get(program.type.name)
    problems: list[tuple[str, str]] = []
    if words is None:
        problems.append((f"its type is {program.type}", f"one of {', '.join(TYPES)}"))
    elif not 1 <= program.m <= MOST_WORDS or program.m % words:
        problems.append((f"its messages have {program.m} words", f"1 to {MOST_WORDS}, whole items"))
    elif not program.type.array and program.m != words:
        problems.append((f"its messages have {program.m} words", "one item, as its type is no array"))
    if not program.instances:
        problems.append(("it has no instance", "one at least"))
    names = [one.name for one in spec.operands]
    given = [[isinstance(value, Runtime) for _, value in instance.operands] for instance in program.instances]
    for instance, chosen in zip(program.instances, given, strict=True):
        nodes = instance.nodes
        if [name for name, _ in instance.operands] != names:
            problems.append((f"it has the operands {[n for n, _ in instance.operands]}", f"{names}"))
            continue
        if chosen != given[0]:
            problems.append(("its instances have other operands at run time", "the same"))
        if not nodes or len(set(nodes)) != len(nodes):
            problems.append((f"an instance has the nodes {nodes[:12]}", "each once, and one at least"))
        for node in nodes:
            notes.in_range("a node of an instance", node, notes.images.topology.nodes, **place)
        for operand in spec.operands:
            value = instance.operand(operand.name)
            if not _fits(operand, value, len(nodes)):
                problems.append((f"its {operand.name} is {str(value)[:60]}", f"a {operand.sort} of its instance"))
    every = [node for instance in program.instances for node in instance.nodes]
    if spec.flow == "functional" and len(set(every)) != len(every):
        problems.append(("its instances have a node in common", "none, as each calls its function once"))
    if program.valid is not None and program.instances:
        most = max(len(instance.nodes) for instance in program.instances)
        if len(set(program.valid)) != len(program.valid) or not all(0 <= k < most for k in program.valid):
            problems.append((f"the nodes {program.valid[:12]} take part", "nodes of an instance, each once"))
    for message, right in problems[:4]:
        notes.note("structure", message, right, **place)
    return not problems


def _fits(operand: Operand, value: object, size: int) -> bool:
    """Is ``value`` an operand's value in an instance of ``size`` nodes?"""
    if isinstance(value, Runtime):
        if value.values == ():
            return False
        kind = "dynamic" if value.dynamic else "distributed" if value.distributed else "plain"
        if kind not in operand.runtime or (value.dynamic and not value.distributed):
            return False
        listed = value.values or ()
        within = all(abs(one) <= size if operand.sort == "distance" else 0 <= one < size for one in listed)
        return within and len(set(listed)) == len(listed)
    if operand.sort == "function":
        return value is None or isinstance(value, str)
    if operand.sort in ("nodes", "permutation"):
        if not isinstance(value, tuple) or len(set(value)) != len(value) or not all(0 <= k < size for k in value):
            return False
        return operand.sort == "nodes" or len(value) == size
    if not isinstance(value, int):
        return False
    return operand.sort == "distance" or 0 <= value < size


def _check_values(notes: StructureNotes, index: int, program: Operator, place: dict[str, Any]) -> None:
    """Check that the run-time values are legal."""
    image = notes.images.operators[index]
    if image.online is not None:
        return
    sorts = {one.name: one.sort for one in OPERATORS[program.kind].operands}
    least = min(len(instance.nodes) for instance in program.instances)
    for value in image.values:
        if len(value) != len(program.chosen):
            notes.note("structure", f"it has a role for the values {value}", f"{len(program.chosen)} values", **place)
            return
        right = all(
            abs(number) <= least if sorts[name] == "distance" else 0 <= number < least and number not in program.chained
            for name, number in zip(program.chosen, value, strict=True)
        )
        if not right:
            notes.note("meaning", f"it has a role for the values {value}", "legal values", **place)
            return
    if list(image.values) != sorted(set(image.values)):
        notes.note("meaning", "its run-time values are in no order", "each once, in order", **place)


def _check_nodes(notes: StructureNotes, index: int, program: Operator, place: dict[str, Any]) -> None:
    """Check that the nodes of its instances, and no others, have a part in it, each at its place."""
    nodes = program.nodes
    held = notes.members.get(index, {})
    for node in sorted(nodes ^ set(held)):
        message = "has no part in it" if node in nodes else "has a part in it"
        notes.note("meaning", message, "the nodes of its instances", node=node, **place)
    # Instances mostly share one tuple of nodes, which may be long.
    distinct = {id(one.nodes): one.nodes for one in program.instances}.values()
    for node, view in held.items():
        places = {(own.index(node), len(own)) for own in distinct if node in own}
        if places and (view.position, view.nodes) not in places:
            message = f"it is at position {view.position} of {view.nodes}"
            notes.note("meaning", message, "its place in its instance", node=node, **place)
