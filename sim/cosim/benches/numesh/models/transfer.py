"""Model of decode to write stage and of the buffers of a pipeline.

It keeps which buffers hold a word as it is, and never looks back: that a turn which comes too soon is idle is what makes the
hardware, which looks earlier, find the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from numesh.codes import NOP_VFSM, Annotation, Codes, MoveType
from numesh.shape import NodeShape

Inputs = Mapping[str, int]


@dataclass
class Word:
    """A word in the write stage: that of VFSM ``vfsm``, taken under ``annotation``."""

    data: int
    vfsm: int
    annotation: Annotation
    from_buffer: bool
    room: bool = False
    """Its destination, a buffer or register, takes it."""


@dataclass(frozen=True)
class Turn:
    """A VFSM in a slot.

    ``idle`` says why its turn is idle, once that is known: "none" (there is no VFSM), "own" (it has just had a turn), "buffer"
    (another VFSM touches one of its buffers), "meets" (a lower pipeline names its link or register); empty if it is not.
    """

    active: bool
    vfsm: int
    annotation: Annotation
    idle: str = "none"
    cleared: bool = False
    """A reset has come while it was decoded: it is idle, and what it names is not told."""


@dataclass
class Reading:
    """Action of the read stage in a cycle.

    ``state``: "idle", "retry", "open", or "left" (its word is being tried again by the turn just before).
    """

    state: str
    turn: Turn
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
        self.codes = codes = Codes(shape)
        self.word: Word | None = None
        self.buffer = [0] * shape.vfsms
        self.held = [False] * shape.vfsms
        none = Turn(False, NOP_VFSM, codes.decode_annotation(0))
        self.turns = [none] * 4
        """Those in the distance, look-up, read and write stage."""
        self.reading = Reading("idle", none)
        self.source_found = False
        """The buffer that the read stage takes words from has one."""

    # -- when a turn comes too soon --------------------------------------------------------------------------

    def buffers(self, turn: Turn) -> tuple[int, int | None, int | None]:
        """Buffers that a turn has, takes words from, and puts words into. The own one is only had."""
        codes, (source, destination) = self.codes, (turn.annotation.source, turn.annotation.destination)
        taken = source - codes.first_buffer if codes.is_buffer(source) else None
        put = destination - codes.first_buffer if codes.is_buffer(destination) else None
        return turn.vfsm, None if taken == turn.vfsm else taken, None if put == turn.vfsm else put

    def refusable(self, turn: Turn) -> bool:
        """A word of this turn may have to stay."""
        destination = turn.annotation.destination
        if destination in (self.codes.memadr, self.codes.null):
            return False
        return turn.annotation.type != MoveType.BLIND or destination == self.codes.buffer(turn.vfsm)

    def too_soon(self, turn: Turn, before: Turn, slots: int) -> str:
        """Why ``turn`` is idle for another one ``slots`` before; empty if it is not."""
        if before.idle:
            return ""
        has, takes, puts = self.buffers(turn)
        had, took, put = self.buffers(before)
        if has == had:
            if slots == 1:
                return "own" if self.refusable(before) or (takes, puts) != (took, put) else ""
            return "buffer" if slots == 3 and takes is not None and takes == put else ""
        finds = {has, takes} - {None}
        late = put in finds or (takes is not None and takes == had)
        if slots < 3:
            late = late or took in finds or (puts is not None and puts in (had, put))
        if slots < 2:
            late = late or (puts is not None and puts == took)
        return "buffer" if late else ""

    def idles(self, inputs: Inputs) -> str:
        """Why the turn in the distance stage is idle."""
        turn, *others = self.turns
        if not turn.active:
            return "none"
        if inputs["meets"]:
            return "meets"
        reasons = [self.too_soon(turn, before, 1 + k) for k, before in enumerate(others)]
        return next((reason for reason in reasons if reason), "")

    # -- the look-up stage: what the next read stage is going to do --------------------------------------------

    def sent(self, inputs: Inputs) -> bool:
        """The word in the write stage goes over a link."""
        word = self.word
        if word is None or not self.codes.is_neighbour(word.annotation.destination):
            return False
        return self._offered(word) and bool(inputs["out_accept"] >> word.annotation.destination & 1)

    def written(self, inputs: Inputs) -> bool:
        """The word in the write stage is where it should be."""
        word = self.word
        if word is None:
            return False
        return word.room or self.sent(inputs) or word.annotation.destination in (self.codes.memadr, self.codes.null)

    def _offered(self, word: Word) -> bool:
        """A word for a link is shown to the reader there. One that has two legs is only when the second is ready."""
        if self.reading.forked:
            return self.reading.state == "open"
        return not word.annotation.forked

    def stays(self, inputs: Inputs) -> bool:
        """The word in the write stage has to stay."""
        word = self.word
        if word is None or self.written(inputs):
            return False
        return self.refusable(Turn(True, word.vfsm, word.annotation))

    def next_reading(self, inputs: Inputs) -> Reading:
        """What the turn in the look-up stage is going to do in the read stage."""
        _, turn, just, _ = self.turns
        annotation = turn.annotation
        forked = (
            turn.active
            and annotation.type == MoveType.FORK
            and self.codes.is_neighbour(annotation.source)
            and just.annotation.destination == annotation.source
        )
        if turn.idle:
            return Reading("idle", turn, forked)
        full = self.held[turn.vfsm]
        if self.word is not None and self.word.vfsm == turn.vfsm:
            full = self.stays(inputs)
        if full and self.reading.state == "retry" and just.vfsm == turn.vfsm:
            return Reading("left", turn, forked)
        return Reading("retry" if full else "open", turn, forked)

    def next_found(self, inputs: Inputs) -> bool:
        """Its source is a buffer, which holds a word."""
        _, turn, just, _ = self.turns
        _, takes, _ = self.buffers(turn)
        if takes is None or not self.held[takes]:
            return False
        leaving = self.takes_from_buffer() and self.buffers(just)[1] == takes
        return not leaving or just.annotation.type == MoveType.COPY

    def takes_from_buffer(self) -> bool:
        """The read stage takes the word of another VFSM's buffer."""
        return self.reading.state == "open" and self.source_found

    # -- ports ---------------------------------------------------------------------------------------------------

    def takes_register(self, inputs: Inputs) -> bool:
        """The read stage takes the word of an interface register."""
        writing = self.word is not None and self.codes.is_register(self.word.annotation.destination)
        return bool(inputs["read__found"]) and not writing

    def outputs(self, inputs: Inputs) -> dict[str, int | None]:
        codes = self.codes
        coming = self.next_reading(inputs)
        source, kind = coming.turn.annotation.source, coming.turn.annotation.type
        takes_link = coming.state == "open" and codes.is_neighbour(source) and kind != MoveType.FORK
        takes_register = self.takes_register(inputs)
        expected: dict[str, int | None] = {
            "next_accept": 1 << source if takes_link else 0,
            "out_claim": 0,
            "out_valid": None,
            "out_data": None,
            "memadr": 0,
            "read__number": None,
            "read__asks": int(coming.state == "open" and codes.is_register(source)),
            "read__take": int(takes_register),
            "read__names": None if coming.turn.cleared else int(codes.is_register(source)),
            "read__keep": None if coming.turn.cleared else int(kind == MoveType.COPY),
            "write__number": None,
            "write__put": 0,
            "write__data": None,
        }
        # Registers are named three cycles before they may be asked for.
        named = codes.decode_annotation(inputs["annotation"]).source
        if codes.is_register(named):
            expected["read__number"] = named - codes.first_register
        written = self.turns[0].annotation.destination
        if codes.is_register(written):
            expected["write__number"] = written - codes.first_register
        word = self.word
        if word is not None:
            destination = word.annotation.destination
            if codes.is_neighbour(destination):
                expected["out_claim"] = 1 << destination
                expected["out_valid"] = int(self._offered(word))
                expected["out_data"] = word.data
            elif destination == codes.memadr:
                expected |= {"memadr": 1, "out_data": word.data}
            elif codes.is_register(destination) and word.room:
                expected |= {"write__put": 1, "write__data": word.data}
        return expected

    # -- a cycle ---------------------------------------------------------------------------------------------

    def clock(self, inputs: Inputs) -> None:
        self.step(inputs)

    def step(self, inputs: Inputs) -> Result:
        """Let the cycle end."""
        codes, reading, word = self.codes, self.reading, self.word
        result = Result(reading, word, self.written(inputs), self._taken(inputs))
        if result.taken is not None:
            result.taken.room = self._room(result.taken, inputs)
        coming, found, stays = self.next_reading(inputs), self.next_found(inputs), self.stays(inputs)
        idle = self.idles(inputs)
        if self.takes_from_buffer() and reading.turn.annotation.type != MoveType.COPY:
            self.held[reading.turn.annotation.source - codes.first_buffer] = False
        if word is not None:
            to = word.annotation.destination
            if word.from_buffer:
                self.held[word.vfsm] = False
            if stays:
                self.held[word.vfsm], self.buffer[word.vfsm] = True, word.data
            elif word.room and codes.is_buffer(to):
                self.held[to - codes.first_buffer], self.buffer[to - codes.first_buffer] = True, word.data
        self.word = result.taken
        self.reading, self.source_found = coming, found
        now = Turn(bool(inputs["active"]), inputs["vfsm"], codes.decode_annotation(inputs["annotation"]))
        distance, look_up, read, _ = self.turns
        self.turns = [now, replace(distance, idle=idle), look_up, read]
        if inputs["rst"]:
            self.word = None
            self.turns = [replace(turn, active=False, idle="none") for turn in self.turns]
            self.turns[0] = replace(self.turns[0], cleared=True)
            self.reading, self.source_found = Reading("idle", self.turns[2]), False
            self.held = [False] * self.shape.vfsms
        return result

    def _room(self, word: Word, inputs: Inputs) -> bool:
        """Its destination, a buffer or a register, takes this word in the next cycle."""
        codes, to = self.codes, word.annotation.destination
        blind = word.annotation.type == MoveType.BLIND
        if codes.is_register(to):
            there, now = bool(inputs["write__full"]) and not inputs["write__emptied"], self.word
            puts = now is not None and now.room and codes.is_register(now.annotation.destination)
            return blind or not (there or (inputs["write__same"] and puts))
        if not codes.is_buffer(to) or to == codes.buffer(word.vfsm):
            return False
        return blind or not self.held[to - codes.first_buffer]

    def _taken(self, inputs: Inputs) -> Word | None:
        codes, turn = self.codes, self.reading.turn
        source, data = turn.annotation.source, None
        if self.reading.state == "retry":
            return Word(self.buffer[turn.vfsm], turn.vfsm, turn.annotation, True)
        if self.reading.state != "open":
            return None
        if codes.is_neighbour(source):
            if turn.annotation.type == MoveType.FORK:
                if self.reading.forked and self.word is not None and self.sent(inputs):
                    data = self.word.data
            elif inputs["in_valid"] >> source & 1:
                data = inputs[f"in_data_{source}"]
        elif codes.is_register(source):
            data = inputs["read__data"] if self.takes_register(inputs) else None
        elif codes.is_buffer(source):
            data = self.buffer[source - codes.first_buffer] if self.source_found else None
        elif source == codes.null:
            data = 0
        return None if data is None else Word(data, turn.vfsm, turn.annotation, False)
