"""Dividers of the ECP5's PLL."""

from __future__ import annotations

from pointsman.errors import PointsmanError


def pll_dividers(oscillator: int, mhz: int) -> tuple[int, int, int]:
    """Dividers of input, feedback and output that make ``mhz`` from the ``oscillator``, both in MHz.

    Raises
    ------
    PointsmanError
        If the PLL cannot: its own oscillator runs at 400 to 800 MHz and compares at 10 MHz or more.
    """
    for into in (1, 2):
        back, rest = divmod(mhz * into, oscillator)
        outs = [out for out in range(1, 129) if 400 <= mhz * out <= 800]
        if rest == 0 and 1 <= back <= 80 and outs:
            return into, back, min(outs, key=lambda out: abs(mhz * out - 600))
    raise PointsmanError(
        f"the PLL cannot make {mhz} MHz from {oscillator}",
        hint=f"choose a multiple of {oscillator} MHz, or of {oscillator / 2:g}",
    )
