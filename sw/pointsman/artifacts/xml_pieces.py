"""XML of any size, fed to a parser piece by piece.

Leaves alone: what elements mean, which the handlers of the parser know.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.parsers import expat

from pointsman.errors import PointsmanError

CHUNK = 1 << 16
MOST_BYTES = 1 << 22
"""Longest tag or comment: the parser keeps it until it ends."""


def parse_pieces(parser: expat.XMLParserType, pieces: Iterable[bytes]) -> None:
    """Parse a text to its end.

    Raises
    ------
    PointsmanError
        If it is no XML, has entities, or a tag is too long; with the line.
    """

    def entity(*_: object) -> None:
        raise PointsmanError(f"line {parser.CurrentLineNumber}: entities are not read")

    parser.EntityDeclHandler = entity
    fed = 0
    try:
        for data in pieces:
            parser.Parse(data, False)
            fed += len(data)
            if fed - parser.CurrentByteIndex > MOST_BYTES + CHUNK:
                raise PointsmanError(
                    f"line {parser.CurrentLineNumber}: a tag or a comment must have at most {MOST_BYTES} bytes"
                )
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise PointsmanError(f"line {error.lineno}: this is no XML: {expat.ErrorString(error.code)}") from None
