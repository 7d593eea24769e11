"""Boolean matrices as signals: element (u, v), input port u and output port v, is bit u · N + v.

Vectors and matrices that are taken apart here must be signals: an expression would be written out once for each of its bits.
So would one that is replicated; a multiplexer takes it once.
"""

from __future__ import annotations

from collections.abc import Iterable

from amaranth.hdl import Cat, Const, Mux, Value


def rows_any(matrix: Value, ports: int) -> Value:
    """Bit u: row u has a one."""
    return Cat(matrix[u * ports : (u + 1) * ports].any() for u in range(ports))


def columns_any(matrix: Value, ports: int) -> Value:
    """Bit v: column v has a one."""
    return Cat(Cat(matrix[u * ports + v] for u in range(ports)).any() for v in range(ports))


def where(condition: Value, bits: Value) -> Value:
    """``bits``, if the condition holds; otherwise as many zeros."""
    return Mux(condition, bits, Const(0, len(bits)))


def spread(bit: Value, count: int) -> Value:
    """``bit`` as often as that."""
    return where(bit, Const((1 << count) - 1, count))


def along_rows(vector: Value, ports: int) -> Value:
    """The matrix with bit u of ``vector`` in all of row u."""
    return Cat(spread(vector[u], ports) for u in range(ports))


def along_columns(vector: Value, ports: int) -> Value:
    """The matrix with bit v of ``vector`` in all of column v."""
    return vector.replicate(ports)


def row(matrix: Value, u: int, ports: int) -> Value:
    """Row u: bit v is element (u, v)."""
    return matrix[u * ports : (u + 1) * ports]


def column(matrix: Value, v: int, ports: int) -> Value:
    """Column v: bit u is element (u, v)."""
    return Cat(matrix[u * ports + v] for u in range(ports))


def one_hot(number: Value, count: int) -> Value:
    """Bit i: ``number`` is i."""
    return Cat(number == i for i in range(count))


def lowest(bits: Value) -> Value:
    """The lowest one of ``bits`` alone; 0 if there is none."""
    return bits & (~bits + 1)[: len(bits)]


def above(place: Value) -> Value:
    """Ones above the one in ``place``."""
    below_or_at = Const(0, 1)
    result = []
    for bit in place:
        result.append(below_or_at)
        below_or_at = below_or_at | bit
    return Cat(*result)


def chosen(select: Value, choices: Iterable[Value]) -> Value:
    """The choice whose bit in ``select`` is set; 0 if none is."""
    result: Value = Const(0, 1)
    for bit, choice in zip(select, choices, strict=True):
        result = result | where(bit, choice)
    return result
