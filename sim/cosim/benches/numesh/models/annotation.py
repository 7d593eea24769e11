"""Model of the annotation stage of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class AnnotationModel:
    """A memory and its output."""

    def __init__(self, contents: Sequence[int]) -> None:
        self.memory = list(contents)
        self.active = False
        self.vfsm = 0
        self.annotation = self.memory[0]

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        # Without an active VFSM the other outputs are not used.
        return {
            "active": int(self.active),
            "decode_vfsm": self.vfsm if self.active else None,
            "annotation": self.annotation if self.active else None,
        }

    def clock(self, inputs: Mapping[str, int]) -> None:
        self.vfsm = inputs["vfsm"]
        self.annotation = self.memory[self.vfsm]  # the old contents, if written in this cycle
        if inputs["w_enable"]:
            self.memory[inputs["w_vfsm"]] = inputs["w_annotation"]
        self.active = bool(inputs["running"]) and not inputs["rst"]
