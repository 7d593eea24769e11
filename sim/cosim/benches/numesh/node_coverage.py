"""Coverage of events in a node."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from cosim.benches.coverage import Coverage
from cosim.benches.numesh.models.node import Happening, NodeModel
from cosim.benches.numesh.models.places import kind_of
from numesh.codes import LOOKAHEAD, CommandKind, MoveType

from .moves import MoveCoverage, source_kind

REFUSALS = (
    "link: not accepted",
    *("link: second leg not ready", "link: second leg not there"),
    "register: full",
    "buffer: full",
)
"""Why a word in the write stage stays."""

MISSES = (
    "link: no word",
    *("fork: no first leg", "fork: the word goes elsewhere", "fork: first leg refused"),
    *("register: empty", "register: own write stage uses the interface"),
    "buffer: empty",
)
"""Why the read stage takes nothing from a source that can give."""

PLACES = ("of the processor and of pipelines", "of several pipelines")
STATES = ("none", "own", "buffer", "meets", "left", "retry", "open")
"""What the read stage does, or why its turn is idle (`models.node`)."""
SECOND = ("own", "buffer", "meets", "retry")
"""States in which a second leg holds the first back. That it is left ("left") needs an annotation that changes between two turns
in a row, which the bench of the transfer stages has."""
COMMANDS = tuple(kind.name for kind in CommandKind) + tuple(
    f"unknown kind {kind}" for kind in range(max(CommandKind) + 1, 8)
)


class NodeCoverage:
    """Groups of bins on a node, filled from its model."""

    def __init__(self, coverage: Coverage, model: NodeModel) -> None:
        self.coverage = coverage
        self.model = model
        self.moves = MoveCoverage(coverage, model.codes)
        shape = model.shape
        for p in range(shape.pipelines):
            coverage.group(f"refused in pipeline {p}", REFUSALS)
            coverage.group(f"not taken in pipeline {p}", MISSES)
            never = {"meets": "no pipeline is lower than the first"} if p == 0 else None
            coverage.group(f"read stage of pipeline {p}", STATES, never)
            second = ["both legs at once", *(f"second leg is {state}" for state in SECOND)]
            never = {"second leg is meets": "no pipeline is lower than the first"} if p == 0 else None
            coverage.group(f"fork in pipeline {p}", second, never)
            coverage.group(f"command in pipeline {p}", COMMANDS)
        coverage.group(
            "processor",
            [f"{what} {which}" for what, which in product(("reads", "writes"), ("full", "empty"))] + ["idle"],
        )
        never = {PLACES[1]: "there is one pipeline"} if shape.pipelines == 1 else None
        coverage.group("words in one register", PLACES, never)
        several = model.codes.command_words > 1
        coverage.group(
            "reset with",
            [
                "words in write stages",
                "words in buffers",
                "words in registers",
                "a pointer command",
                "part of a command",
            ],
            None if several else {"part of a command": "a command is one word"},
        )
        coverage.group(
            "changed while it is read",
            ["schedule entry", *(f"annotation of pipeline {p}" for p in range(shape.pipelines))],
        )
        coverage.group("address", ["first", "ahead", "set", "add"])

    def before(self, inputs: Mapping[str, int]) -> None:
        """Look at the model before the cycle ends."""
        model, hit = self.model, self.coverage.hit
        if model.started < LOOKAHEAD:
            hit("address", "first")
        elif not model.pending:
            hit("address", "ahead")
        else:
            hit("address", "set" if model.pending[0][0] == CommandKind.SET_POINTER else "add")
        if inputs["rst"]:
            for name, happens in (
                ("words in write stages", any(model.stage)),
                ("words in buffers", any(map(any, model.held))),
                ("words in registers", any(model.full)),
                ("a pointer command", bool(model.pending) and model.started >= LOOKAHEAD),
                ("part of a command", any(model.partial)),
            ):
                if happens:
                    hit("reset with", name)
            return
        what = "reads" if inputs["p_read"] else "writes" if inputs["p_write"] else "idle"
        if what == "idle" or inputs["p_address"] >= model.shape.registers:
            hit("processor", "idle")
        else:
            hit("processor", f"{what} {'full' if model.full[inputs['p_address']] else 'empty'}")
        for held in zip(*model.places, strict=True):
            if sum(held) > 1:
                hit("words in one register", PLACES[not held[0]])

    def after(self) -> None:
        """Count the events of all pipelines in the last cycle."""
        for what in self.model.collisions:
            self.coverage.hit("changed while it is read", what)
        for p, happening in enumerate(self.model.happenings):
            self._pipeline(p, happening)

    def _pipeline(self, p: int, happening: Happening) -> None:
        codes, hit = self.model.codes, self.coverage.hit
        written, reading = happening.written, happening.read
        if written is not None:
            self.moves.written(written.annotation, ok=happening.ok, from_buffer=written.from_buffer)
            if happening.why and happening.why != "never":
                kind = kind_of(codes, written.annotation.destination)
                hit(f"refused in pipeline {p}", f"{kind}: {happening.why}")
        hit(f"read stage of pipeline {p}", happening.state)
        if happening.command is not None:
            hit(f"command in pipeline {p}", COMMANDS[happening.command])
        if reading is None:
            return
        if happening.state == "open":
            if happening.took:
                self.moves.taken(reading)
            elif happening.why_not != "never":
                hit(f"not taken in pipeline {p}", f"{source_kind(codes, reading)}: {happening.why_not}")
        if reading.type == MoveType.FORK and happening.forked:
            if happening.state in SECOND:
                hit(f"fork in pipeline {p}", f"second leg is {happening.state}")
            elif happening.took:
                hit(f"fork in pipeline {p}", "both legs at once")
