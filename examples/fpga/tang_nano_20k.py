"""Clock, lights and buttons of the Tang Nano 20K board, of which amaranth-boards has only relatives."""

from __future__ import annotations

from typing import ClassVar

from amaranth.build import Attrs, Clock, Pins, Resource
from amaranth.vendor import GowinPlatform
from amaranth_boards.resources import ButtonResources, LEDResources


class TangNano20kPlatform(GowinPlatform):
    """A GW2AR-18 with an oscillator of 27 MHz, six lights and two buttons."""

    part = "GW2AR-LV18QN88C8/I7"
    family = "GW2AR-18C"
    default_clk = "clk27"
    resources: ClassVar[list[Resource]] = [
        Resource("clk27", 0, Pins("4", dir="i"), Clock(27e6), Attrs(IO_TYPE="LVCMOS33")),
        *LEDResources(pins="15 16 17 18 19 20", invert=True, attrs=Attrs(IO_TYPE="LVCMOS33")),
        *ButtonResources(pins="88 87", attrs=Attrs(IO_TYPE="LVCMOS33")),
    ]
    connectors: ClassVar[list[object]] = []
