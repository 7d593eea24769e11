"""Operands of an operator: their values, known at compile time or not, and which nodes take part.

Also the names and limits of its streams, which follow from the operands: `stream_name`, `message_stream`, `keep_in`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from pointsman.network import Topology
from pointsman.network.topology import connected
from pointsman.operators.api.implementation import Context
from pointsman.program.catalogue import ITEM_FUNCTIONS
from pointsman.program.program import Instance, Operator, Runtime
from pointsman.routing.streams import Stream


def item_by_item(operator: Operator) -> bool:
    """Has the message several items, combined by a function that works on single items (or by a function not known yet)?"""
    if operator.m <= operator.type.words or not operator.instances:
        return False
    return dict(operator.instances[0].operands).get("function") in (None, *ITEM_FUNCTIONS)


def runtime_operands(operator: Operator) -> tuple[str, ...]:
    """Names of the operands that are given at run time, in order."""
    return operator.runtime_names


def chosen_operands(operator: Operator) -> tuple[str, ...]:
    """Names of the run-time operands that are nodes or distances, whose values can be listed."""
    return operator.chosen


def runtime_values(operator: Operator) -> tuple[tuple[int, ...], ...]:
    """Every legal combination of run-time nodes and distances; a single empty tuple for an operator without any.

    On n nodes a run-time distance is -(n-1)…n-1 for a cshift and -n…n for an eoshift, unless ``:values`` lists others.

    Raises
    ------
    PointsmanError
        If there are more than 65,536 combinations.
    """
    return operator.legal_values


def values_alike(operator: Operator, values: Iterable[tuple[int, ...]]) -> list[list[tuple[int, ...]]]:
    """These values of the run-time nodes and distances, those together with which the operator moves the same words, the shortest
    distance first: a cshift by d is one by d - n on n nodes, and an eoshift by n or more moves none."""
    if operator.kind not in ("cshift", "eoshift"):
        return [[value] for value in values]
    sizes = sorted({len(instance.nodes) for instance in operator.instances})
    found: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for (distance,) in values:
        if operator.kind == "cshift":
            moves = tuple(distance % size for size in sizes)
        else:
            moves = tuple(distance if abs(distance) < size else size for size in sizes)
        found.setdefault(moves, []).append((distance,))
    return [sorted(alike, key=lambda one: (abs(one[0]), -one[0])) for alike in found.values()]


def is_settled(operator: Operator) -> bool:
    """Does the operator move the same words for all legal values of its run-time operands, or has it no such operands?"""
    operands = operator.instances[0].operands if operator.instances else ()
    legal = [value.values for _, value in operands if isinstance(value, Runtime)]
    if all(values is not None and len(set(values)) == 1 for values in legal):
        return True
    (values,) = legal if len(legal) == 1 else (None,)
    return values is not None and len(values_alike(operator, [(value,) for value in values])) == 1


def rounds_between_values(operator: Operator) -> int:
    """Rounds of the program's loop after which a run-time value changes: the least ``:block`` (Metcalf 1997, A.4)."""
    blocks = [value.block for _, value in operator.instances[0].operands if isinstance(value, Runtime)]
    return max(1, min(blocks, default=1))


def function_name(operator: Operator) -> str | None:
    """Name of the function with which an operator combines messages, if the program gives one."""
    value = dict(operator.instances[0].operands).get("function") if operator.instances else None
    return value if isinstance(value, str) else None


def taking_part(operator: Operator, instance: int) -> tuple[int, ...]:
    """Positions in an instance of the nodes that have something to send: those in ``:valid``, or all."""
    nodes = range(len(operator.instances[instance].nodes))
    return tuple(nodes) if operator.valid is None else tuple(k for k in nodes if k in set(operator.valid))


def having_a_part(operator: Operator, instance: int) -> Sequence[int]:
    """Nodes of an instance that write or read in it: of a stream between two nodes these, though its instance may name all nodes
    of a mesh (a halo exchange has an instance for each of them); otherwise all."""
    nodes = operator.instances[instance].nodes
    if operator.kind == "stream" and is_constant(operator, "source") and is_constant(operator, "destination"):
        return sorted({nodes[operand(operator, instance, end, ())] for end in ("source", "destination")})
    return nodes


