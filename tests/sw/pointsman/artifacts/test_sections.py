"""Sections as values: what is written is what is read, and nothing else is taken."""

from __future__ import annotations

import msgspec
import pytest

from pointsman.artifacts.container import ImageError, Section
from pointsman.artifacts.sections import SectionReader, encode_section, shape_differences, shape_digest
from tdm_switch.shape import SwitchShape


class Pair(msgspec.Struct):
    left: int
    right: tuple[int, ...]


class Reader(SectionReader):
    def name(self, kind: int, index: int) -> str:
        return f"part {kind}.{index}"


def test_a_value_comes_back() -> None:
    value = Pair(3, (1, 2))
    section = Section(1, 0, encode_section(value, Pair, "pair"), 64)
    assert Reader("f", [section]).decode(section, Pair) == value


def test_a_value_of_another_type_is_not_written() -> None:
    with pytest.raises(ImageError, match="pair: cannot be written"):
        encode_section(Pair("three", ()), Pair, "pair")  # type: ignore[arg-type]


def test_the_same_value_written_otherwise_is_refused_with_its_place() -> None:
    data = encode_section(Pair(3, (1, 2)), Pair, "pair")
    at = data.index(3)
    longer = data[:at] + b"\xcc\x03" + data[at + 1 :]  # 3 as a longer integer
    assert msgspec.msgpack.decode(longer, type=Pair) == Pair(3, (1, 2))
    section = Section(1, 0, longer, 64)
    with pytest.raises(ImageError, match="is not written as Pointsman writes it") as found:
        Reader("f", [section]).decode(section, Pair)
    assert (found.value.section, found.value.offset) == ("part 1.0", 64 + at)


def test_sections_must_stand_in_order() -> None:
    reader = Reader("f", [Section(1, 0, b""), Section(2, 1, b"", 8)])
    reader.expect_order([(1, 0), (2, 1)])
    with pytest.raises(ImageError, match=r"this must be the part 2\.0, not kind 2, index 1"):
        reader.expect_order([(1, 0), (2, 0)])


def test_digests_differ_where_shapes_do() -> None:
    one, other = SwitchShape(ports=4, slots=2), SwitchShape(ports=8, slots=2)
    assert shape_digest(one) == shape_digest(SwitchShape(ports=4, slots=2)) != shape_digest(other)
    assert shape_differences(one, other) == "ports 4, not 8"
