"""First pass of the judge, second part: lanes, messages and rewritten VFSMs of each node's roles in operators.

Called by ``structure`` after it has checked operators and phases; notes findings of the rules "structure", "lanes" and
"rewrites". Example: lane 0 after lane 1 and lane 1 after lane 0 wait for each other for ever.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby
from typing import Any

from numesh.codes import Annotation
from pointsman.artifacts.images.images import SYNC, LaneImage, NodeOperator, OperatorImage, Role, before_each
from pointsman.network.topology import MAX_NODES

from .notes import StructureNotes
from .programs import ONLINE

MOST_WAIT = 1 << 20
"""Most cycles that a role may wait for words in the router."""
MOST_STEPS = 2 * MAX_NODES
"""Most steps of a call: a node may combine a message of each node, and move one between."""
MESSAGE = re.compile(r"out|in|token|t[0-9]{1,3}")
"""Names of messages in lanes and combinations."""


def check_node_operator(notes: StructureNotes, node: int, index: int, operator: NodeOperator) -> None:
    """Check the part that a node has in an operator, and its roles; none after the first of which the calls make no sense."""
    image = notes.images.operators[index]
    place: dict[str, Any] = {"node": node, "operator": image.label, "source": image.source}
    _check_values(notes, image, operator, place)
    _check_online(notes, image, operator, place)
    _check_phases(notes, index, operator, place)
    for role in operator.roles:
        if not 1 <= role.turns <= MAX_NODES or not 0 <= role.delay <= MOST_WAIT:
            message = f"a role begins again after {role.turns} calls, and waits for {role.delay} cycles"
            notes.note("structure", message, f"1 to {MAX_NODES} calls, 0 to {MOST_WAIT} cycles", **place)
            return
        _check_role(notes, image, role, place)
        _check_messages(notes, role, place)


def _check_values(notes: StructureNotes, image: OperatorImage, operator: NodeOperator, place: dict[str, Any]) -> None:
    """Check that every value and stage has a role of the node, and that it has a position in its instance."""
    if image.stages < 1 + image.gated:
        notes.note("structure", f"it has {image.stages} stages", "at least 1, with gates at least 2", **place)
    if len(operator.role_of) != image.states:
        notes.note(
            "structure",
            f"roles are chosen for {len(operator.role_of)} values",
            f"{image.states} values",
            **place,
        )
    for number in operator.role_of:
        notes.in_range("a role", number, len(operator.roles), **place)
    for number in sorted(set(range(len(operator.roles))).difference(operator.role_of)):
        notes.note("structure", f"role {number} is taken for no value", "roles that some value takes", **place)
    if not 0 <= operator.position < operator.nodes:
        notes.note(
            "structure",
            f"its position is {operator.position} of {operator.nodes}",
            "a position within the instance",
            **place,
        )


def _check_online(notes: StructureNotes, image: OperatorImage, operator: NodeOperator, place: dict[str, Any]) -> None:
    """Check the parts of operators whose messages processors pass on, and of those that stand for online streams."""
    if image.online is not None and any(role != Role("none") for role in operator.roles):
        message, right = "processors pass its messages on, and its roles say more", "empty roles"
        notes.note("structure", message, right, **place)
    named = [(role.kind, role.result, role.void) for role in operator.roles]
    if image.kind == ONLINE and any(one != ("none", True, False) for one in named):
        notes.note(
            "structure", "it brings messages, and its roles allow calls", "none, as no application calls", **place
        )
    if (operator.online is None) != (image.kind != ONLINE):
        message, right = "its online channels are not those of its kind", "channels where it stands for online streams"
        notes.note("structure", message, right, **place)
    if operator.online is not None and not all((*operator.online.inputs, *operator.online.outputs)):
        notes.note("structure", "one of its online channels has no register", "one at least", **place)


def _check_phases(notes: StructureNotes, index: int, operator: NodeOperator, place: dict[str, Any]) -> None:
    """Check that the node has a part of the operator's phases, and of those that it closes."""
    image = notes.images.operators[index]
    parts = {part.phase for part in notes.images.nodes[place["node"]].phases}
    if operator.enters not in (parts & set(image.continues) if image.continues else {-1}):
        notes.note(
            "structure",
            f"its load function enters phase {operator.enters}",
            "a phase of the node in which it continues; -1 if it does not",
            **place,
        )
    if parts.isdisjoint(image.phases):
        notes.note(
            "structure",
            f"it needs phase {notes.phase_name(image.phase)}, of which the node has no part",
            "a schedule of that phase",
            **place,
        )
    if any(role.void for role in operator.roles) and any(phase.barrier == index for phase in notes.images.phases):
        notes.note("structure", "it closes a phase, and a node has no part in it", "nodes that all meet", **place)


