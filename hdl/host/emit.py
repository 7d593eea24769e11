"""Verilog of a bridge, and its registers as plain data. The output depends on the arguments alone."""

from __future__ import annotations

from typing import Any, Literal

from emission import component_verilog, verilog_head

from .axi_lite import AxiLiteBridge
from .shape import CONTROL, HostShape
from .wishbone import WishboneBridge

BRIDGES = {"axi4-lite": AxiLiteBridge, "wishbone": WishboneBridge}
"""Bridges by the name of their bus."""
Bus = Literal["axi4-lite", "wishbone"]
MODULE = "numesh_host"

WORDS = {
    "CYCLES_LOW": (
        "read",
        "cycles since reset; with words of 32 bits their lower half, and reading it keeps the upper",
    ),
    "CYCLES_HIGH": ("read", "upper half of the cycles"),
    "ERRORS": ("read, 1 clears", "bit 0: write refused, 1: read refused, 2: address that holds nothing"),
    "DONE": ("read, write", "for the program to say that it is done; bit 0 is the output done"),
    "ENABLE": ("read, write", "which bits of PENDING interrupt the host"),
    "PENDING": ("read", "bit 0: a register whose mask is set is full, 1: ERRORS is not 0, 2: DONE"),
    "VERSION": ("read", "0x504D0001"),
    "SHAPE": ("read", "nodes in bits 31:16, registers in bits 15:4, bit 0: accesses do not wait"),
}
"""Words of the control page: access, and what they mean."""


def bridge_verilog(shape: HostShape, bus: Bus) -> str:
    """Verilog of a bridge: module ``numesh_host`` with the ports of `AxiLiteBridge` or `WishboneBridge`, and its parts."""
    sizes = f"nodes {shape.nodes}, registers {shape.registers}, width {shape.width}, blocked {shape.blocked}"
    return verilog_head(f"Bridge from {bus} to NuMesh nodes. {sizes}") + component_verilog(
        BRIDGES[bus](shape=shape), MODULE
    )


def address_map(shape: HostShape, bus: Bus) -> dict[str, Any]:
    """Byte addresses of everything behind a bridge."""
    words = range(shape.flag_words)
    return {
        "bus": bus,
        "shape": {name: getattr(shape, name) for name in ("nodes", "registers", "width", "blocked")},
        "address_bits": shape.address_bits,
        "nodes": [
            {
                "registers": [shape.register(node, register) for register in range(shape.registers)],
                "full": [shape.full(node, word) for word in words],
                "mask": [shape.mask(node, word) for word in words],
            }
            for node in range(shape.nodes)
        ],
        "control": {
            name: {"address": shape.control(name), "access": WORDS[name][0], "about": WORDS[name][1]}
            for name in CONTROL
        },
    }
