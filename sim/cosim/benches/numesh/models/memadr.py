"""Model of the command assemblers of all pipelines, when all are given the same words."""

from __future__ import annotations

from collections.abc import Mapping

from numesh.codes import Codes, CommandKind, pack, unpack
from numesh.shape import NodeShape


class AssemblerModel:
    """Words, collected until they are a command."""

    def __init__(self, shape: NodeShape) -> None:
        self.shape = shape
        self.codes = Codes(shape)
        self.words: list[int] = []
        self.complete: int | None = None
        """The command that is carried out in this cycle."""

    def command(self, inputs: Mapping[str, int]) -> int | None:
        """The command that is complete in this cycle."""
        if not inputs["valid"] or len(self.words) + 1 < self.codes.command_words:
            return None
        words = [*self.words, inputs["word"]]
        return sum(word << (self.shape.width * i) for i, word in enumerate(words))

    def kind(self, inputs: Mapping[str, int]) -> int:
        """Kind of a command that is complete in this cycle; 0, which does nothing, if there is none."""
        return (self.command(inputs) or 0) & 7

    def outputs(self, inputs: Mapping[str, int]) -> dict[str, int | None]:
        kind = (self.complete or 0) & 7
        expected: dict[str, int | None] = {}
        for p in range(self.shape.pipelines):
            expected |= {f"w_annotation_{p}": 0, f"vfsm_{p}": None, f"annotation_{p}": None}
            if kind == CommandKind.ANNOTATION:
                fields = self._fields(kind)
                expected |= {
                    f"w_annotation_{p}": 1,
                    f"vfsm_{p}": fields["vfsm"],
                    f"annotation_{p}": pack(
                        self.codes.annotation_layout, **{n: fields[n] for n in self.codes.annotation_layout}
                    ),
                }
        expected |= {"w_schedule_0": 0, "address_0": None, "entry_0": None}
        expected |= {"set_pointer_0": 0, "add_pointer_0": 0, "pointer_0": None, "second_0": None}
        if kind == CommandKind.SCHEDULE:
            fields = self._fields(kind)
            entry = pack(self.codes.entry_layout, **{n: fields[n] for n in self.codes.entry_layout})
            expected |= {"w_schedule_0": 1, "address_0": fields["address"], "entry_0": entry}
        if kind in (CommandKind.SET_POINTER, CommandKind.ADD_POINTER):
            strobe = "set_pointer_0" if kind == CommandKind.SET_POINTER else "add_pointer_0"
            fields = self._fields(kind)
            expected |= {strobe: 1, "pointer_0": fields["value"], "second_0": fields.get("second")}
        return expected

    def clock(self, inputs: Mapping[str, int]) -> None:
        self.complete = None if inputs["rst"] else self.command(inputs)
        if inputs["valid"]:
            self.words.append(inputs["word"])
            if len(self.words) == self.codes.command_words:
                self.words = []
        if inputs["rst"]:
            self.words = []

    def _fields(self, kind: int) -> dict[str, int]:
        assert self.complete is not None
        return unpack(self.codes.command_layouts[CommandKind(kind)], self.complete)
