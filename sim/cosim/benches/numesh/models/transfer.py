"""Model of read stage, write stage and buffers of a pipeline.

A word in the write stage is *refusable* if it may have to stay: anything but a word to MEMADR or NULL or of a BLIND move,
and any word that came from the buffer, which keeps it until the end of the cycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from numesh.codes import Annotation, Codes, MoveType
from numesh.shape import NodeShape

Inputs = Mapping[str, int]


@dataclass
class Word:
    """A word in the write stage: that of VFSM ``vfsm``, taken under ``annotation``."""

    data: int
    vfsm: int
    annotation: Annotation
    from_buffer: bool


@dataclass
class Reading:
    """Action of the read stage in a cycle.

    ``state`` says why it may take a word or not: "idle", "own" (the VFSM is still in the write stage), "incoming" (the
    write stage is about to fill its buffer), "retry" or "open".
    """

    state: str
    vfsm: int
    annotation: Annotation
    forked: bool = False


@dataclass
class Result:
    """Outcome of a cycle for its words, besides the next state."""

    reading: Reading
    word: Word | None
    """That in the write stage."""
    ok: bool = False
    """It was written."""
    taken: Word | None = None
    notes: list[str] = field(default_factory=list)


class TransferModel:
    """A pipeline, cycle by cycle, at the ports of its transfer stages."""

    def __init__(self, shape: NodeShape) -> None:
        self.shape = shape
        self.codes = Codes(shape)
        self.word: Word | None = None
        self.buffer = [0] * shape.vfsms
        self.held = [False] * shape.vfsms
        self.coming: list[tuple[bool, int, Annotation]] = [(False, 0, self.codes.decode_annotation(0))] * 2
        """(is a VFSM in the read stage, its number, its annotation): inputs of two cycles before, then of the cycle
        before."""

    # -- what registers alone decide -------------------------------------------------------------------------

    def reading(self, inputs: Inputs) -> Reading:
        codes, word = self.codes, self.word
        active, vfsm, annotation = self.coming[0]
        if not active:
            return Reading("idle", vfsm, annotation)
        state = "retry" if self.held[vfsm] else "open"
        if word is not None:
            if word.vfsm == vfsm and self._refusable(word):
                state = "own"
            elif state == "open" and word.annotation.destination == codes.buffer(vfsm):
                state = "incoming"
        forked = (
            annotation.type == MoveType.FORK
            and codes.is_neighbour(annotation.source)
            and word is not None
            and word.annotation.destination == annotation.source
        )
        return Reading(state, vfsm, annotation, forked)

    def _refusable(self, word: Word) -> bool:
        taken_for_sure = word.annotation.destination in (self.codes.memadr, self.codes.null)
        return word.from_buffer or not (taken_for_sure or word.annotation.type == MoveType.BLIND)

    def _offered(self, word: Word, reading: Reading) -> bool:
        """A word for a link is shown to the reader there. One that has two legs is only when the second is ready."""
        if reading.forked:
            return reading.state == "open"
        return not word.annotation.forked

    def asks_register(self, reading: Reading) -> bool:
        """The read stage asks for an interface register."""
        if reading.state != "open" or not self.codes.is_register(reading.annotation.source):
            return False
        return self.word is None or not self.codes.is_register(self.word.annotation.destination)

    def outputs(self, inputs: Inputs) -> dict[str, int | None]:
        codes = self.codes
        reading = self.reading(inputs)
        source = reading.annotation.source
        expected: dict[str, int | None] = {
            "in_accept": 0,
            "out_claim": 0,
            "out_valid": None,
            "out_data": None,
            "memadr": 0,
            "read__request": 0,
            "read__number": None,
            "read__keep": None,
            "write__request": 0,
            "write__number": None,
            "write__blind": None,
            "write__data": None,
        }
        if reading.state == "open" and codes.is_neighbour(source) and reading.annotation.type != MoveType.FORK:
            expected["in_accept"] = 1 << source
        if self.asks_register(reading):
            expected |= {
                "read__request": 1,
                "read__keep": int(reading.annotation.type == MoveType.COPY),
            }
        # Registers are named two cycles before they may be asked for.
        coming = codes.decode_annotation(inputs["annotation"])
        if codes.is_register(coming.source):
            expected["read__number"] = coming.source - codes.first_register
        if codes.is_register(self.coming[1][2].destination):
            expected["write__number"] = self.coming[1][2].destination - codes.first_register
        word = self.word
        if word is not None:
            destination = word.annotation.destination
            if codes.is_neighbour(destination):
                expected["out_claim"] = 1 << destination
                expected["out_valid"] = int(self._offered(word, reading))
                expected["out_data"] = word.data
            elif destination == codes.memadr:
                expected |= {"memadr": 1, "out_data": word.data}
            elif codes.is_register(destination):
                expected |= {
                    "write__request": 1,
                    "write__blind": int(word.annotation.type == MoveType.BLIND),
                    "write__data": word.data,
                }
        return expected

    # -- a cycle ---------------------------------------------------------------------------------------------

    def clock(self, inputs: Inputs) -> None:
        self.step(inputs)

    def step(self, inputs: Inputs) -> Result:
        """Let the cycle end."""
        reading = self.reading(inputs)
        result = Result(reading, self.word)
        result.ok = self._written(inputs, reading)
        result.taken = self._taken(inputs, reading, result)
        cleared: set[int] = set()
        filled: dict[int, int] = {}
        self._after_write(result.ok, cleared, filled)
        source, kind = reading.annotation.source, reading.annotation.type
        from_buffer = result.taken is not None and reading.state == "open" and self.codes.is_buffer(source)
        if from_buffer and kind != MoveType.COPY:
            cleared.add(source - self.codes.first_buffer)
        for vfsm in cleared:
            self.held[vfsm] = False
        for vfsm, data in filled.items():
            self.held[vfsm] = True
            self.buffer[vfsm] = data
        self.word = result.taken
        now = (bool(inputs["active"]), inputs["vfsm"], self.codes.decode_annotation(inputs["annotation"]))
        self.coming = [self.coming[1], now]
        if inputs["rst"]:
            self.word = None
            self.coming = [(False, vfsm, annotation) for _, vfsm, annotation in self.coming]
            self.held = [False] * self.shape.vfsms
        return result

    def _written(self, inputs: Inputs, reading: Reading) -> bool:
        word, codes = self.word, self.codes
        if word is None:
            return False
        destination = word.annotation.destination
        if codes.is_neighbour(destination):
            accepts = bool(inputs["out_accept"] >> destination & 1) and not inputs.get("out_lost")
            return self._offered(word, reading) and accepts
        if codes.is_register(destination):
            return bool(inputs["write__ok"])
        if codes.is_buffer(destination):
            full = self.held[destination - codes.first_buffer]
            return not full or word.annotation.type == MoveType.BLIND
        return destination in (codes.memadr, codes.null)

    def _taken(self, inputs: Inputs, reading: Reading, result: Result) -> Word | None:
        codes, source = self.codes, reading.annotation.source
        data: int | None = None
        if reading.state == "retry":
            return Word(self.buffer[reading.vfsm], reading.vfsm, reading.annotation, True)
        if reading.state != "open":
            return None
        if codes.is_neighbour(source):
            if reading.annotation.type == MoveType.FORK:
                if reading.forked and result.ok and self.word is not None:
                    data = self.word.data
            elif inputs["in_valid"] >> source & 1 and not inputs.get("in_lost"):
                data = inputs[f"in_data_{source}"]
        elif codes.is_register(source):
            if self.asks_register(reading) and inputs["read__taken"]:
                data = inputs["read__data"]
        elif codes.is_buffer(source):
            vfsm = source - codes.first_buffer
            leaving = self.word is not None and self.word.from_buffer and self.word.vfsm == vfsm
            if self.held[vfsm] and not leaving:
                data = self.buffer[vfsm]
        elif source == codes.null:
            data = 0
        return None if data is None else Word(data, reading.vfsm, reading.annotation, False)

    def _after_write(self, ok: bool, cleared: set[int], filled: dict[int, int]) -> None:
        word, codes = self.word, self.codes
        if word is None:
            return
        blind = word.annotation.type == MoveType.BLIND
        if word.from_buffer and (ok or blind):
            cleared.add(word.vfsm)
        if not ok and not word.from_buffer and not blind:
            filled[word.vfsm] = word.data
        if ok and codes.is_buffer(word.annotation.destination):
            filled[word.annotation.destination - codes.first_buffer] = word.data
