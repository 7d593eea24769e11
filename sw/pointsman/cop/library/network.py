"""Library functions on the network (Metcalf 1997, Table A.2)."""

from __future__ import annotations

from typing import Any

from pointsman.cop.evaluation.evaluator import Evaluator
from pointsman.cop.evaluation.forms import check_settable, reset_network
from pointsman.cop.evaluation.geometry import AXES
from pointsman.cop.evaluation.values import Complaint, Function
from pointsman.cop.text.reader import FALSE, Symbol, show

from .arithmetic import integer


def _all(machine: Evaluator, arguments: list[Any]) -> object:
    count = integer(arguments, 0, least=0)
    machine.allocate(count)
    return tuple(range(count))


def _count(machine: Evaluator, arguments: list[Any]) -> object:
    start, count = integer(arguments, 0), integer(arguments, 1, least=0)
    machine.allocate(count, 1 + start.bit_length() // 64)
    return tuple(range(start, start + count))


def _step(machine: Evaluator, arguments: list[Any]) -> object:
    step, first, last = (integer(arguments, index) for index in range(3))
    if step == 0:
        raise Complaint("the step must not be zero", 0)
    count = max(0, (last - first) // step + 1)
    machine.allocate(count, 1 + max(first.bit_length(), last.bit_length()) // 64)
    return tuple(range(first, first + count * step, step))


def _coord(machine: Evaluator, arguments: list[Any]) -> int:
    machine.survey()
    context = machine.context
    place = tuple(integer(arguments, index) for index in range(len(arguments))) + (0,) * (3 - len(arguments))
    for index, extent in enumerate(context.sizes):
        if not 0 <= place[index] < extent:
            raise Complaint(
                f"{AXES[index]} coordinate {show(place[index])} is outside the {context.noun} (0..{extent - 1})", index
            )
    member = context.members.get(place)
    if member is None:
        raise Complaint(f"the subset has no node at {show(place)}")
    return member


def _coords(machine: Evaluator, arguments: list[Any]) -> object:
    machine.survey()
    context = machine.context
    node = integer(arguments, 0)
    if not 0 <= node < len(context):
        raise Complaint(f"node {show(node)} is outside the {context.noun} (0..{len(context) - 1})", 0)
    return machine.list_of(context.coordinates[node])


def _make_1d(machine: Evaluator, arguments: list[Any]) -> object:
    value = arguments[0]
    dimension = AXES.find(value) if isinstance(value, Symbol) and len(value) == 1 else value
    if type(dimension) is not int or not 0 <= dimension <= 2:
        raise Complaint(f"a dimension must be 'x, 'y or 'z, or 0, 1 or 2, not {show(value)}", 0)
    machine.survey()
    lines = machine.context.lines(dimension)
    machine.allocate(len(machine.context))
    return machine.list_of(lines)


def _reset_mesh_size(machine: Evaluator, arguments: list[Any]) -> object:
    at = machine.at
    size = [integer(arguments, index, least=1) for index in range(len(arguments))]
    check_settable(machine, "reset-mesh-size", at)
    reset_network(machine, size + [1] * (3 - len(size)), at)
    return FALSE


PLAIN: tuple[tuple[str, int, int | None, Function], ...] = (
    ("all", 1, 1, _all),
    ("count", 2, 2, _count),
    ("step", 3, 3, _step),
    ("coord", 1, 3, _coord),
    ("coords", 1, 1, _coords),
    ("make-1d", 1, 1, _make_1d),
    ("reset-mesh-size", 1, 3, _reset_mesh_size),
)
"""Names, least and most arguments, implementation."""
