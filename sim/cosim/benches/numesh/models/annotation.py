"""Model of the annotation stage of a pipeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


class AnnotationModel:
    """A memory, the VFSM that it is read for, and its output."""

    def __init__(self, contents: Sequence[int]) -> None:
        self.memory = list(contents)
        self.active = self.look_running = False
        self.vfsm = self.look_vfsm = 0
        self.annotation = self.memory[0]

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        # Without an active VFSM the other outputs are not used.
        return {
            "active": int(self.active),
            "decode_vfsm": self.vfsm if self.active else None,
            "annotation": self.annotation if self.active else None,
        }

    def clock(self, inputs: Mapping[str, int]) -> None:
        self.vfsm, self.look_vfsm = self.look_vfsm, inputs["vfsm"]
        self.annotation = self.memory[self.vfsm]  # the old contents, if written in this cycle
        if inputs["w_enable"]:
            self.memory[inputs["w_vfsm"]] = inputs["w_annotation"]
        self.active = self.look_running and not inputs["rst"]
        self.look_running = bool(inputs["running"]) and not inputs["rst"]
        if inputs["rst"]:
            self.look_vfsm = self.vfsm = 0
