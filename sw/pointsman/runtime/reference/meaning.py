"""Meaning of each kind of operator: writers, readers, and the messages that a position gets (Metcalf 1997, A.1).

Takes an operator, an instance of it, and the arguments of its load function. Nodes are positions in the instance.
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.operators.api.operands import (
    function_name,
    is_partial,
    operand,
    runtime_operands,
    runtime_values,
    taking_part,
)
from pointsman.operators.messages.online import legal_values
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator
from pointsman.runtime.api.claims import told_in
from pointsman.runtime.api.substrate import CHOSEN, UNKNOWN, Given, Permission, Signature


def signature_of_operator(operator: Operator) -> Signature:
    """Signature that applications see of an operator of a program."""
    partial = tuple(name for name in _runtime_names(operator) if is_partial(operator, name))
    if partial:
        sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
        listed = [
            name
            for name in _runtime_names(operator)
            if sorts[name] in CHOSEN or (sorts[name] == "permutation" and name in partial)
        ]
        return Signature(
            operator.label,
            operator.kind,
            str(operator.type),
            operator.m,
            _runtime_names(operator),
            function=function_name(operator),
            source=str(operator.position) if operator.position else "",
            ranges=tuple(legal_values(operator, 0, name) for name in listed),
            partial=partial,
            told_in=told_in(operator),
        )
    return Signature(
        operator.label,
        operator.kind,
        str(operator.type),
        operator.m,
        runtime_operands(operator) if operator.instances else (),
        runtime_values(operator) if operator.instances else ((),),
        function_name(operator),
        str(operator.position) if operator.position else "",
        told_in=told_in(operator),
    )


def _runtime_names(operator: Operator) -> tuple[str, ...]:
    return runtime_operands(operator) if operator.instances else ()


def part_of(operator: Operator, instance: int, position: int, given: Given) -> Permission:
    """Functions that a position may call in an instance of a directional operator."""
    reads = position in all_readers(operator, instance, given)
    writes = position in all_writers(operator, instance, given)
    if operator.kind == "stream" and not writes and _end(operator, instance, "destination", given) == UNKNOWN:
        reads = True  # it may be the destination; only the source knows
    if operator.kind == "stream" and reads and writes:
        return Permission("both", local=True)
    void = position not in taking_part(operator, instance)
    if operator.kind == "collect":
        return Permission("both" if reads else "write", void=void)
    return Permission("read" if reads else "write" if writes else "none", void=void)


def all_writers(operator: Operator, instance: int, given: Given) -> Sequence[int]:
    """Positions that write, whether or not they take part."""
    others = range(len(operator.instances[instance].nodes))
    match operator.kind:
        case "gather":
            return [k for k in others if k != _end(operator, instance, "destination", given)]
        case "seqread":
            return _chain(operator, instance, "sources")
        case "collect":
            return others
        case _:
            return (_end(operator, instance, "source", given),)


def all_readers(operator: Operator, instance: int, given: Given) -> Sequence[int]:
    """Positions that read, whether or not they take part."""
    others = range(len(operator.instances[instance].nodes))
    match operator.kind:
        case "broadcast" | "spread":
            return [k for k in others if k != _end(operator, instance, "source", given)]
        case "seqwrite":
            return _chain(operator, instance, "destinations")
        case _:
            return (_end(operator, instance, "destination", given),)


def writers(operator: Operator, instance: int, given: Given) -> Sequence[int]:
    """Positions that write and take part."""
    members = taking_part(operator, instance)
    return [k for k in all_writers(operator, instance, given) if k in members]


def readers(operator: Operator, instance: int, given: Given) -> Sequence[int]:
    """Positions that read and take part."""
    members = taking_part(operator, instance)
    return [k for k in all_readers(operator, instance, given) if k in members]


def combined(operator: Operator, instance: int, position: int, given: Given) -> Sequence[int]:
    """Positions whose messages a reduce, prefix, allreduce or barrier combines for ``position``, in order."""
    members = taking_part(operator, instance)
    match operator.kind:
        case "barrier":
            return range(len(operator.instances[instance].nodes))
        case "reduce" if position != _end(operator, instance, "destination", given):
            return ()
        case _ if position not in members:
            return ()
        case "prefix":
            return [k for k in members if k <= position]
        case _:
            return members


def origin_of(operator: Operator, instance: int, position: int, given: Given) -> int | None:
    """Position that sends to ``position`` in a shift or a permutation; None if it lies beyond the end in an eoshift."""
    size = len(operator.instances[instance].nodes)
    if operator.kind == "permute":
        permutation = given.permutation
        if permutation is None:
            value = operator.instances[instance].operand("permutation")
            assert isinstance(value, tuple)
            permutation = value
        return permutation.index(position)
    origin = position - _end(operator, instance, "distance", given)
    if operator.kind == "cshift":
        return origin % size
    return origin if 0 <= origin < size else None


def _end(operator: Operator, instance: int, name: str, given: Given) -> int:
    return operand(operator, instance, name, given.numbers)


def _chain(operator: Operator, instance: int, name: str) -> tuple[int, ...]:
    chain = operator.instances[instance].operand(name)
    assert isinstance(chain, tuple)
    return chain
