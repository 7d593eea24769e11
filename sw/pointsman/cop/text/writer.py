"""`Program` back to COP text that reads to an equal `Program`.

The text is the program after evaluation: no variables, no loops over nodes, every subset spelt out. It fixes the
size of a mesh; the kind of network is still the reader's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby

from pointsman.cop.limits import DEFAULT_LIMITS, Limits
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import DataType, Instance, Operator, Position, Program, Runtime, Value

from .source import CopLimitError

DEEPEST_INDENT = 40
"""Groups are indented no further, so that deep programs print in linear space."""


def program_to_cop(program: Program, limits: Limits = DEFAULT_LIMITS) -> str:
    """A COP text that reads to an equal program on ``program.topology``.

    Raises
    ------
    CopLimitError
        If it would be longer than ``limits.output`` characters.
    """
    head = []
    topology = program.topology
    if topology.kind in ("mesh", "torus"):
        head.append(f"(reset-mesh-size {' '.join(map(str, topology.size))})")
    if program.mode != "numesh":
        head.append(f"(define *mode* '{program.mode})")
    if program.schedlen is not None:
        head.append(f"(define *schedlen* {program.schedlen})")
    head += [f"(parameter {name} {value})" for name, value in program.parameters]
    text = "\n".join(head)
    pieces = [text]
    length = len(text)
    around = 0  # groups that are open
    for part, depth in program.root.walk():
        if depth == 0:
            continue
        closed = ")" * (around - (depth - 1))
        around = depth - 1
        if isinstance(part, Operator):
            lines = _operator(part, topology.nodes, limits.output)
        else:
            lines = [f"({part.kind} '{part.label} {part.count}" if part.kind == "loop" else f"({part.kind}"]
            around += 1
        indent = "\n" + "  " * min(depth - 1, DEEPEST_INDENT)
        pieces.append(closed + indent + indent.join(lines))
        length += len(pieces[-1])
        if length > limits.output:
            raise _too_long(limits.output)
    pieces.append(")" * around)
    return "".join(pieces).lstrip("\n") + "\n"


@lru_cache(maxsize=4)
def _whole(nodes: int) -> tuple[int, ...]:
    """All nodes of a network."""
    return tuple(range(nodes))


def _too_long(bound: int) -> CopLimitError:
    error = CopLimitError(
        f"the program is too long to be printed (limit output: {bound})", position=Position("<program>", 1, 1)
    )
    error.limit = "output"
    return error


def _operator(operator: Operator, nodes: int, longest: int) -> list[str]:
    """A form for each run of instances that have the same nodes, or else the same operands."""
    # Instances share their tuples of nodes, so a small program may print as a long text: check the length first.
    distinct_runs = groupby(operator.instances, key=lambda instance: id(instance.nodes))
    if sum(2 * len(next(run).nodes) for _, run in distinct_runs) + 10 * len(operator.instances) > longest:
        raise _too_long(longest)
    whole = _whole(nodes)
    # Instances mostly share the same tuple of nodes, which may be long: compare each tuple once.
    first: dict[tuple[int, ...], int] = {whole: 0}
    distinct = {id(instance.nodes): instance.nodes for instance in operator.instances}
    number = {key: first.setdefault(members, len(first)) for key, members in distinct.items()}
    forms: list[list[str]] = []
    copies: list[Instance] = []  # on different nodes, with the same operands
    for which, run in groupby(operator.instances, key=lambda instance: number[id(instance.nodes)]):
        instances = list(run)
        if copies and (which == 0 or len(instances) > 1 or instances[0].operands != copies[0].operands):
            forms.append(_subset(copies, [_call(operator, copies[0])]))
            copies = []
        if which == 0:
            forms += [[_call(operator, instance)] for instance in instances]
        elif len(instances) > 1:
            calls = ["  " + _call(operator, instance) for instance in instances]
            forms.append(_subset(instances[:1], _close(["(parallel", *calls])))
        else:
            copies += instances
    if copies:
        forms.append(_subset(copies, [_call(operator, copies[0])]))
    if len(forms) == 1:
        return forms[0]
    return _close(["(parallel", *("  " + line for form in forms for line in form)])


def _subset(instances: Sequence[Instance], inner: list[str]) -> list[str]:
    subsets = " ".join(_list(instance.nodes) for instance in instances)
    return _close([f"(subset '({subsets})", *("  " + line for line in inner)])


def _call(operator: Operator, instance: Instance) -> str:
    spec = OPERATORS[operator.kind]
    words = [operator.kind, f"'{operator.label}"]
    values = dict(instance.operands)
    words += [_operand(values[operand.name]) for operand in spec.operands if values[operand.name] is not None]
    if operator.type != DataType():
        words.append(f":type '{operator.type}")
    if operator.m != operator.type.words:
        words.append(f":m {operator.m}")
    if operator.c != 1:
        words.append(f":c {operator.c}")
    if operator.pipelined:
        words.append(":pipelined t")
    if operator.b != 1.0:
        words.append(f":b {'*min*' if operator.b == 'min' else repr(operator.b)}")
    if operator.impl is not None:
        words.append(f":impl '{operator.impl}")
    if operator.valid is not None:
        words.append(f":valid '{_list(operator.valid)}")
    return f"({' '.join(words)})"


def _operand(value: Value) -> str:
    if isinstance(value, Runtime):
        words = ["runtime"]
        if value.values is not None:
            words.append(f":values '{_list(value.values)}")
        if value.dynamic:
            words.append(":dynamic t")
        elif value.distributed:
            words.append(":distributed t")
        if value.block != 1:
            words.append(f":block {value.block}")
        return f"({' '.join(words)})"
    if isinstance(value, tuple):
        return "'" + _list(value)
    return f"'{value}" if isinstance(value, str) else str(value)


def _list(values: Sequence[int]) -> str:
    return f"({' '.join(map(str, values))})"


def _close(lines: list[str]) -> list[str]:
    return [*lines[:-1], lines[-1] + ")"]
