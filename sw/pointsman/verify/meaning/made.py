"""Schedules that load functions make at run time: what comes of some values, judged as if the compiler had made it.

Takes images without a fault, and what makes a schedule (`pointsman.runtime.numesh.scheduling`), given as data, so that the judge
need not know how; notes findings. For values spread over all legal ones the images with the schedule must keep every rule, and
the roles of all nodes are carried out over its streams, as those of other operators are (`meaning`): each node must get the
message of the definition, and no word may be left. The same for messages passed on round the ring that the rule "rings" proves,
which is what values fall back on for which slots are lacking.

Leaves out all other values, and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any

from pointsman.artifacts.images.images import SYNC, Images, Promise, Role
from pointsman.verify.report import CheckReport, Notebook

from .definitions import Definition
from .messages import said_values, settled, values_of
from .processor import PassedOn, message_size
from .rounds import Run
from .wires import Wires

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
            ring = {node for instance in changed.operators[index].instances for node in instance}
            for nodes, promises in ((ring, changed.promises), (images.members[index].keys(), images.promises)):
                _check_calls(images, index, one, nodes, promises, notebook)


def _check_calls(
    images: Images,
    index: int,
    values: Sequence[Any],
    ring: Collection[int],
    promises: Iterable[Promise],
    notebook: Notebook,
) -> None:
    """Carry out the calls of all nodes for these values; nodes of ``ring`` pass messages on from each to the next of its
    instance, the others have a stream for each message."""
    image, views = images.operators[index], images.members[index]
    assert image.program is not None
    operator = settled(image.program, values)
    definitions = [Definition(operator, i) for i in range(len(operator.instances))]
    at = image.values.index(tuple(values)) if tuple(values) in image.values else 0
    roles: dict[int, Role] = {}
    passing: dict[int, PassedOn] = {}
    for one in definitions:
        origins = {k: one.origin(k) for k in range(one.size) if 0 <= one.origin(k) < one.size}
        hops = max(((k - source) % one.size for k, source in origins.items()), default=0)
        for position, node in enumerate(one.nodes):
            role = views[node].roles[views[node].role_of[at]]
            own = origins.get(position)
            role = replace(role, result=own is not None or operator.kind == "eoshift")
            if node in ring and hops:
                passing[node] = PassedOn(one.size, hops, own)
            elif own == position:
                role = replace(role, local=True)
            else:
                moved = {True: position in origins.values(), False: own is not None}
                role = replace(role, lanes=tuple(lane for lane in role.lanes if lane.turn == SYNC or moved[lane.write]))
            roles[node] = role
    size = message_size(operator, [lane for role in roles.values() for lane in role.lanes])
    wires = Wires([one for one in promises if one.operator == index and at in one.values], (at,), (set(),))
    said = (said_values(image.program, values),)
    for at_node, message, right in Run(definitions, roles, wires, size, True, passing).problems():
        notebook.note("meaning", message, right, image, values=said, node=at_node)
