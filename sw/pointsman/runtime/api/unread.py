"""Messages that nodes have written and no node has read when a program is over, told from what each node has done.

Hardware does not tell: a word that nobody takes stays in a router, or goes into a phase that is over. The reference machine knows
each message by its writer (`pointsman.runtime.reference`); here calls are counted.
"""

from __future__ import annotations

from collections.abc import Mapping

from pointsman.program.program import Instance, Operator, Program

Moved = Mapping[tuple[str, str], int]
"""Of a node, by label of an operator and "write" or "read", how many messages it has written or read."""


def unread(program: Program, moved: Mapping[int, Moved]) -> list[str]:
    """A line for each operator and instance whose messages were not all read; ``moved`` by node. Of operators with ``:valid``
    nothing is told, as it depends on the nodes which of their messages mean something."""
    found = []
    for operator in program.operators():
        if operator.valid is not None:
            continue
        for instance in operator.instances:
            for number, whose in _missing(operator, instance, moved):
                where = f"{operator.position}: " if operator.position else ""
                messages = f"{number} message{'s' * (number > 1)}"
                found.append(f"{where}{messages} of operator '{operator.label}' {whose}never read")
    return found


def _missing(operator: Operator, instance: Instance, moved: Mapping[int, Moved]) -> list[tuple[int, str]]:
    """How many messages of an instance were not read, and whose they are."""
    written = {node: moved[node].get((operator.label, "write"), 0) for node in instance.nodes if node in moved}
    read = {node: moved[node].get((operator.label, "read"), 0) for node in written}
    writers = [f"from node {node} " for node in written if written[node]]
    whose = writers[0] if len(writers) == 1 else ""
    total = sum(written.values())
    if operator.kind == "broadcast":
        each = ((total - written[node] - read[node], f"{whose}to node {node} ") for node in written)
        return [(number, told) for number, told in each if number > 0]
    number = total - sum(read.values())
    return [(number, whose)] if number > 0 else []
