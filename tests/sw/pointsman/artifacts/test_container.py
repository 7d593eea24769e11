"""No bit of an image file can differ without an error that says where."""

from __future__ import annotations

import os
import random
import stat
import zlib
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pointsman.artifacts.container import ENTRY, HEADER, MAGIC, Section, pack_sections, unpack_sections
from pointsman.artifacts.images import ImageError, images_from_bytes, images_to_bytes, read_images


def refused(data: bytes, **options: object) -> ImageError:
    with pytest.raises(ImageError) as caught:
        images_from_bytes(data, name="x.image", **options)  # type: ignore[arg-type]
    assert str(caught.value).startswith("x.image, ")
    return caught.value


def test_every_flipped_bit_is_found(by_hand: ModuleType) -> None:
    data = images_to_bytes(by_hand.stream_1x2())
    sections = set()
    for bit in range(8 * len(data)):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        error = refused(bytes(changed))
        assert error.section is not None
        assert error.offset is not None
        assert error.offset <= bit // 8
        assert error.hint
        sections.add(error.section)
    assert sections >= {"header", "section table", "network", "program", "schedule of node 1", "tables of node 0"}
    assert any(section.startswith("gap before") for section in sections)


def test_every_cut_is_found(by_hand: ModuleType) -> None:
    data = images_to_bytes(by_hand.stream_1x2())
    for length in range(len(data)):
        error = refused(data[:length])
        assert error.section == "header"
        assert error.hint


def test_every_longer_file_is_refused(by_hand: ModuleType) -> None:
    data = images_to_bytes(by_hand.stream_1x2())
    for tail in (b"\0", b"\n", data):
        error = refused(data + tail)
        assert error.message.endswith(f"the file must have {len(data)} bytes, not {len(data) + len(tail)}")
        assert error.hint == "the file is followed by other bytes; compile the program again"


@given(st.binary(max_size=200))
def test_garbage_is_refused(data: bytes) -> None:
    with pytest.raises(ImageError):
        images_from_bytes(data)
    with pytest.raises(ImageError):
        images_from_bytes(MAGIC + data)


def test_random_damage_is_refused(by_hand: ModuleType) -> None:
    data = images_to_bytes(by_hand.two_phases_2x2())
    generator = random.Random(2)
    for _ in range(500):
        changed = bytearray(data)
        for _ in range(generator.randrange(1, 9)):
            changed[generator.randrange(len(data))] = generator.randrange(256)
        if changed != data:
            refused(bytes(changed))


def header(data: bytes, **changes: int) -> bytes:
    """``data`` with other header fields and a right checksum."""
    names = ("magic", "version", "crc", "count", "table_crc", "total", "digest")
    values = dict(zip(names, HEADER.unpack_from(data), strict=True)) | changes | {"crc": 0}
    blank = HEADER.pack(*values.values())
    return HEADER.pack(*(values | {"crc": zlib.crc32(blank)}).values()) + data[HEADER.size :]


def table(data: bytes, number: int, **changes: int) -> bytes:
    """``data`` with other fields in one entry of the section table and right checksums."""
    names = ("kind", "index", "offset", "length", "crc", "reserved")
    at = HEADER.size + ENTRY.size * number
    values = dict(zip(names, ENTRY.unpack_from(data, at), strict=True)) | changes
    data = data[:at] + ENTRY.pack(*values.values()) + data[at + ENTRY.size :]
    count = HEADER.unpack_from(data)[3]
    return header(data, table_crc=zlib.crc32(data[HEADER.size : HEADER.size + ENTRY.size * count]))


@pytest.fixture(scope="module")
def image(by_hand: ModuleType) -> bytes:
    data: bytes = images_to_bytes(by_hand.stream_1x2())
    return data


def test_another_version_is_named(image: bytes) -> None:
    assert (
        refused(header(image, version=9)).message == "x.image, header, offset 0x8: the format version must be 10, not 9"
    )
    assert refused(header(image, version=11)).hint == (
        "the file was made by a newer Pointsman; compile the program with this one"
    )
    assert "an older Pointsman" in str(refused(header(image, version=1)))


