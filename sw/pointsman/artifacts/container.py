"""A file of sections, each with its checksum. What the sections mean is in ``images.file`` and ``tables.file``.

Layout (little-endian throughout; drawn in docs/image_format.md)::

    header    64 bytes   magic, version, CRC of the header, sections, CRC of the table, total length, digest
    table     32 bytes   a section: kind, index, offset, length, CRC, reserved
    sections             in the order of the table, each at the next multiple of 8; the gap is zero

Given sections can be laid out in only one way, so every bit of a file is either checked by a CRC or known beforehand.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pointsman.errors import PointsmanError
from pointsman.files import open_without_waiting

MAGIC = b"\x89PtsImg\n"
"""First bytes of an image file. The first byte is no text and the last a line feed, so that text conversions are
detected."""
VERSION = 10
HEADER = struct.Struct("<8sIIIIQ32s")
ENTRY = struct.Struct("<IIQQII")
ALIGNMENT = 8
MAX_BYTES = 1 << 30
"""Most bytes of a file that is written or read."""

_CRC_FIELD = slice(12, 16)
_DAMAGED = "the file is damaged; compile the program again"


class ImageError(PointsmanError):
    """An image file that cannot be read or written.

    Parameters
    ----------
    message : str
        The rule, and what is wrong.
    file, section : str or None
        File and section, as in docs/image_format.md.
    offset : int or None
        Byte in the file at which it is wrong.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        section: str | None = None,
        offset: int | None = None,
        hint: str | None = None,
    ) -> None:
        place = [file] if file else []
        if section is not None:
            place.append(section)
        if offset is not None:
            place.append(f"offset {offset:#x}")
        super().__init__(f"{', '.join(place)}: {message}" if place else message, hint=hint)
        self.file = file
        self.section = section
        self.offset = offset


@dataclass(frozen=True)
class FileKind:
    """A kind of file: its first bytes, its version, and the noun that messages call it by."""

    magic: bytes
    version: int
    noun: str


IMAGE = FileKind(MAGIC, VERSION, "image")


@dataclass(frozen=True)
class Section:
    """A part of the file; ``offset`` counts from the start of the file."""

    kind: int
    index: int
    data: bytes
    offset: int = 0


def pack_sections(sections: Sequence[Section], digest: bytes, *, kind: FileKind = IMAGE) -> bytes:
    """The bytes of a file with ``sections`` in this order; their ``offset`` is ignored and worked out here."""
    start = HEADER.size + ENTRY.size * len(sections)
    table, body = bytearray(), bytearray()
    for section in sections:
        body += bytes(-(start + len(body)) % ALIGNMENT)
        offset = start + len(body)
        table += ENTRY.pack(section.kind, section.index, offset, len(section.data), zlib.crc32(section.data), 0)
        body += section.data
    total = start + len(body)
    if total > MAX_BYTES:
        raise ImageError(f"{_a(kind)} file must have at most {MAX_BYTES} bytes, not {total}")
    header = bytearray(
        HEADER.pack(kind.magic, kind.version, 0, len(sections), zlib.crc32(table), total, digest),
    )
    header[_CRC_FIELD] = zlib.crc32(header).to_bytes(4, "little")
    return bytes(header + table + body)


