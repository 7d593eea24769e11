"""Messages that nodes wait to read and that nobody has written, told from what each node has done: why a run came to a deadlock.

By the meaning of an operator its next reader and writer are known on every target, also where the hardware only says in which
register a word is missing. Functional operators write and read in one call; of them `left_out` tells.
"""

from __future__ import annotations

from collections.abc import Mapping

from pointsman.program.program import Operator, Program
from pointsman.runtime.api.left_out import Loaded
from pointsman.runtime.api.substrate import Given

from .meaning import all_writers

MOST = 8
"""Nodes, at most, that are told of."""
CALLS = ("_load", "_write", "_read", "_func")


def awaited(program: Program, nodes: Mapping[int, Loaded]) -> list[str]:
    """A line for each node that waits in ``LABEL_read``, alone or together with others, for a message that its writer has not
    written; ``nodes`` by number."""
    found = []
    operators = {f"{one.label}_read": one for one in program.operators()}
    reading = ((number, call) for number, node in nodes.items() for call in node.activity.split(", "))
    for number, call in reading:
        operator = operators.get(call)
        if operator is None or operator.valid is not None:
            continue
        instances = [k for k, one in enumerate(operator.instances) if number in one.nodes]
        if len(instances) != 1 or any(one not in nodes for one in operator.instances[instances[0]].nodes):
            continue
        writer = _silent(operator, instances[0], number, nodes)
        if writer is None:
            continue
        where = "" if operator.position is None else f"{operator.position}: "
        written = _moved(nodes[writer], operator, "write")
        doing = nodes[writer].activity
        calling = all(one.endswith(CALLS) and " " not in one for one in doing.split(", "))
        state = "has ended" if doing in ("finishing", "done") else f"is in {doing}" if calling else f"is {doing}"
        found.append(
            f"{where}node {number} waits in {call} for node {writer}, which has written {written} "
            f"message{'' if written == 1 else 's'} and {state}"
        )
    return found[:MOST]


def _silent(operator: Operator, instance: int, reader: int, nodes: Mapping[int, Loaded]) -> int | None:
    """The node that has yet to write the message for which ``reader`` waits; None if it is written, or nobody knows."""
    members = operator.instances[instance].nodes
    given = nodes[reader].values.get(operator.label, Given())
    if operator.kind == "collect" or any(number < 0 for number in given.numbers):
        return None
    writers = [members[position] for position in all_writers(operator, instance, given)]
    if not writers or reader in writers:
        return None
    read = _moved(nodes[reader], operator, "read")

    def total(what: str) -> int:
        return sum(_moved(nodes[one], operator, what) for one in members)

    match operator.kind:
        case "gather" | "seqread":
            writer = writers[read % len(writers)]
            return writer if _moved(nodes[writer], operator, "write") <= read // len(writers) else None
        case "broadcast":
            return writers[0] if total("write") <= read + _moved(nodes[reader], operator, "write") else None
        case "stream":
            return writers[0] if total("write") <= total("read") else None
        case "spread":
            to = [node for node in members if node not in writers]
        case _:
            listed = operator.instances[instance].operand("destinations")
            assert isinstance(listed, tuple)
            to = [members[position] for position in listed]
    if reader not in to:
        return None
    return writers[0] if total("write") <= read * len(to) + to.index(reader) else None


def _moved(node: Loaded, operator: Operator, what: str) -> int:
    return node.moved.get((operator.label, what), 0)
