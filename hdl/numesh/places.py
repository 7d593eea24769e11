"""Hardware that tells source and destination codes apart. The codes themselves are those of ``codes.Codes``."""

from __future__ import annotations

from amaranth.hdl import Const, Value

from .codes import Codes, bits_for


def is_neighbour(codes: Codes, place: Value) -> Value:
    """1 if ``place`` is the code of a link."""
    return _in_region(place, 0, codes.shape.neighbours)


def is_register(codes: Codes, place: Value) -> Value:
    """1 if ``place`` is the code of an interface register."""
    return _in_region(place, codes.first_register, codes.shape.registers)


def is_buffer(codes: Codes, place: Value) -> Value:
    """1 if ``place`` is the code of a VFSM buffer."""
    return _in_region(place, codes.first_buffer, codes.shape.vfsms)


def register_number(codes: Codes, place: Value) -> Value:
    """Number of the interface register, if ``place`` is one."""
    return place[: bits_for(codes.shape.registers)]


def buffer_number(codes: Codes, place: Value) -> Value:
    """VFSM whose buffer it is, if ``place`` is one."""
    return place[: codes.vfsm_bits]


def _in_region(place: Value, first: int, count: int) -> Value:
    """1 if ``place`` is one of ``count`` codes from ``first`` on, which is a multiple of their power of two."""
    bits = bits_for(count)
    if first & ((1 << bits) - 1):
        raise ValueError(f"region at {first} is not aligned to {1 << bits} codes")
    inside = place[bits:] == Const(first >> bits, len(place) - bits)
    if count == 1 << bits:
        return inside
    return inside & (place[:bits] < count)