def unpack_sections(
    data: bytes, *, file: str | None, name: Callable[[int, int], str], kind: FileKind = IMAGE
) -> tuple[list[Section], bytes]:
    """Sections and digest of a file.

    Parameters
    ----------
    data : bytes
        The whole file.
    file : str or None
        Its name, for messages.
    name : callable
        Name of a section by kind and index.
    kind : FileKind
        What the file must be.

    Raises
    ------
    ImageError
        If any bit is not as ``pack_sections`` lays it out.
    """
    if not data.startswith(kind.magic[: len(data)]) or not data:
        raise ImageError(
            f"{_a(kind)} file must start with {kind.magic.hex()}, not {data[: len(kind.magic)].hex() or 'nothing'}",
            file=file,
            section="header",
            offset=0,
            hint=f"this is no {kind.noun} file, or it was changed by a text conversion",
        )
    if len(data) < HEADER.size:
        raise ImageError(
            f"{_a(kind)} file must have at least {HEADER.size} bytes, not {len(data)}",
            file=file,
            section="header",
            offset=0,
            hint="the file is cut short; compile the program again",
        )
    blank = bytearray(data[: HEADER.size])
    blank[_CRC_FIELD] = bytes(4)
    _, version, crc, count, table_crc, total, digest = HEADER.unpack_from(data)
    _check_crc(crc, blank, file=file, section="header", offset=0)
    if version != kind.version:
        raise ImageError(
            f"the format version must be {kind.version}, not {version}",
            file=file,
            section="header",
            offset=8,
            hint="the file was made by "
            + ("a newer" if version > kind.version else "an older")
            + " Pointsman; compile the program with this one",
        )
    if total != len(data):
        what = "cut short" if len(data) < total else "followed by other bytes"
        raise ImageError(
            f"the file must have {total} bytes, not {len(data)}",
            file=file,
            section="header",
            offset=24,
            hint=f"the file is {what}; compile the program again",
        )
    end = HEADER.size + ENTRY.size * count
    if end > total:
        raise ImageError(
            f"a table of {count} sections must end within the file of {total} bytes, not at {end}",
            file=file,
            section="header",
            offset=16,
            hint=_DAMAGED,
        )
    _check_crc(table_crc, data[HEADER.size : end], file=file, section="section table", offset=HEADER.size)
    sections = []
    for i in range(count):
        at = HEADER.size + ENTRY.size * i
        number, index, offset, length, crc, reserved = ENTRY.unpack_from(data, at)
        section = name(number, index)

        def fail(message: str, at: int = at, section: str = section) -> ImageError:
            return ImageError(f"{message} ({section})", file=file, section="section table", offset=at, hint=_DAMAGED)

        if reserved:
            raise fail(f"the reserved field must be 0, not {reserved}")
        if offset < end:
            raise fail(f"a section must start after what comes before it, at {end} or later, not at {offset}")
        start = end + -end % ALIGNMENT
        if offset != start:
            raise fail(f"a section must start at the next multiple of {ALIGNMENT}, {start}, not at {offset}")
        if offset + length > total:
            raise fail(f"a section must end within the file of {total} bytes, not at {offset + length}")
        if any(data[end:start]):
            raise ImageError(
                "the bytes between sections must be 0",
                file=file,
                section=f"gap before {section}",
                offset=end,
                hint=_DAMAGED,
            )
        end = offset + length
        _check_crc(crc, data[offset:end], file=file, section=section, offset=offset)
        sections.append(Section(number, index, data[offset:end], offset))
    if end != total:
        raise ImageError(
            f"the last section must end with the file, at {total}, not at {end}",
            file=file,
            section="section table",
            offset=HEADER.size,
            hint=_DAMAGED,
        )
    return sections, digest


def read_file(path: str | os.PathLike[str], kind: FileKind = IMAGE) -> bytes:
    """All bytes of a regular file; an error if there are more than ``MAX_BYTES``."""
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise ImageError(f"{_a(kind)} must be a regular file", file=os.fspath(path))
            if status.st_size > MAX_BYTES:
                raise ImageError(
                    f"{_a(kind)} file must have at most {MAX_BYTES} bytes, not {status.st_size}",
                    file=os.fspath(path),
                )
            return file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise ImageError(f"cannot be read: {reason or error}", file=os.fspath(path)) from None


def _a(kind: FileKind) -> str:
    return f"{'an' if kind.noun[0] in 'aeiou' else 'a'} {kind.noun}"


def _check_crc(expected: int, data: bytes | bytearray, *, file: str | None, section: str, offset: int) -> None:
    found = zlib.crc32(data)
    if found != expected:
        raise ImageError(
            f"the CRC-32 must be {expected:#010x}, not {found:#010x}",
            file=file,
            section=section,
            offset=offset,
            hint=_DAMAGED,
        )
