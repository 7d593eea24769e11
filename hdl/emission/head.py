"""The first lines of a file of Verilog: what it is, and which warnings of ``verilator -Wall`` its style provokes."""

from __future__ import annotations

WAIVERS = {
    "DECLFILENAME": "modules stand together in one file",
    "UNUSEDSIGNAL": "fields of a layout get a wire each, used or not",
    "PROCASSINIT": "registers have a value at power-up and a reset",
    "WIDTHEXPAND": "constants are written as short as they are",
    "WIDTHTRUNC": "a shift that picks one bit, a logical test of a vector",
    "CASEINCOMPLETE": "the value for the rest is assigned before the case",
    "CASEOVERLAP": "of several conditions the first that holds counts",
    "UNSIGNED": "a coordinate that may only be 0 is compared as others are",
    "CMPCONST": "a limit that is the most that the bits can say is compared as others are",
    "ASCRANGE": "a counter that has nothing to count has no bits",
}
"""Warnings that the Verilog writer provokes, each with its reason."""


def verilog_head(title: str, **waivers: str) -> str:
    """Comments that say what a file is and switch warnings off, each with its reason; ``waivers``: further ones by name.

    The title may name a user's program; it stays on its line whatever that is called.
    """
    lines = [f"/* verilator lint_off {name} */ // {why}\n" for name, why in (WAIVERS | waivers).items()]
    return "".join([f"// {' '.join(title.split())}\n", *lines])
