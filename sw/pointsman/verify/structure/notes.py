"""How the first pass of the judge notes numbers that name nothing, and codes that are none.

Takes images that may be wrong everywhere, so a phase is called by its name only if a phase of that number exists.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import cached_property
from typing import Any

from numesh.codes import Annotation, Codes, MoveType
from pointsman.artifacts.images.images import Images, NodeOperator
from pointsman.verify.report import Finding, Notebook

MOVES = frozenset(MoveType)


class StructureNotes:
    """The images under judgement, and the notebook for findings about their numbers and codes."""

    def __init__(self, images: Images, notebook: Notebook) -> None:
        self.images = images
        self.notebook = notebook
        self.codes = Codes(images.shape)
        self._looked_at: set[Hashable] = set()

    def is_known(self, thing: Hashable) -> bool:
        """Is this equal to something that was asked for before, and has nothing been noted so far? Then it need not be looked at
        again: nodes of a mesh are mostly alike."""
        before = len(self._looked_at)
        self._looked_at.add(thing)
        return len(self._looked_at) == before and not self.notebook.broken

    @cached_property
    def members(self) -> dict[int, dict[int, NodeOperator]]:
        """By operator, the nodes that have a part in it, with that part."""
        found: dict[int, dict[int, NodeOperator]] = {}
        for node, image in enumerate(self.images.nodes):
            for number, view in image.operators:
                found.setdefault(number, {})[node] = view
        return found

    def note(self, rule: str, message: str, right: str, **place: Any) -> None:
        """Note that a rule is broken; a phase of ``place`` may be given by its number."""
        phase = place.pop("phase", None)
        if isinstance(phase, int):
            phase = self.phase_name(phase)
        self.notebook.add(Finding(rule, message, right, phase=phase, **place))

    def phase_name(self, phase: int) -> str:
        known = 0 <= phase < len(self.images.phases)
        return self.images.phases[phase].name if known else f"number {phase}"

    def in_range(self, what: str, value: int, count: int, **place: Any) -> bool:
        """Tell whether ``value`` is in 0..count-1, and note a finding if it is not."""
        if 0 <= value < count:
            return True
        right = f"a number of 0..{count - 1}" if count else "none, as there is nothing to name"
        self.note("structure", f"{what} is {value}", right, **place)
        return False

    def check_codes(self, annotation: Annotation, place: dict[str, Any]) -> None:
        codes = self.codes
        if annotation.type not in MOVES:
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