def operand(operator: Operator, instance: int, name: str, values: tuple[int, ...]) -> int:
    """Value of a node or distance operand, whether known at compile time or given in ``values``."""
    value = operator.instances[instance].operand(name)
    if isinstance(value, Runtime):
        return values[chosen_operands(operator).index(name)]
    assert isinstance(value, int), f"operand {name} of {operator.label} is {value!r}"
    return value


def is_constant(operator: Operator, name: str) -> bool:
    """Is operand ``name`` known at compile time?"""
    return not isinstance(operator.instances[0].operand(name), Runtime)


def is_partial(operator: Operator, name: str) -> bool:
    """Is ``name`` an operand that some nodes do not know (``:distributed``, ``:dynamic``)?"""
    value = operator.instances[0].operand(name)
    return isinstance(value, Runtime) and (value.distributed or value.dynamic)


def is_dynamic(operator: Operator, name: str) -> bool:
    """Is ``name`` an operand that changes from call to call (``:dynamic``)?"""
    value = operator.instances[0].operand(name)
    return isinstance(value, Runtime) and value.dynamic


def stream_name(operator: Operator, instance: int, what: str = "") -> str:
    """Name of a stream of an operator: ``b[2]``, or ``b[2].right``."""
    return f"{operator.label}[{instance}]" + (f".{what}" if what else "")


def streams_by_instance(operator: Operator, span: Iterable[int], streams: Sequence[Stream]) -> list[list[int]]:
    """By instance of an operator, the indices of its streams; ``span``: those of the operator among ``streams`` of a phase."""
    found: list[list[int]] = [[] for _ in operator.instances]
    for s in span:
        # "label[i].what": the instance of a stream is in its name.
        number = streams[s].name_of(operator.label)[len(operator.label) + 1 :].split("]", 1)[0]
        found[int(number)].append(s)
    return found


SLOT_WAIT = 16
"""Cycles that a word waits for the first slot of its way at most, about: a schedule of usual length."""


def cycles_on_the_way(operator: Operator, context: Context, ends: Iterable[tuple[int, int]]) -> float:
    """Cycles of a word on the longest way between pairs of ``ends``, about: it waits for a slot, then goes a hop a cycle. On
    small networks that is too much; there it takes no longer than the largest instance has nodes."""
    far = max((context.topology.across(pair) for pair in ends), default=0)
    return float(min(max(len(instance.nodes) for instance in operator.instances), SLOT_WAIT + far))


def message_stream(
    operator: Operator,
    instance: int,
    context: Context,
    source: int,
    destinations: tuple[int, ...],
    what: str = "",
    messages: int = 1,
    **more: Any,
) -> Stream:
    """A stream for whole messages of the operator, named by `stream_name`; all streams of the operator get equally many words.

    ``messages``: those that the stream carries in a round of calls. ``more``: further fields of
    `pointsman.routing.streams.Stream`, or other values for the fields set here.
    """
    fields = {
        "weight": float(operator.m * operator.c * messages),
        "group": operator.label,
        "keep_in": keep_in(operator.instances[instance], context),
        **more,
    }
    return Stream(stream_name(operator, instance, what), source, destinations, **fields)


def keep_in(instance: Instance, context: Context) -> frozenset[int] | None:
    """Nodes that an instance's streams may use: its own if they are connected, else their `box`; None (a graph): all.

    Source: extents, Metcalf 1997 §6.1.
    """
    return _keep_in(instance.nodes, context.topology)


@lru_cache(maxsize=256)
def _keep_in(subset: tuple[int, ...], topology: Topology) -> frozenset[int] | None:
    nodes = frozenset(subset)
    reached = {subset[0]}
    stack = [subset[0]]
    while stack:
        for other, _ in topology.at_port[stack.pop()].values():
            if other in nodes and other not in reached:
                reached.add(other)
                stack.append(other)
    if reached == nodes:
        return nodes
    around = box(subset, topology) if topology.has_coordinates else None
    return around if around is not None and (topology.regular or connected(set(around), topology)) else None


def box(nodes: Sequence[int], topology: Topology) -> frozenset[int]:
    """Smallest box of coordinates around ``nodes``, without nodes that do not work."""
    places = [topology.coordinates(node) for node in nodes]
    low = [min(axis) for axis in zip(*places, strict=True)]
    high = [max(axis) for axis in zip(*places, strict=True)]
    inside = [()]
    for a, b in zip(low, high, strict=True):
        inside = [(*head, x) for head in inside for x in range(a, b + 1)]  # type: ignore[misc]
    return frozenset(topology.node_at(*place) for place in inside) - topology.dead
