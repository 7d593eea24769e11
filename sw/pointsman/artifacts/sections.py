"""Sections of a file as values: what images and connection tables have in common, written with `encode_section`, read and
checked with a `SectionReader`."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, NoReturn, Protocol, TypeVar

import msgspec

from .container import ImageError, Section

T = TypeVar("T")


def encode_section(value: object, type: Any, section: str) -> bytes:
    """``value`` as MessagePack, in a form that can be read back as ``type``.

    Raises
    ------
    ImageError
        If it cannot be encoded, or cannot be read back.
    """
    try:
        data = msgspec.msgpack.encode(value)
        msgspec.msgpack.decode(data, type=type)
    except (msgspec.MsgspecError, OverflowError, TypeError, ValueError) as error:
        raise ImageError(f"cannot be written: {error}", section=section) from error
    return data


class HardwareShape(Protocol):
    """Sizes of the hardware that a file is for: a dataclass with its fields as plain values."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def as_dict(self) -> Mapping[str, Any]: ...


def shape_digest(shape: HardwareShape) -> bytes:
    """SHA-256 of the shape as JSON with sorted keys and no blanks."""
    return hashlib.sha256(json.dumps(shape.as_dict(), sort_keys=True, separators=(",", ":")).encode()).digest()


def shape_differences(wanted: HardwareShape, found: HardwareShape) -> str:
    """The fields in which two shapes differ, as text: "ports 8, not 16"."""
    pairs = ((field.name, getattr(wanted, field.name), getattr(found, field.name)) for field in fields(wanted))
    return ", ".join(f"{name.replace('_', ' ')} {a}, not {b}" for name, a, b in pairs if a != b)


class SectionReader(ABC):
    """Decodes the sections of one file; every fault becomes an `ImageError` with its place."""

    def __init__(self, file: str | None, sections: Sequence[Section]) -> None:
        self.file = file
        self.sections = sections

    @abstractmethod
    def name(self, kind: int, index: int) -> str:
        """Name of a section in messages."""

    def fail(self, message: str, section: Section, *, at: int = 0, hint: str | None = None) -> NoReturn:
        raise ImageError(
            message,
            file=self.file,
            section=self.name(section.kind, section.index),
            offset=section.offset + at,
            hint=hint or "the file was not written by Pointsman, or a part of it was changed",
        )

    def expect_order(self, order: Sequence[tuple[int, int]]) -> None:
        """Check that the sections have these (kind, index) pairs, in this order."""
        for section, (kind, index) in zip(self.sections, order, strict=True):
            if (section.kind, section.index) != (kind, index):
                wanted = self.name(kind, index)
                self.fail(f"this must be the {wanted}, not kind {section.kind}, index {section.index}", section)

    def decode(self, section: Section, type: type[T]) -> T:
        """The value of a MessagePack section, whose bytes must be those that Pointsman would write for that value."""
        try:
            value = msgspec.msgpack.decode(section.data, type=type)
            canonical = msgspec.msgpack.encode(value)
        except (ValueError, TypeError, RecursionError, msgspec.MsgspecError) as error:
            self.fail(f"does not have the form of this section: {error}", section)
        if canonical != section.data:
            at = next(
                (i for i, (a, b) in enumerate(zip(canonical, section.data, strict=False)) if a != b),
                min(len(canonical), len(section.data)),
            )
            self.fail("is not written as Pointsman writes it", section, at=at)
        return value
