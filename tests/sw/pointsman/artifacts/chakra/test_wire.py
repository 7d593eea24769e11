"""The wire format: what is written is read, and what is broken is refused."""

from __future__ import annotations

import random
from io import BytesIO

import pytest

from pointsman.artifacts.chakra.wire import fields, framed, numbers, record_bytes, records, signed, text, unfolded
from pointsman.errors import PointsmanError


def test_fields_come_back_as_they_were_written():
    rng = random.Random(1)
    given = []
    for _ in range(200):
        number = rng.choice([1, 2, 15, 16, 31, 2000])
        given.append((number, rng.choice([rng.getrandbits(rng.randrange(1, 65)), rng.randbytes(rng.randrange(300))])))
    assert list(fields(record_bytes(given))) == given


def test_records_follow_each_other_and_may_be_empty():
    given = [b"", b"a" * 127, b"b" * 128, b"c" * 20000]
    assert list(records(BytesIO(b"".join(map(framed, given))))) == given


def test_a_number_below_zero_has_all_its_bits():
    ((_, value),) = fields(record_bytes([(9, -5)]))
    assert isinstance(value, int)
    assert signed(value) == -5
    assert [unfolded(2 * 7), unfolded(2 * 7 - 1)] == [7, -7]


def test_repeated_numbers_are_packed_or_not():
    assert numbers(300) == [300]
    assert numbers(bytes([1, 0, 172, 2])) == [1, 0, 300]


@pytest.mark.parametrize(
    ("data", "wrong"),
    [
        (b"\x85", "the file ends within a length"),
        (b"\x05abc", "the file ends within a record: 3 of 5 bytes are there"),
        (b"\xff" * 6, "a length must have at most five bytes"),
        (b"\xff\xff\xff\xff\x0f", "a record must have at most 268435456 bytes, not 4294967295"),
    ],
)
def test_a_file_that_is_cut_off_is_refused(data, wrong):
    with pytest.raises(PointsmanError) as raised:
        list(records(BytesIO(data)))
    assert raised.value.message == wrong


@pytest.mark.parametrize(
    ("record", "wrong"),
    [
        (b"\x07", "byte 0 begins no field of a protocol buffer"),
        (b"\x00\x00", "byte 0 begins no field of a protocol buffer"),
        (b"\x0a\x05abc", "field 1 ends beyond its record"),
        (b"\x09abc", "field 1 ends beyond its record"),
        (b"\x08\x80", "byte 2 is within a number that does not end"),
        (b"\x08" + b"\x80" * 12, "byte 11 is within a number that does not end"),
    ],
)
def test_a_record_that_is_no_protocol_buffer_is_refused(record, wrong):
    with pytest.raises(PointsmanError) as raised:
        list(fields(record))
    assert raised.value.message == wrong


@pytest.mark.parametrize("value", [3, b"\xff"])
def test_text_is_utf_8(value):
    with pytest.raises(PointsmanError, match="the name must be UTF-8 text"):
        text(value, "the name")
