"""First pass of the judge, fourth part: lists that images keep in order, and fields that only some operators have.

Takes images whose numbers name something; notes findings of the rule "structure". Nothing goes wrong with a list in another
order. But what may stand in two ways says nothing in one of them, and every field of an image
is to say something.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from pointsman.verify.node.phase_view import made_operators

from .notes import StructureNotes


def check_lists(notes: StructureNotes) -> None:
    """Check the order of lists, and fields of operators that the program does not have."""
    images = notes.images
    for number, phase in enumerate(images.phases):
        _ascending(notes, "its last operators", phase.last, phase=number)
        _ascending(notes, "pairs of operators in order", phase.order, phase=number)
        _ascending(notes, "its successors", phase.successors, phase=number)
        if len(set(phase.operators)) != len(phase.operators):
            notes.note("structure", "it has an operator twice", "each once", phase=number)
    made = {index for phase in images.phases for index in made_operators(phase)}
    for index, image in enumerate(images.operators):
        place: dict[str, Any] = {"operator": image.label, "source": image.source}
        known = image.remote or image.partial or image.synchronised or image.gated or bool(image.instances)
        if index in made and (known or image.runtime or image.stages > 1):
            right = "an operator without run-time values"
            notes.note(
                "structure", "it closes a phase or brings messages, and its load function rewrites", right, **place
            )
    for node, image_of_node in enumerate(images.nodes):
        _ascending(notes, "its operators", [index for index, _ in image_of_node.operators], node=node)
        _ascending(notes, "its ways", image_of_node.ways, node=node)
        for part in image_of_node.phases:
            where = {"node": node, "phase": part.phase}
            _ascending(notes, "phases to settle in", [later for later, _ in part.settle], **where)
            # That one is annotated twice is said by the rule "annotations".
            vfsms = dict.fromkeys((one.pipeline, one.vfsm) for one in part.annotations)
            _ascending(notes, "annotated VFSMs", vfsms, **where)
        for index, here in image_of_node.operators:
            image = images.operators[index]
            place = {"node": node, "operator": image.label, "source": image.source}
            second = images.phases[image.phase].second
            for role in here.roles:
                if role.switch is not None and not second:
                    notes.note("structure", "it goes to a second schedule that there is not", "one schedule", **place)
                if role.turns != 1 + max((0, *(lane.turn for lane in role.lanes))):
                    message = f"it begins again after {role.turns} calls"
                    notes.note("structure", message, "after the last call that has lanes", **place)


def _ascending(notes: StructureNotes, what: str, found: Iterable[Any], **place: Any) -> None:
    listed = list(found)
    if any(one >= other for one, other in pairwise(listed)):
        notes.note("structure", f"{what} are {listed[:8]}", "each once, ascending", **place)
