from collections.abc import Callable

import pytest
from amaranth.hdl import Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from numesh import places
from numesh.codes import Codes
from numesh.shape import NodeShape
from numesh.trace import record


class Decoder(wiring.Component):
    """All functions of ``places`` on one code."""

    def __init__(self, codes: Codes) -> None:
        self.codes = codes
        names = ("is_neighbour", "is_register", "is_buffer", "register_number", "buffer_number")
        self.functions: dict[str, Callable[[Codes, Value], Value]] = {n: getattr(places, n) for n in names}
        super().__init__({"place": In(codes.place_bits), **{name: Out(codes.place_bits) for name in names}})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, function in self.functions.items():
            m.d.comb += getattr(self, name).eq(function(self.codes, self.place))
        return m


@pytest.mark.parametrize(
    "shape",
    [
        NodeShape(neighbours=6),
        NodeShape(pipelines=1, vfsms=2, neighbours=1, registers=1),
        NodeShape(pipelines=3, vfsms=4, neighbours=7, registers=5),
        NodeShape(pipelines=1, vfsms=256, neighbours=3, registers=3),
        NodeShape(pipelines=1, vfsms=8, neighbours=64, registers=33),
    ],
    ids=str,
)
def test_hardware_tells_every_code_as_the_software_does(shape: NodeShape) -> None:
    codes = Codes(shape)
    count = 1 << codes.place_bits
    samples = record(Decoder(codes), count, lambda cycle, before: {"place": cycle})
    for place, s in enumerate(samples):
        assert s["is_neighbour"] == codes.is_neighbour(place)
        assert s["is_register"] == codes.is_register(place)
        assert s["is_buffer"] == codes.is_buffer(place)
        if codes.is_register(place):
            assert codes.register(s["register_number"]) == place
        if codes.is_buffer(place):
            assert codes.buffer(s["buffer_number"]) == place
