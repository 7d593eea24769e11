"""What ``pointsman show`` can be given: which kind of file it is, and the document of files that other commands have written."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING

from pointsman.errors import PointsmanError
from pointsman.files import read_text

from .options import names_network, topology_of

if TYPE_CHECKING:
    from pointsman.report.show.document import Document
    from pointsman.targets.target import Given


class Kind(Enum):
    """Kinds of files."""

    APPLICATION = "an application"
    PROGRAM = "a program"
    IMAGE = "an image"
    TABLES = "connection tables"
    ANSWER = "JSON of a command"


def kind_of(path: Path) -> Kind:
    """What a file is, by its first bytes and its ending.

    Raises
    ------
    PointsmanError
        If it cannot be read.
    """
    from pointsman.artifacts.container import MAGIC
    from pointsman.artifacts.tables.file import KIND

    try:
        with path.open("rb") as file:
            first = file.read(16)
    except OSError as error:
        raise PointsmanError(f"{path} cannot be read: {error.strerror}") from None
    if first.startswith(MAGIC):
        return Kind.IMAGE
    if first.startswith(KIND.magic):
        return Kind.TABLES
    if path.suffix == ".json" or first.lstrip()[:1] == b"{":
        return Kind.ANSWER
    if path.suffix == ".py" and _has_application(path):
        return Kind.APPLICATION
    return Kind.PROGRAM


def _has_application(path: Path) -> bool:
    """Does a file of Python have an application? Otherwise it may be a COP program in Python."""
    return "Application" in read_text(path, "application")


def answer_document(path: Path, kind: Kind, given: Given) -> Document:
    """Document of an image, of connection tables, or of JSON that a command has written.

    Raises
    ------
    PointsmanError
        If the file is malformed or of no known form.
    """
    from pointsman.api.showing import document_of

    if kind == Kind.IMAGE:
        from pointsman.api.judged import refuse_malformed
        from pointsman.artifacts.images.file import read_images

        images = read_images(path)
        refuse_malformed(images)
        return document_of(images)
    if kind == Kind.TABLES:
        from pointsman.artifacts.tables import read_tables

        return document_of(read_tables(path))
    return _from_json(path, given)


def _from_json(path: Path, given: Given) -> Document:
    import msgspec

    text = read_text(path, "file")
    try:
        plain = msgspec.json.decode(text)  # json would read half of a surrogate pair, which nothing can write
    except (msgspec.DecodeError, RecursionError) as error:
        raise PointsmanError(f"{path} is no JSON: {error}") from None
    if isinstance(plain, dict) and plain.get("format") == "pointsman-show":
        from pointsman.report.show.document import read_document

        try:
            return read_document(text.encode())
        except msgspec.ValidationError as error:
            raise PointsmanError(f"{path} is no document that can be shown: {error}") from None
    if isinstance(plain, dict) and isinstance(plain.get("configurations"), list):
        from pointsman.report.show.switch import configurations_document

        return configurations_document(plain, path.stem)
    from pointsman.report.show.optical import is_optical, optical_document

    if is_optical(plain):
        return optical_document(plain, path.stem)
    from pointsman.report.show.answers import is_phased, phased_document

    if is_phased(plain):
        return phased_document(plain, path.stem)
    if isinstance(plain, dict) and "router" in plain and "streams" in plain:
        from pointsman.report.show.answers import routes_document

        named = names_network(given)
        return routes_document(plain, path.stem, topology_of(given) if named else None)
    if isinstance(plain, dict) and "total_cycles" in plain and "per_node" in plain:
        from pointsman.report.show.answers import run_document

        return run_document(plain, path.stem)
    raise PointsmanError(
        f"{path} is no JSON that pointsman writes and show can read",
        hint="results of run --json, routes of route --json, collective --json and place --json, configurations of "
        "configure --json, results of optical --json, phases of channels --json and fem --json, documents of show --json",
    )