def test_another_magic_is_named(image: bytes) -> None:
    error = refused(b"PK\3\4sImg" + image[8:])
    assert error.message == (
        "x.image, header, offset 0x0: an image file must start with 89507473496d670a, not 504b030473496d67"
    )
    assert error.hint == "this is no image file, or it was changed by a text conversion"
    assert refused(image.replace(b"\n", b"\r\n")).hint == error.hint
    assert "not nothing" in refused(b"").message


def test_a_digest_of_another_shape_is_found(image: bytes) -> None:
    sections, digest = unpack_sections(image, file=None, name=lambda kind, index: "")
    error = refused(pack_sections(sections, digest[::-1]))
    assert error.offset == 32
    assert error.hint == "header and network do not belong together"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"offset": 0}, "a section must start after what comes before it, at 464 or later, not at 0 (program)"),
        ({"offset": 1 << 63}, f"a section must start at the next multiple of 8, 464, not at {1 << 63} (program)"),
        ({"offset": 472}, "a section must start at the next multiple of 8, 464, not at 472 (program)"),
        ({"length": (1 << 64) - 1}, "a section must end within the file of {total} bytes, not at {end} (program)"),
        ({"reserved": 1}, "the reserved field must be 0, not 1 (program)"),
    ],
)
def test_sections_outside_their_place_are_found(image: bytes, change: dict[str, int], message: str) -> None:
    at = ENTRY.unpack_from(image, HEADER.size + ENTRY.size)[2]
    end = ENTRY.unpack_from(image, HEADER.size)[2] + ENTRY.unpack_from(image, HEADER.size)[3]
    change = {name: value + at - 464 if value == 472 else value for name, value in change.items()}
    message = message.replace("at 464 or", f"at {end} or").replace("464", str(at)).replace("472", str(at + 8))
    message = message.format(total=len(image), end=at + (1 << 64) - 1)
    error = refused(table(image, 1, **change))
    assert error.message == f"x.image, section table, offset 0x60: {message}"


def test_sections_that_overlap_are_found(image: bytes) -> None:
    offset, length = ENTRY.unpack_from(image, HEADER.size)[2:4]
    error = refused(table(image, 1, offset=offset, length=length, crc=zlib.crc32(image[offset : offset + length])))
    assert "must start after what comes before it" in error.message


def test_a_shorter_last_section_is_found(image: bytes) -> None:
    last = HEADER.unpack_from(image)[3] - 1
    _, _, offset, length, _, _ = ENTRY.unpack_from(image, HEADER.size + ENTRY.size * last)
    data = table(image, last, length=length - 1, crc=zlib.crc32(image[offset : offset + length - 1]))
    assert "the last section must end with the file" in refused(data).message


@pytest.mark.parametrize("count", [0, 1, 5, 6, 8, 1 << 20, (1 << 32) - 1])
def test_another_number_of_sections_is_found(image: bytes, count: int) -> None:
    end = min(HEADER.size + ENTRY.size * count, len(image))
    refused(header(image, count=count, table_crc=zlib.crc32(image[HEADER.size : end])))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match=r"none\.image: cannot be read: No such file"):
        read_images(tmp_path / "none.image")
    with pytest.raises(ImageError, match=r"must be a regular file|Is a directory"):
        read_images(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ImageError, match="an image must be a regular file"):
        read_images(tmp_path / "pipe")
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)


def test_a_gigantic_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "x.image"
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(ImageError, match="an image file must have at most 1073741824 bytes, not 1099511627776"):
        read_images(path)


def test_a_file_that_would_be_too_long_is_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.artifacts.container.MAX_BYTES", 100)
    with pytest.raises(ImageError, match="an image file must have at most 100 bytes, not 104"):
        pack_sections([Section(1, 0, bytes(8))], bytes(32))


def test_sections_come_back_with_their_offsets() -> None:
    given = [Section(1, 0, b"abc"), Section(7, 9, b""), Section(2, 4, bytes(range(17)))]
    sections, digest = unpack_sections(pack_sections(given, bytes(range(32))), file=None, name=lambda kind, index: "")
    assert [(s.kind, s.index, s.data) for s in sections] == [(s.kind, s.index, s.data) for s in given]
    assert [s.offset for s in sections] == [160, 168, 168]
    assert digest == bytes(range(32))