def _check_role(notes: StructureNotes, image: OperatorImage, role: Role, place: dict[str, Any]) -> None:
    """Check what a role says of its lanes against the operator, and each lane."""
    if role.local and any(lane.turn != SYNC for lane in role.lanes):
        notes.note("lanes", "words move although the message is only copied", "no lanes", **place)
    if role.local and role.kind not in ("func", "both"):
        message = f"its messages are copied in the processor, and it may only {role.kind}"
        notes.note("structure", message, "a node that writes and reads them", **place)
    if not image.synchronised and any(lane.turn == SYNC for lane in role.lanes):
        notes.note("structure", "words move while it is loaded, and nodes do not rewrite together", "both", **place)
    before = before_each(role.lanes)
    for number, lane in enumerate(role.lanes):
        _check_lane(notes, number, lane, role, image.m, place)
        if (lane.turn == SYNC or image.kind == "barrier") and lane.data != "token":
            notes.note("structure", f"lane {number} of a barrier moves {lane.data!r}", "token", **place)
        if role.by_item and (lane.after, lane.after_all, lane.step, lane.turn, lane.pair, lane.words) != (
            *(before[number], False, 0, 0, None, None),
        ):
            notes.note(
                "structure",
                f"lane {number} does not move items after lane {number - 1}",
                "whole messages or halves, each item after the lane of its half before",
                **place,
            )
    _check_halves(notes, role, place)


def _check_halves(notes: StructureNotes, role: Role, place: dict[str, Any]) -> None:
    """Check that lanes move whole messages, or one half and then the other."""
    halves = [half for half, _ in groupby(lane.half for lane in role.lanes)]
    if all(half is None for half in halves):
        return
    if not role.by_item or sorted(map(str, halves)) != ["0", "1"]:
        message = f"its lanes move halves {', '.join(map(str, halves))} of a message"
        notes.note("structure", message, "whole messages, or lanes of one half and then those of the other", **place)
    if any(one.step == 0 for one in role.combines):
        notes.note("structure", "it combines before it moves a half", "a lane before, which has a half", **place)


def _check_messages(notes: StructureNotes, role: Role, place: dict[str, Any]) -> None:
    """Check the names of a role's messages, and that none is combined or sent before it is there."""
    for turn in sorted({lane.turn for lane in role.lanes} - {SYNC}) or [0]:
        lanes = [lane for lane in role.lanes if lane.turn == turn]
        if role.by_item:
            # Each item passes the lanes one after the other, as if each were a step.
            lanes = [replace(lane, step=number) for number, lane in enumerate(lanes)]
        there = set() if role.void else {"out"}
        for step in sorted({one.step for one in role.combines} | {lane.step for lane in lanes}):
            for one in (c for c in role.combines if c.step == step):
                for name in (one.left, *([one.right] if one.right else [])):
                    if name not in there:
                        notes.note("lanes", f"message {name} is combined before it is there", "order", **place)
                there.add(one.result)
            here = [lane for lane in lanes if lane.step == step]
            coming = {lane.data for lane in here if not lane.write}
            for lane in here:
                if lane.write and lane.data not in ("token", *there, *coming):
                    notes.note("lanes", f"message {lane.data} is sent before it is there", "order", **place)
            there |= coming
    for one in role.combines:
        if not 0 <= one.step <= MOST_STEPS or one.result in ("out", "token") or not MESSAGE.fullmatch(one.result):
            notes.note("structure", f"a step combines into {one.result}", "a message that may change", **place)


