"""Schedules that load functions make at run time: what comes of some values, judged as if the compiler had made it.

Takes images without a fault, and what makes a schedule (`pointsman.runtime.numesh.scheduling`), given as data, so that the judge
need not know how; notes findings. For values spread over all legal ones the images with the schedule must keep every rule, and a
stream must lead from each node's only way out to the only way in of the node that is to get its message. Values for which slots
are lacking keep the ring that the rule "rings" proves.

Leaves out all other values, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pointsman.artifacts.images.images import SYNC, Images
from pointsman.program.program import Operator
from pointsman.verify.report import CheckReport, Notebook

from .definitions import Definition
from .messages import said_values, settled, values_of

Made = Callable[[Images, int, Sequence[Any]], Images]
"""Images with the schedules that an operator gets for values of its run-time operands."""
Judge = Callable[[Images], CheckReport]
MOST_NODES = 128
"""Nodes in all schedules of an operator together that are looked at, but for the first."""
MOST_VALUES = 16


def check_made(images: Images, made: Made, judge: Judge, notebook: Notebook) -> None:
    """Check the schedules that operators of ``images`` get at run time."""
    for index, image in enumerate(images.operators):
        program = image.program
        if not image.instances or program is None:
            continue
        values = values_of(program)
        count = max(1, min(len(values), MOST_VALUES, MOST_NODES // len(images.nodes)))
        chosen = [values[(2 * k + 1) * len(values) // (2 * count)] for k in range(count)]
        if count < len(values):
            notebook.leave_out(
                f"schedules that '{image.label}' gets at run time, but for {count} of {len(values)} values"
            )
        for one in chosen:
            notebook.counts["schedules made at run time"] += 1
            changed = made(images, index, one)
            for finding in judge(changed).findings:
                notebook.add(finding)
            _check_ends(changed, index, settled(program, one), said_values(program, one), notebook)


def _check_ends(images: Images, index: int, operator: Operator, said: str, notebook: Notebook) -> None:
    """Check that each message has a stream that leads where the definition says."""
    left = {node for instance in images.operators[index].instances for node in instance}
    ways = {(one.source, one.register): one.destinations for one in images.promises if one.operator == index}
    for number, instance in enumerate(operator.instances):
        if left.intersection(instance.nodes):
            continue  # passed on along the ring
        definition = Definition(operator, number)
        for position, node in enumerate(instance.nodes):
            origin = definition.origin(position)
            if origin == position or origin not in definition.members or position not in definition.members:
                continue
            source = instance.nodes[origin]
            out, into = _register(images, index, source, write=True), _register(images, index, node, write=False)
            if out is None or into is None or ways.get((source, out)) != ((node, into),):
                message = f"its schedule brings it no message of node {source}"
                right = "a stream from the node whose message it is"
                notebook.note("meaning", message, right, images.operators[index], values=(said,), node=node)


def _register(images: Images, index: int, node: int, *, write: bool) -> int | None:
    """The only register that a node's processor writes or reads in an operator, whatever its values; None: there are several."""
    lanes = [
        lane
        for role in images.members[index][node].roles
        for lane in role.lanes
        if lane.turn != SYNC and lane.write == write
    ]
    found = {lane.registers for lane in lanes}
    (registers,) = found if len(found) == 1 else [()]
    return registers[0] if len(registers) == 1 else None
