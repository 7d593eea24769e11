"""Rule "rings": operators whose schedule is made at run time (§4.1.1).

Takes images; notes findings. Where the values of a load function find no slots, messages go on from node to node along the
streams that the compiler made (`OperatorImage.instances`). So these have to be a ring through each instance: from the only
register that a node's processor writes to the only register that the next node's processor reads.

Leaves to the other passes whether the streams of the ring keep what they promise, as for any stream.
"""

from __future__ import annotations

from typing import Any

from pointsman.artifacts.images.images import SYNC, Images, NodeOperator
from pointsman.verify.report import Notebook


def check_rings(images: Images, notebook: Notebook) -> None:
    """Note instances whose compiled streams do not lead from each node to the next, whatever the values."""
    for index, operator in enumerate(images.operators):
        if not operator.instances:
            continue
        notebook.counts["operators with a schedule made at run time"] += 1
        place: dict[str, Any] = {"phase": images.phases[operator.phase].name}
        members = images.members[index]
        nodes = [node for instance in operator.instances for node in instance]
        if len(set(nodes)) < len(nodes) or not members.keys() >= set(nodes) or not all(operator.instances):
            notebook.note("rings", "its instances are not of its nodes", "each node in one instance", operator, **place)
            continue
        streams = {(p.source, p.register): p.destinations for p in images.promises if p.operator == index}
        for instance in operator.instances:
            for node, after in zip(instance, (*instance[1:], instance[0]), strict=True):
                ends = _ends(members[node])
                if len(instance) == 1:
                    if ends:
                        notebook.note("rings", "a node alone moves words", "no lanes", operator, node=node, **place)
                    continue
                to = _ends(members[after])
                if ends is None or to is None:
                    notebook.note(
                        "rings",
                        "its lanes are not one out and one in, the same for all values",
                        "a lane for the whole message each way",
                        operator,
                        node=node if ends is None else after,
                        **place,
                    )
                elif streams.get((node, ends[0])) != ((after, to[1]),):
                    notebook.note(
                        "rings",
                        f"no stream leads to node {after}",
                        "a stream to the next node",
                        operator,
                        node=node,
                        **place,
                    )


def _ends(here: NodeOperator) -> tuple[int, int] | None:
    """The registers that the processor writes and reads; None if there are several, or they depend on values."""
    found = set()
    for role in here.roles:
        out = [lane.registers for lane in role.lanes if lane.write and lane.turn != SYNC]
        into = [lane.registers for lane in role.lanes if not lane.write and lane.turn != SYNC]
        if len(out) != 1 or len(into) != 1 or len(out[0]) != 1 or len(into[0]) != 1:
            return None
        found.add((out[0][0], into[0][0]))
    return found.pop() if len(found) == 1 else None
