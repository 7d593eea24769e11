# amaranth: UnusedElaboratable=no
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from numesh.trace import record


class Delayed(wiring.Component):
    """Adds one, one cycle later."""

    def __init__(self) -> None:
        self.kept = Signal(8, init=40)
        pair = wiring.Signature({"ask": Out(8), "answer": In(8)})
        super().__init__({"given": In(pair), "sum": Out(9)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.kept.eq(self.given.ask)
        m.d.comb += [self.sum.eq(self.kept + 1), self.given.answer.eq(self.given.ask ^ 0xFF)]
        return m


def test_samples_have_every_port_and_what_is_watched_in_each_cycle() -> None:
    component = Delayed()
    samples = record(component, 3, lambda c, before: {"given.ask": 10 * c} if c else {}, watch={"kept": component.kept})
    assert samples == [
        {"given.ask": 0, "given.answer": 255, "sum": 41, "kept": 40},
        {"given.ask": 10, "given.answer": 245, "sum": 1, "kept": 0},
        {"given.ask": 20, "given.answer": 235, "sum": 11, "kept": 10},
    ]


def test_inputs_may_depend_on_what_was_seen() -> None:
    samples = record(Delayed(), 5, lambda c, before: {"given.ask": before[-1]["sum"]} if before else {})
    assert [s["sum"] for s in samples] == [41, 1, 42, 2, 43]


def test_outputs_cannot_be_driven() -> None:
    with pytest.raises(KeyError, match="sum is no input"):
        record(Delayed(), 1, lambda c, before: {"sum": 1})


def test_no_cycles_give_no_samples() -> None:
    assert record(Delayed(), 0) == []