def _check_lane(notes: StructureNotes, number: int, lane: LaneImage, role: Role, m: int, place: dict[str, Any]) -> None:
    lanes = role.lanes
    if not MESSAGE.fullmatch(lane.data):
        notes.note("structure", f"lane {number} moves {lane.data!r}", "out, in, token, t0, t1, …", **place)
    if not SYNC <= lane.turn < role.turns or not 0 <= lane.step <= MOST_STEPS:
        notes.note(
            "structure",
            f"lane {number} moves in turn {lane.turn} and step {lane.step}",
            f"a turn below {role.turns} and a step",
            **place,
        )
    for name, other in (("after", lane.after), ("paired with", lane.pair)):
        if other is not None and 0 <= other < len(lanes):
            if (lanes[other].turn, lanes[other].step) != (lane.turn, lane.step):
                notes.note("structure", f"lane {number} is {name} a lane of another step", "one step", **place)
    for register in lane.registers:
        notes.in_range(f"a register of lane {number}", register, notes.images.shape.registers, **place)
    if not lane.registers:
        notes.note("structure", f"lane {number} has no registers", "at least one", **place)
    if len(set(lane.registers)) != len(lane.registers):
        notes.note("structure", f"lane {number} has a register twice", "each once, in turn", **place)
    if lane.words is not None and not 0 <= lane.words <= m:
        notes.note("structure", f"lane {number} has {lane.words} words", f"0 to {m}, the message's", **place)
    if lane.after_all and lane.after is None:
        notes.note("structure", f"lane {number} comes after all of no lane", "a lane that it comes after", **place)
    for name, other in (("after", lane.after), ("paired with", lane.pair)):
        if other is not None:
            notes.in_range(f"the lane that lane {number} is {name}", other, len(lanes), **place)
    paired = lane.pair is not None and lane.pair != number
    if lane.pair == number or paired != (lane.window is not None) or (lane.window is not None and lane.window < 1):
        notes.note(
            "structure",
            f"lane {number} is paired with lane {lane.pair} in a window of {lane.window}",
            "another lane and a window of at least 1, or neither",
            **place,
        )
    seen, at = {number}, lane.after
    while at is not None and 0 <= at < len(lanes):
        if at in seen:
            if at == number:
                notes.note("lanes", f"lane {number} waits for itself", "lanes that come after earlier ones", **place)
            break
        seen.add(at)
        at = lanes[at].after


def check_rewrites(notes: StructureNotes, node: int) -> None:
    images = notes.images
    annotated = {part.phase: {(r.pipeline, r.vfsm) for r in part.annotations} for part in images.nodes[node].phases}
    rewriter: dict[tuple[int, int, int], int] = {}
    for index, operator in images.nodes[node].operators:
        image = images.operators[index]
        place: dict[str, Any] = {
            "phase": image.phase,
            "node": node,
            "operator": image.label,
            "source": image.source,
        }
        sets = []
        for role in operator.roles:
            named = [(r.pipeline, r.vfsm) for r in role.rewrites]
            sets.append(set(named))
            if len(set(named)) != len(named):
                notes.note("rewrites", "a role rewrites a VFSM twice", "each once", **place)
            for rewrite in role.rewrites:
                at = {"pipeline": rewrite.pipeline, "vfsm": rewrite.vfsm, **place}
                notes.check_codes(rewrite.annotation, at)
                if (rewrite.pipeline, rewrite.vfsm) not in annotated.get(image.phase, ()):
                    notes.note("rewrites", "it is rewritten but not in the phase", "VFSMs of the phase", **at)
                key = (image.phase, rewrite.pipeline, rewrite.vfsm)
                other = rewriter.setdefault(key, index)
                if other != index:
                    notes.note(
                        "rewrites",
                        f"operator {images.operators[other].label} rewrites it as well",
                        "VFSMs of the own streams",
                        **at,
                    )
        _check_standing(notes, node, index, operator)
        used = [sets[i] for i in dict.fromkeys(operator.role_of)]
        if any(named != used[0] for named in used):
            notes.note(
                "rewrites",
                "its roles do not rewrite the same VFSMs, so an annotation of an earlier value may stay",
                "the same VFSMs in every role",
                **place,
            )


def _check_standing(notes: StructureNotes, node: int, index: int, operator: NodeOperator) -> None:
    """Check VFSMs before any load function, as words may come by then: each does as in some role, or reads nothing."""
    image = notes.images.operators[index]
    standing = {
        (r.pipeline, r.vfsm): r.annotation
        for part in notes.images.nodes[node].phases
        if part.phase == image.phase
        for r in part.annotations
    }
    allowed: dict[tuple[int, int], list[Annotation]] = {}
    for number in dict.fromkeys(operator.role_of):
        for rewrite in operator.roles[number].rewrites:
            allowed.setdefault((rewrite.pipeline, rewrite.vfsm), []).append(rewrite.annotation)
    for (pipeline, vfsm), roles in allowed.items():
        before = standing.get((pipeline, vfsm))
        if before is None or before in roles or before.source == notes.codes.nop:
            continue
        notes.note(
            "rewrites",
            f"before any load function it moves words from {notes.codes.name(before.source)} to "
            f"{notes.codes.name(before.destination)}, as in no role",
            "NOP, or what it does in one of the roles",
            phase=image.phase,
            node=node,
            pipeline=pipeline,
            vfsm=vfsm,
            operator=image.label,
            source=image.source,
        )
