"""Verilog of the components of benches."""

from __future__ import annotations

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from cosim.benches.bench import FOUR_NODES, Bench, Design, converted


class Delay(wiring.Component):
    """A word, a cycle later."""

    def __init__(self, width: int) -> None:
        super().__init__({"i": In(width), "o": Out(width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.sync += self.o.eq(self.i)
        return m


def test_a_component_is_converted_for_its_shape_under_the_name_of_the_bench() -> None:
    text = converted(Delay, 5, "bench_delay")
    assert "module bench_delay(" in text
    assert "input [4:0] i;" in text
    assert "src =" not in text, "places in Python would make the text of each machine another one"
    assert text == converted(Delay, 5, "bench_delay")
    assert "input [5:0] i;" in converted(Delay, 6, "bench_delay")


def test_a_bench_needs_no_files_and_no_mesh() -> None:
    bench = Bench("b", "numesh.b", None, Design("b", "b", str), "nothing")
    assert (bench.prepare, bench.topology, bench.design.visible) == (None, None, ())


def test_each_of_the_four_nodes_of_compiled_programs_has_two_links() -> None:
    assert [len(ports) for ports in FOUR_NODES.at_port] == [2] * 4
