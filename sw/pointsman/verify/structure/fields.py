"""First pass of the judge, fourth part: fields that only some operators have.

Takes images whose numbers name something; notes findings of the rule "structure". Nothing goes wrong with a second schedule that
no phase has, or with an operator that stands twice in its phase. But every field of an image is to say something.
"""

from __future__ import annotations

from typing import Any

from pointsman.program.program import Operator
from pointsman.verify.node.phase_view import made_operators

from .notes import StructureNotes
from .programs import ONLINE


def check_fields(notes: StructureNotes) -> None:
    """Check fields of operators that the program does not have, and of roles that go to other schedules and turns."""
    images = notes.images
    for number, phase in enumerate(images.phases):
        if len(set(phase.operators)) != len(phase.operators):
            notes.note("structure", "it has an operator twice", "each once", phase=number)
    made = {index for phase in images.phases for index in made_operators(phase)}
    for index, image in enumerate(images.operators):
        known = image.remote or image.partial or image.synchronised or image.gated or bool(image.instances)
        if index in made and (known or image.runtime or image.stages > 1):
            message = "it closes a phase or brings messages, and its load function rewrites"
            right = "an operator without run-time values"
            notes.note("structure", message, right, operator=image.label, source=image.source)
    _check_aims(notes)
    _check_bringing(notes)
    for node, image_of_node in enumerate(images.nodes):
        for index, here in image_of_node.operators:
            image = images.operators[index]
            place: dict[str, Any] = {"node": node, "operator": image.label, "source": image.source}
            second = images.phases[image.phase].second
            for role in here.roles:
                if role.switch is not None and not second:
                    notes.note("structure", "it goes to a second schedule that there is not", "one schedule", **place)
                if role.switch is not None and role.switch < 0:
                    message = f"it goes to the second schedule in step {role.switch}"
                    notes.note("structure", message, "a step of its calls", **place)
                if role.turns != 1 + max((0, *(lane.turn for lane in role.lanes))):
                    message = f"it begins again after {role.turns} calls"
                    notes.note("structure", message, "after the last call that has lanes", **place)


def _check_bringing(notes: StructureNotes) -> None:
    """Check operators that bring messages of others: one word, and their nodes numbered in order."""
    for index, image in enumerate(notes.images.operators):
        if image.kind != ONLINE:
            continue
        place: dict[str, Any] = {"operator": image.label, "source": image.source}
        if image.m != 1:
            notes.note("structure", f"it brings messages of others, and has {image.m} words", "1 word", **place)
        members = notes.members.get(index, {})
        for rank, (node, here) in enumerate(members.items()):
            if (here.position, here.nodes) != (rank, len(members)):
                message = f"it is number {here.position} of {here.nodes} nodes"
                right = f"number {rank} of the {len(members)} nodes to which it brings messages"
                notes.note("structure", message, right, node=node, **place)


def _check_aims(notes: StructureNotes) -> None:
    """Check what a text says of an operator for the compiler (calls, bandwidth, implementation) where no text has the operator:
    in those that close phases, and in those that do the work of another."""
    images = notes.images
    for phase in images.phases:
        closing = None if phase.barrier is None else images.operators[phase.barrier].program
        if closing is not None:
            plain = Operator(closing.label, closing.kind, closing.instances, m=closing.m)
            if closing != plain:
                message, right = "it closes a phase, and has what only a text can say", "no such thing"
                notes.note("structure", message, right, operator=closing.label)
    for one in images.replaced:
        for part in (images.operators[index].program for index in one.parts):
            whole = one.program.b, one.program.pipelined
            if part is not None and ((part.b, part.pipelined) != whole or part.c < 1 or part.impl is not None):
                message = "it does the work of another, and is to be planned otherwise"
                right = "its bandwidth, and one call at least"
                notes.note("structure", message, right, operator=part.label, source=one.source)
