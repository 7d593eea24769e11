"""Kinds of sources and destinations, as coverage tells them apart."""

from __future__ import annotations

from numesh.codes import Codes

KINDS = ("link", "register", "buffer", "NULL", "MEMADR", "NOP", "special", "invalid")


def kind_of(codes: Codes, code: int) -> str:
    """Which of ``KINDS`` a code is."""
    if codes.is_neighbour(code):
        return "link"
    if codes.is_register(code):
        return "register"
    if codes.is_buffer(code):
        return "buffer"
    named = {codes.null: "NULL", codes.memadr: "MEMADR", codes.nop: "NOP", codes.special: "special"}
    return named.get(code, "invalid")


def code_of(codes: Codes, kind: str, number: int) -> int:
    """A code of this kind; ``number`` chooses among several, and may be any number."""
    match kind:
        case "link":
            return codes.neighbour(number % codes.shape.neighbours)
        case "register":
            return codes.register(number % codes.shape.registers)
        case "buffer":
            return codes.buffer(number % codes.shape.vfsms)
        case "invalid":
            codes_left = [c for c in range(1 << codes.place_bits) if kind_of(codes, c) == "invalid"]
            return codes_left[number % len(codes_left)]
    named = {"NULL": codes.null, "MEMADR": codes.memadr, "NOP": codes.nop, "special": codes.special}
    return named[kind]
