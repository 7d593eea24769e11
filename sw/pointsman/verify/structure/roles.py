"""First pass of the judge, second part: what nodes do in operators. Lanes, messages, and what load functions rewrite.

Takes and gives what ``check_structure`` does, which calls it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from numesh.codes import Annotation, Codes, MoveType
from pointsman.artifacts.images.images import SYNC, Images, LaneImage, NodeOperator, Role
from pointsman.verify.report import Finding, Notebook

MESSAGE = re.compile(r"out|in|token|t[0-9]{1,3}")
"""Names of messages in lanes and combinations."""


class RoleStructure:
    """Rules of the roles of nodes."""

    def __init__(self, images: Images, notebook: Notebook) -> None:
        self.images = images
        self.notebook = notebook
        self.codes = Codes(images.shape)

    def note(self, rule: str, message: str, right: str, **place: Any) -> None:
        phase = place.pop("phase", None)
        if isinstance(phase, int):
            phase = self.phase_name(phase)
        self.notebook.add(Finding(rule, message, right, phase=phase, **place))

    def phase_name(self, phase: int) -> str:
        known = 0 <= phase < len(self.images.phases)
        return self.images.phases[phase].name if known else f"number {phase}"

    def in_range(self, what: str, value: int, count: int, **place: Any) -> bool:
        """Note a number outside 0..count-1."""
        if 0 <= value < count:
            return True
        right = f"a number of 0..{count - 1}" if count else "none, as there is nothing to name"
        self.note("structure", f"{what} is {value}", right, **place)
        return False

    def check_codes(self, annotation: Annotation, place: dict[str, Any]) -> None:
        codes = self.codes
        if annotation.type not in tuple(MoveType):
            self.note("codes", f"the type of move is {annotation.type}", "MOVE, BLIND, COPY or FORK", **place)
        for end, code in (("source", annotation.source), ("destination", annotation.destination)):
            known = codes.is_neighbour(code) or codes.is_register(code) or codes.is_buffer(code)
            if not known and code not in (codes.nop, codes.null):
                self.note(
                    "codes",
                    f"its {end} is {codes.name(code)}",
                    "a link, an interface register, a buffer, NOP or NULL",
                    **place,
                )

    def check_node_operator(self, node: int, index: int, operator: NodeOperator) -> None:
        image = self.images.operators[index]
        place: dict[str, Any] = {"node": node, "operator": image.label, "source": image.source}
        if image.stages < 1:
            self.note("structure", f"it has {image.stages} stages", "at least 1", **place)
        if len(operator.role_of) != image.states:
            self.note(
                "structure",
                f"roles are chosen for {len(operator.role_of)} values",
                f"{image.states} values",
                **place,
            )
        for number in operator.role_of:
            self.in_range("a role", number, len(operator.roles), **place)
        if not 0 <= operator.position < operator.nodes:
            self.note(
                "structure",
                f"its position is {operator.position} of {operator.nodes}",
                "a position within the instance",
                **place,
            )
        parts = {part.phase for part in self.images.nodes[node].phases}
        if operator.enters not in (parts & set(image.continues) if image.continues else {-1}):
            self.note(
                "structure",
                f"its load function enters phase {operator.enters}",
                "a phase of the node in which it continues; -1 if it does not",
                **place,
            )
        if parts.isdisjoint(image.phases) and any(role.lanes or role.rewrites for role in operator.roles):
            self.note(
                "structure",
                f"its words need phase {self.phase_name(image.phase)}, of which the node has no part",
                "a schedule of that phase",
                **place,
            )
        for role in operator.roles:
            if role.local and any(lane.turn != SYNC for lane in role.lanes):
                self.note("lanes", "words move although the message is only copied", "no lanes", **place)
            for number, lane in enumerate(role.lanes):
                self.check_lane(number, lane, role, place)
                if role.by_item and (lane.after, lane.after_all, lane.step, lane.turn, lane.pair, lane.words) != (
                    *(number - 1 if number else None, False, 0, 0, None, None),
                ):
                    self.note(
                        "structure",
                        f"lane {number} does not move items after lane {number - 1}",
                        "whole messages, each item after the lane before",
                        **place,
                    )
            self.check_messages(role, place)

    def check_messages(self, role: Role, place: dict[str, Any]) -> None:
        """What a role does with messages: names, and nothing used before it is there."""
        for turn in range(max(1, role.turns)):
            lanes = [lane for lane in role.lanes if lane.turn == turn]
            if role.by_item:
                # For each item one lane after the other.
                lanes = [replace(lane, step=number) for number, lane in enumerate(lanes)]
            there = set() if role.void else {"out"}
            for step in range(max([0, *(c.step for c in role.combines), *(lane.step for lane in lanes)]) + 1):
                for one in (c for c in role.combines if c.step == step):
                    for name in (one.left, *([one.right] if one.right else [])):
                        if name not in there:
                            self.note("lanes", f"message {name} is combined before it is there", "order", **place)
                    there.add(one.result)
                here = [lane for lane in lanes if lane.step == step]
                coming = {lane.data for lane in here if not lane.write}
                for lane in here:
                    if lane.write and lane.data not in ("token", *there, *coming):
                        self.note("lanes", f"message {lane.data} is sent before it is there", "order", **place)
                there |= coming
        for one in role.combines:
            if one.step < 0 or one.result in ("out", "token") or not MESSAGE.fullmatch(one.result):
                self.note("structure", f"a step combines into {one.result}", "a message that may change", **place)

    def check_lane(self, number: int, lane: LaneImage, role: Role, place: dict[str, Any]) -> None:
        lanes = role.lanes
        if not MESSAGE.fullmatch(lane.data):
            self.note("structure", f"lane {number} moves {lane.data!r}", "out, in, token, t0, t1, …", **place)
        if not SYNC <= lane.turn < role.turns or lane.step < 0:
            self.note(
                "structure",
                f"lane {number} moves in turn {lane.turn} and step {lane.step}",
                f"a turn below {role.turns} and a step",
                **place,
            )
        for name, other in (("after", lane.after), ("paired with", lane.pair)):
            if other is not None and 0 <= other < len(lanes):
                if (lanes[other].turn, lanes[other].step) != (lane.turn, lane.step):
                    self.note("structure", f"lane {number} is {name} a lane of another step", "one step", **place)
        for register in lane.registers:
            self.in_range(f"a register of lane {number}", register, self.images.shape.registers, **place)
        if not lane.registers:
            self.note("structure", f"lane {number} has no registers", "at least one", **place)
        if lane.words is not None and lane.words < 0:
            self.note("structure", f"lane {number} has {lane.words} words", "0 or more", **place)
        for name, other in (("after", lane.after), ("paired with", lane.pair)):
            if other is not None:
                self.in_range(f"the lane that lane {number} is {name}", other, len(lanes), **place)
        paired = lane.pair is not None and lane.pair != number
        if paired != (lane.window is not None) or (lane.window is not None and lane.window < 1):
            self.note(
                "structure",
                f"lane {number} is paired with lane {lane.pair} in a window of {lane.window}",
                "another lane and a window of at least 1, or neither",
                **place,
            )
        seen, at = {number}, lane.after
        while at is not None and 0 <= at < len(lanes):
            if at in seen:
                if at == number:
                    self.note("lanes", f"lane {number} waits for itself", "lanes that come after earlier ones", **place)
                break
            seen.add(at)
            at = lanes[at].after

    def check_rewrites(self, node: int) -> None:
        images = self.images
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
                    self.note("rewrites", "a role rewrites a VFSM twice", "each once", **place)
                for rewrite in role.rewrites:
                    at = {"pipeline": rewrite.pipeline, "vfsm": rewrite.vfsm, **place}
                    self.check_codes(rewrite.annotation, at)
                    if (rewrite.pipeline, rewrite.vfsm) not in annotated.get(image.phase, ()):
                        self.note("rewrites", "it is rewritten but not in the phase", "VFSMs of the phase", **at)
                    key = (image.phase, rewrite.pipeline, rewrite.vfsm)
                    other = rewriter.setdefault(key, index)
                    if other != index:
                        self.note(
                            "rewrites",
                            f"operator {images.operators[other].label} rewrites it as well",
                            "VFSMs of the own streams",
                            **at,
                        )
            self.check_standing(node, index, operator)
            used = [sets[i] for i in dict.fromkeys(operator.role_of)]
            if any(named != used[0] for named in used):
                self.note(
                    "rewrites",
                    "its roles do not rewrite the same VFSMs, so an annotation of an earlier value may stay",
                    "the same VFSMs in every role",
                    **place,
                )

    def check_standing(self, node: int, index: int, operator: NodeOperator) -> None:
        """Words may come before a node has called its load function: the VFSM must then do as in some role, or wait."""
        image = self.images.operators[index]
        standing = {
            (r.pipeline, r.vfsm): r.annotation
            for part in self.images.nodes[node].phases
            if part.phase == image.phase
            for r in part.annotations
        }
        allowed: dict[tuple[int, int], list[Annotation]] = {}
        for number in dict.fromkeys(operator.role_of):
            for rewrite in operator.roles[number].rewrites:
                allowed.setdefault((rewrite.pipeline, rewrite.vfsm), []).append(rewrite.annotation)
        for (pipeline, vfsm), roles in allowed.items():
            before = standing.get((pipeline, vfsm))
            if before is None or before in roles or before.source == self.codes.nop:
                continue
            self.note(
                "rewrites",
                f"before any load function it moves words from {self.codes.name(before.source)} to "
                f"{self.codes.name(before.destination)}, as in no role",
                "NOP, or what it does in one of the roles",
                phase=image.phase,
                node=node,
                pipeline=pipeline,
                vfsm=vfsm,
                operator=image.label,
                source=image.source,
            )
