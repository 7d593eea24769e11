"""Clocks of processors and of the network beside them, and what an operation costs: cycles of computing to cycles of a run.

A run counts cycles of the network. Metcalf 1997 has scheduled routers of 2 GHz and dynamic routers of 1 GHz, beside processors
of 10⁹ operations a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any


@dataclass(frozen=True)
class Clocks:
    """Clocks in MHz, and cycles of the processor for each cycle of computing that an application names.

    Where a clock is None, processor and network have the same.
    """

    processor_mhz: float | None = None
    network_mhz: float | None = None
    operation_cycles: float = 1.0

    @property
    def price(self) -> Fraction:
        """Cycles of the network for each cycle of computing."""
        price = Fraction(str(self.operation_cycles))
        if self.processor_mhz is None or self.network_mhz is None:
            return price
        return price * Fraction(str(self.network_mhz)) / Fraction(str(self.processor_mhz))

    @property
    def mhz(self) -> float | None:
        """Clock in which a run is counted; None if none is given."""
        return self.processor_mhz if self.network_mhz is None else self.network_mhz

    def as_dict(self, cycles: int) -> dict[str, Any]:
        """Clocks, price and the time that ``cycles`` of the network take, as plain values."""
        return {
            "processor_mhz": self.processor_mhz,
            "network_mhz": self.network_mhz,
            "operation_cycles": self.operation_cycles,
            "price": float(self.price),
            "microseconds": None if self.mhz is None else cycles / self.mhz,
        }

    def text(self, cycles: int) -> str:
        """The same in a line."""
        price = f"a cycle of computing takes {float(self.price):g} cycles of the network"
        return price if self.mhz is None else f"{cycles / self.mhz:,.3f} µs at {self.mhz:g} MHz; {price}"


def priced(cycles: int, price: Fraction) -> int:
    """Cycles of the network for ``cycles`` of computing: a part of a cycle takes a whole one."""
    return ceil(cycles * price)
