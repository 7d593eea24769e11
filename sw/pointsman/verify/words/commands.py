"""Rule "commands": operators of which a node sends commands to the routers of others (§4.1.1, B.1 ``str_stream_dyn``).

Takes the view of a phase; notes findings. The annotations that the commands give each router stand in the images as
roles that no load function writes; the other passes judge each of these roles. This module checks that the commands for
a value leave every router as in the roles for that value, whatever the value before; that commands of two operators
cannot mix; and that commands have taken effect when the words arrive that rely on them.

Example: node 0 sends to node 1 with value 1 and to node 2 with value 2. A VFSM of node 1 that passes words on for value
2 and keeps them for value 1 changes, so both values need a command for it; a VFSM that is the same for both needs none.
"""

from __future__ import annotations

from numesh.codes import (
    ANNOTATION_LATENCY,
    REPROGRAM_VFSM,
    SHORTEST_RELAY,
    Annotation,
    CommandKind,
    MoveType,
    unpack,
)
from pointsman.artifacts.images.images import Promise
from pointsman.verify.node.phase_view import PhaseView
from pointsman.verify.report import Notebook

from .trace import States, trace_promise


def check_commands(view: PhaseView, notebook: Notebook) -> None:
    """Note commands that give other annotations than the roles, that may mix with others, or that may come late."""
    for index, operator in view.operators():
        own = view.images.members[index].items()
        sends = [node for node, here in own if node in view.nodes and any(role.commands for role in here.roles)]
        if operator.remote or sends:
            notebook.counts["operators with commands"] += 1
            _Commands(view, index, notebook).check(sends)


class _Commands:
    def __init__(self, view: PhaseView, index: int, notebook: Notebook) -> None:
        self.images = view.images
        self.codes = view.codes
        self.views = view.nodes
        self.index = index
        self.operator = view.images.operators[index]
        self.notebook = notebook

    def note(self, node: int, message: str, right: str, value: int | None = None) -> None:
        values = () if value is None else (f"{self.operator.label} {self.operator.values[value]}",)
        phase = self.images.phases[self.operator.phase].name
        self.notebook.note("commands", message, right, self.operator, phase=phase, node=node, values=values)

    def check(self, sends: list[int]) -> None:
        operator, images = self.operator, self.images
        if not operator.remote:
            self.note(
                sends[0], "its load function sends commands, and those of others rewrite as well", "one of the two"
            )
            return
        if not sends and len(operator.values) > 1:
            self.note(min(self.views), "other nodes bring it its value, and none sends commands", "a node that does")
        if self.codes.command_words > 1:
            self.note(0, f"a command takes {self.codes.command_words} words", "one, so that commands do not mix")
        if images.phases[operator.phase].technique not in ("none", "barrier", "hijack"):
            self.note(0, "nodes leave the phase each for itself", "a barrier, behind which no command is on its way")
        told: set[int] = set()
        for value in range(len(operator.values)):
            for node in sends:
                self._check_value(node, value, told)
        for node, view in self.views.items():
            rewritten = {
                (rewrite.pipeline, other)
                for other, here in view.operators
                for role in here.roles
                for rewrite in role.rewrites
            }
            own = any(other == self.index for _, other in rewritten)
            if own and node not in told:
                self.note(node, "nobody sends it the annotations of its roles", "a node that does, for every value")
            if own and any(other != self.index for _, other in rewritten):
                self.note(node, "load functions of another operator send it commands meanwhile", "a phase of its own")

    def _check_value(self, node: int, value: int, told: set[int]) -> None:
        """Check the commands that ``node`` sends for a value against the roles; add the nodes reached to ``told``."""
        written: dict[tuple[int, int, int], Annotation] = {}
        here = dict(self.views[node].operators)[self.index]
        role = here.roles[here.role_of[value]]
        for register, word in role.commands:
            promise = self._promise(node, register, value)
            if promise is None:
                self.note(node, f"register {register} leads to no command register", "a stream for each command", value)
                continue
            ((other, pipeline),) = promise.destinations
            command = self._decode(word)
            if command is None:
                self.note(node, f"the word {word:#x} rewrites no annotation", "a command that does", value)
                continue
            vfsm, annotation = command
            told.add(other)
            written[other, pipeline, vfsm] = annotation
            self._check_time(promise, role.delay, value)
        wanted: dict[tuple[int, int, int], tuple[Annotation, bool]] = {}
        reached = {other for other, _, _ in written}
        for other in reached:
            view = dict(self.views[other].operators)[self.index]
            now = {(r.pipeline, r.vfsm): r.annotation for r in view.roles[view.role_of[value]].rewrites}
            others = {((r.pipeline, r.vfsm), r.annotation) for one in view.roles for r in one.rewrites}
            changing = {key for key, annotation in others if annotation != now.get(key)}
            for key, annotation in now.items():
                wanted[(other, *key)] = annotation, key in changing
        for place, annotation in written.items():
            if place not in wanted or wanted[place][0] != annotation:
                other, pipeline, vfsm = place
                message = (
                    f"it makes VFSM {vfsm} of pipeline {pipeline} of node {other} stand otherwise than in its role"
                )
                self.note(node, message, "the annotation of the role for this value", value)
        for (other, pipeline, vfsm), (_, changes) in wanted.items():
            if changes and (other, pipeline, vfsm) not in written:
                message = f"VFSM {vfsm} of pipeline {pipeline} of node {other} stays as it was for the value before"
                self.note(node, message, "a command for each annotation that changes", value)

    def _promise(self, node: int, register: int, value: int) -> Promise | None:
        """The promised stream for ``value`` from this register to a single command register; None: there is none."""
        for promise in self.images.promises:
            if (promise.operator, promise.source, promise.register) == (self.index, node, register):
                ends = promise.destinations
                if value in promise.values and len(ends) == 1 and ends[0][1] < self.images.shape.pipelines:
                    return promise
        return None

    def _decode(self, word: int) -> tuple[int, Annotation] | None:
        """VFSM and annotation of a command that rewrites an annotation; None for any other command."""
        fields = unpack(self.codes.command_layouts[CommandKind.ANNOTATION], word)
        if fields["kind"] != CommandKind.ANNOTATION or fields["type"] not in tuple(MoveType):
            return None
        move = MoveType(fields["type"])
        return fields["vfsm"], Annotation(move, fields["source"], fields["destination"], bool(fields["forked"]))

    def _check_time(self, promise: Promise, delay: int, value: int) -> None:
        """Check that ``delay`` cycles are enough: a command, never refused, waits at most a period for each VFSM; VFSM 1 finds
        it ``SHORTEST_RELAY`` slots later, or at most a period after that, and it holds ``ANNOTATION_LATENCY`` cycles later."""
        ((other, pipeline),) = promise.destinations
        trace = trace_promise(promise, States(self.views, {self.index: value}), self.codes)
        if all(row[pipeline] != REPROGRAM_VFSM for row in self.views[other].part.schedule):
            self.note(
                other, f"VFSM 1 never runs in pipeline {pipeline}, to which commands come", "a slot for it", value
            )
        need = (len(trace.vfsms) + 1) * self.images.period + SHORTEST_RELAY + ANNOTATION_LATENCY
        if delay < need:
            message = f"words follow a command to node {other} after {delay} cycles"
            self.note(promise.source, message, f"{need} cycles, in which it has taken effect", value)
