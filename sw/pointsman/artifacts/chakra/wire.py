"""What Chakra's traces need of the wire format of protocol buffers: records with their length before them, and fields.

A field is its number and kind in one varint, then a varint (kind 0), 8 bytes (1), bytes with their length before them (2), or
4 bytes (5). Fields that are not known are passed over, as that format wants it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from pointsman.errors import PointsmanError

MOST_BYTES = 1 << 28
"""Longest record."""
WORD = (1 << 64) - 1

Field = tuple[int, int | bytes]
"""Number and value; bytes that stand for numbers of 4 or 8 bytes are as they are in the file."""


def records(file: BinaryIO) -> Iterator[bytes]:
    """The records of a file, read one by one.

    Raises
    ------
    PointsmanError
        If the file ends within a record, or a length is out of bounds.
    """
    while True:
        size = shift = 0
        while True:
            byte = file.read(1)
            if not byte:
                if shift:
                    raise PointsmanError("the file ends within a length")
                return
            size |= (byte[0] & 127) << shift
            shift += 7
            if byte[0] < 128:
                break
            if shift > 28:
                raise PointsmanError("a length must have at most five bytes")
        if size > MOST_BYTES:
            raise PointsmanError(f"a record must have at most {MOST_BYTES} bytes, not {size}")
        record = file.read(size)
        if len(record) < size:
            raise PointsmanError(f"the file ends within a record: {len(record)} of {size} bytes are there")
        yield record


def fields(record: bytes) -> Iterator[Field]:
    """Number and value of each field of a record.

    Raises
    ------
    PointsmanError
        If the record is no protocol buffer.
    """
    at, end = 0, len(record)
    while at < end:
        key = record[at]
        at += 1
        if key > 127:  # most are one byte
            key, at = _varint(record, at - 1)
        number, kind = key >> 3, key & 7
        if not number or kind not in (0, 1, 2, 5):
            raise PointsmanError(f"byte {at - 1} begins no field of a protocol buffer")
        if kind in (0, 2):
            size = record[at] if at < end else 128
            at += 1
            if size > 127:
                size, at = _varint(record, at - 1)
            if kind == 0:
                yield number, size
                continue
        else:
            size = 8 if kind == 1 else 4
        if at + size > end:
            raise PointsmanError(f"field {number} ends beyond its record")
        yield number, record[at : at + size]
        at += size


def numbers(value: int | bytes) -> list[int]:
    """What a field of a repeated number has: one, or many packed into bytes."""
    if isinstance(value, int):
        return [value]
    found, at = [], 0
    while at < len(value):
        one, at = _varint(value, at)
        found.append(one)
    return found


def signed(value: int) -> int:
    """A number of 64 bits as int32 and int64 mean it.

    >>> signed(2**64 - 1)
    -1
    """
    return value - (1 << 64) if value >> 63 else value


def unfolded(value: int) -> int:
    """A number as sint32 and sint64 mean it: signs are in the lowest bit.

    >>> [unfolded(k) for k in range(4)]
    [0, -1, 1, -2]
    """
    return value >> 1 ^ -(value & 1)


def text(value: int | bytes, what: str) -> str:
    """A string.

    Raises
    ------
    PointsmanError
        If ``what`` is none.
    """
    try:
        if isinstance(value, bytes):
            return value.decode()
    except UnicodeDecodeError:
        pass
    raise PointsmanError(f"{what} must be UTF-8 text")


def _varint(record: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(record) and shift < 70:
        byte = record[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value & WORD, at
        shift += 7
    raise PointsmanError(f"byte {at} is within a number that does not end")


def varint_bytes(value: int) -> bytes:
    """A whole number from 0 on.

    >>> varint_bytes(300).hex()
    'ac02'
    """
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def record_bytes(given: Iterable[tuple[int, int | str | bytes]]) -> bytes:
    """Fields, by number: numbers as varints, text and bytes with their length before them."""
    found = bytearray()
    for number, value in given:
        if isinstance(value, int):
            found += varint_bytes(number << 3) + varint_bytes(value & WORD)
        else:
            data = value.encode() if isinstance(value, str) else value
            found += varint_bytes(number << 3 | 2) + varint_bytes(len(data)) + data
    return bytes(found)


def framed(record: bytes) -> bytes:
    """A record with its length before it."""
    return varint_bytes(len(record)) + record
