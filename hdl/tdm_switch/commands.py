"""The command unit of the scheduler: one command a cycle, from all processors in turn."""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from .codes import LONG, MODE, NOWHERE, OPCODE, Answer, Command, Predictor, X, Y
from .matrix import along_columns, along_rows, chosen, lowest, one_hot
from .parts import Parts
from .shape import COMMAND_WIDTH, SwitchShape, bits_for
from .transposed import columns_any_of


class CommandUnit(wiring.Component):
    """Carries out what `codes.Command` says; refuses what would harm, and then changes nothing.

    Latency: a command is chosen in one cycle and carried out in the next, in which ``done`` is set.

    Parameters
    ----------
    shape : SwitchShape
        Sizes of the switch.
    parts : Parts, optional
        What takes the columns of a matrix.

    Ports
    -----
    command_valid : Signal(ports), in
        Processor i has a command. It stays, with its word, until ``done``.
    command_<i> : Signal(24), in
        The word.
    done : Signal(ports), out
        The command of processor i has been carried out, or refused.
    answers : Signal(1), out
        With ``done``: there is an answer for that processor.
    answer : Signal(24), out
        Valid with ``answers``.
    slot, rows, matrix : out
        What to preload, see ``slots.ConfigurationRegisters``.
    conflict : Signal(1), in
        The answer to these.
    kept : Signal(ports²), in
        What is preloaded into ``slot``.
    write, evict, flush : Signal(1), out
        See ``slots.ConfigurationRegisters``.
    release : Signal(ports), out
        See ``slots.ConfigurationRegisters``.
    clear : Signal(ports), out
        See ``requests.Requests``.
    place : Signal(ports²), out
        See ``requests.Requests``.
    hold, unhold, widen, narrow, predict : Signal(1), out
        See ``requests.Requests``.
    predictor : Signal(Predictor), out
        See ``requests.Requests``.
    threshold : Signal(16), out
        See ``requests.Requests``.
    found : Signal(slots), in
        ``place`` is realised in slot s, for WHERE.
    active : Signal(slots), in
        For DEGREE.
    dynamic, gives_way : Signal(slots), out
        What the slots are for.
    """

    def __init__(self, *, shape: SwitchShape, parts: Parts | None = None) -> None:
        self.shape = shape
        self.parts = parts or Parts()
        n, k = shape.ports, shape.slots
        members = {"command_valid": In(n)} | {f"command_{i}": In(COMMAND_WIDTH) for i in range(n)}
        members |= {"done": Out(n), "answers": Out(1), "answer": Out(COMMAND_WIDTH)}
        members |= {"slot": Out(bits_for(k)), "rows": Out(n), "matrix": Out(n * n)}
        members |= {"conflict": In(1), "kept": In(n * n)}
        members |= {name: Out(1) for name in ("write", "evict", "flush")}
        members |= {"release": Out(n), "clear": Out(n), "place": Out(n * n)}
        members |= {name: Out(1) for name in ("hold", "unhold", "widen", "narrow", "predict")}
        members |= {"predictor": Out(Predictor), "threshold": Out(16)}
        members |= {"found": In(k), "active": In(k), "dynamic": Out(k, init=-1), "gives_way": Out(k)}
        super().__init__(members)
        self.staged = Signal(n * n)
        """The configuration being made."""
        self.named = Signal(n)
        """Its rows."""
        self.owner = Signal(n)
        """The processor that makes it, one bit; 0 if nobody does."""
        self.broken = Signal()
        """A connection of it has been refused."""
        self.store = Memory(shape=n * n + n, depth=max(1, shape.stored), init=[])
        """The second level: connections, above them the rows."""
        self.filled = Signal(max(1, shape.stored))
        """Its places that hold something."""
        self.turn = Signal(n)
        """The processor whose command is carried out, one bit; 0 if there is none."""
        self.word = Signal(COMMAND_WIDTH)
        """Its command."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape, n, k = self.shape, self.shape.ports, self.shape.slots

        # Whose turn it is.
        last, asking, later = Signal(n, init=1 << (n - 1)), Signal(n), Signal(n)
        turn, word = self.turn, self.word
        above_last = Cat(last[:i].any() if i else Const(0, 1) for i in range(n))
        m.d.comb += [
            asking.eq(self.command_valid & ~turn),
            later.eq(asking & above_last),
        ]
        following = Signal(n)
        m.d.comb += following.eq(lowest(Mux(later.any(), later, asking)))
        m.d.sync += [turn.eq(following), word.eq(chosen(following, [getattr(self, f"command_{i}") for i in range(n)]))]
        with m.If(asking.any()):
            m.d.sync += last.eq(following)

        # What it is.
        def field(place: tuple[int, int]) -> Value:
            return word[place[0] : place[0] + place[1]]

        opcode, mode, x, y = field(OPCODE), field(MODE), field(X), field(Y)
        x_port, y_port = Signal(n), Signal(n)
        m.d.comb += [x_port.eq(one_hot(x, n)), y_port.eq(one_hot(y, n)), self.slot.eq(x[: len(self.slot)])]
        is_port, is_slot = x < n, x < k
        mine = along_rows(turn, n)
        m.d.comb += [self.place.eq(mine & along_columns(x_port, n)), self.threshold.eq(field(LONG))]
        m.d.comb += self.predictor.eq(mode[: len(Value.cast(self.predictor))])

        valid, waits = Signal(), Signal()
        refusal = Signal(4)  # an Answer
        answers, value = Signal(), Signal(8)
        stranger = self.owner.any() & ~(self.owner & turn).any()
        m.d.comb += [
            valid.eq(turn.any()),
            self.done.eq(turn & (~waits).replicate(n)),
            self.answers.eq(valid & ~waits & (answers | (refusal != Answer.VALUE))),
            self.answer.eq(Cat(refusal, Mux(refusal == Answer.VALUE, value, opcode))),
        ]
        begun = self.owner.any() & ~self.broken
        forget = Signal()
        with m.If(forget):
            m.d.sync += [self.staged.eq(0), self.named.eq(0), self.owner.eq(0), self.broken.eq(0)]

        # The second level. Rows that STORE does not name stay as they are in the slot.
        store_read = self.store.read_port(domain="comb")
        store_write = self.store.write_port()
        m.submodules.store = self.store
        there = (self.filled & one_hot(y, len(self.filled))).any()
        kept_matrix, kept_rows = Signal(n * n), Signal(n)
        with m.If(there):
            m.d.comb += Cat(kept_matrix, kept_rows).eq(store_read.data)
        with m.If(store_write.en):
            m.d.sync += self.filled.eq(self.filled | one_hot(Mux(opcode == Command.SWAP, y, x), len(self.filled)))
        swaps = opcode == Command.SWAP
        whole = ~mode[0]
        rows = Signal(n)
        m.d.comb += [
            rows.eq(self.named | whole.replicate(n)),
            store_read.addr.eq(y[: len(store_read.addr)]),
            store_write.addr.eq(Mux(swaps, y, x)[: len(store_write.addr)]),
            store_write.data.eq(
                Mux(swaps, Cat(self.kept & along_rows(kept_rows, n), kept_rows), Cat(self.staged, rows))
            ),
            self.matrix.eq(Mux(swaps, kept_matrix, self.staged)),
            self.rows.eq(Mux(swaps, kept_rows, rows)),
        ]

        with m.If(valid):
            with m.Switch(opcode):
                with m.Case(Command.NOP):
                    pass
                with m.Case(Command.STAGE):
                    somewhere = y != NOWHERE
                    used = columns_any_of(m, self.parts, "busy_columns", self.staged, n)
                    taken = (self.named & x_port).any() | (used & y_port).any()
                    m.d.comb += waits.eq(stranger)
                    with m.If(~stranger):
                        m.d.sync += self.owner.eq(turn)
                        with m.If(~is_port | (somewhere & (y >= n))):
                            m.d.comb += refusal.eq(Answer.RANGE)
                        with m.Elif(taken):
                            m.d.comb += refusal.eq(Answer.CONFLICT)
                        with m.Else():
                            m.d.sync += [
                                self.named.eq(self.named | x_port),
                                self.staged.eq(self.staged | (along_rows(x_port, n) & along_columns(y_port, n))),
                            ]
                        with m.If(refusal != Answer.VALUE):
                            m.d.sync += self.broken.eq(1)
                with m.Case(Command.CLEAR):
                    m.d.comb += [waits.eq(stranger), forget.eq(~stranger)]
                with m.Case(Command.LOAD):
                    m.d.comb += waits.eq(stranger)
                    with m.If(~stranger):
                        m.d.comb += forget.eq(1)
                        with m.If(~begun):
                            m.d.comb += refusal.eq(Answer.BROKEN)
                        with m.Elif(~is_slot):
                            m.d.comb += refusal.eq(Answer.RANGE)
                        with m.Elif(self.conflict):
                            m.d.comb += refusal.eq(Answer.CONFLICT)
                        with m.Else():
                            m.d.comb += self.write.eq(1)
                with m.Case(Command.STORE):
                    m.d.comb += waits.eq(stranger)
                    with m.If(~stranger):
                        m.d.comb += forget.eq(1)
                        with m.If(~begun):
                            m.d.comb += refusal.eq(Answer.BROKEN)
                        with m.Elif(x >= shape.stored):
                            m.d.comb += refusal.eq(Answer.RANGE)
                        with m.Else():
                            m.d.comb += store_write.en.eq(1)
                with m.Case(Command.SWAP):
                    with m.If(~is_slot | (y >= shape.stored)):
                        m.d.comb += refusal.eq(Answer.RANGE)
                    with m.Elif(self.conflict):
                        m.d.comb += refusal.eq(Answer.CONFLICT)
                    with m.Else():
                        m.d.comb += [self.write.eq(1), store_write.en.eq(1)]
                with m.Case(Command.EVICT):
                    with m.If(is_slot):
                        m.d.comb += self.evict.eq(1)
                    with m.Else():
                        m.d.comb += refusal.eq(Answer.RANGE)
                with m.Case(Command.FLUSH):
                    with m.If(whole):
                        m.d.comb += [self.flush.eq(1), self.clear.eq(-1)]
                    with m.Else():
                        m.d.comb += [self.release.eq(turn), self.clear.eq(turn)]
                with m.Case(Command.HOLD, Command.RELEASE, Command.WIDEN):
                    with m.If(is_port):
                        m.d.comb += [
                            self.hold.eq(opcode == Command.HOLD),
                            self.unhold.eq(opcode == Command.RELEASE),
                            self.widen.eq((opcode == Command.WIDEN) & mode[0]),
                            self.narrow.eq((opcode == Command.WIDEN) & ~mode[0]),
                        ]
                    with m.Else():
                        m.d.comb += refusal.eq(Answer.RANGE)
                with m.Case(Command.PREDICT):
                    counts = (mode == Predictor.TIMEOUT) | (mode == Predictor.COUNTER)
                    most = (1 << shape.age_bits) - 1
                    with m.If(mode > max(Predictor)):
                        m.d.comb += refusal.eq(Answer.UNKNOWN)
                    with m.Elif(counts & ((self.threshold == 0) | (self.threshold > most))):
                        m.d.comb += refusal.eq(Answer.RANGE)
                    with m.Else():
                        m.d.comb += self.predict.eq(1)
                with m.Case(Command.SLOT):
                    with m.If(is_slot):
                        m.d.sync += [
                            Array(self.dynamic)[self.slot].eq(mode[0]),
                            Array(self.gives_way)[self.slot].eq(mode[1]),
                        ]
                    with m.Else():
                        m.d.comb += refusal.eq(Answer.RANGE)
                with m.Case(Command.WHERE):
                    with m.If(is_port):
                        m.d.comb += [answers.eq(1), value.eq(_count(list(self.found)))]
                    with m.Else():
                        m.d.comb += refusal.eq(Answer.RANGE)
                with m.Case(Command.DEGREE):
                    m.d.comb += [answers.eq(1), value.eq(_count(list(self.active)))]
                with m.Default():
                    m.d.comb += refusal.eq(Answer.UNKNOWN)
        return m


def _count(bits: list[Value]) -> Value:
    total: Value = Const(0, 1)
    for bit in bits:
        total = total + bit
    return total
