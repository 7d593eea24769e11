"""XML fed piece by piece."""

from __future__ import annotations

from collections.abc import Iterator
from xml.parsers import expat

import pytest

from pointsman.artifacts import xml_pieces
from pointsman.artifacts.xml_pieces import parse_pieces
from pointsman.errors import PointsmanError


def names(*pieces: bytes) -> list[str]:
    parser, found = expat.ParserCreate(), list[str]()
    parser.StartElementHandler = lambda name, _: found.append(name)
    parse_pieces(parser, pieces)
    return found


def test_elements_are_found_wherever_pieces_end() -> None:
    text = b"<a><b c='d'/><!-- e --><f/></a>"
    assert all(names(text[:k], text[k:]) == ["a", "b", "f"] for k in range(len(text)))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b"<a>\n<b></a>", "line 2: this is no XML: mismatched tag"),
        (b"<a>\n<b>", "line 2: this is no XML: no element found"),
        (b'<!DOCTYPE a [\n<!ENTITY b "c">]><a>&b;</a>', "line 2: entities are not read"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(text: bytes, told: str) -> None:
    with pytest.raises(PointsmanError, match=told):
        names(text)


@pytest.mark.parametrize("begin", [b"<b c='", b"<!-- ", b"<"])
def test_a_tag_or_comment_that_does_not_end_is_refused_before_all_of_it_is_read(
    monkeypatch: pytest.MonkeyPatch, begin: bytes
) -> None:
    monkeypatch.setattr(xml_pieces, "MOST_BYTES", 1000)
    monkeypatch.setattr(xml_pieces, "CHUNK", 100)
    made = 0

    def pieces() -> Iterator[bytes]:
        nonlocal made
        yield b"<a>\n" + begin
        while made < 10_000:
            made += 1
            yield b"x" * 100

    with pytest.raises(PointsmanError, match="line 2: a tag or a comment must have at most 1000 bytes"):
        parse_pieces(expat.ParserCreate(), pieces())
    assert made < 20


def test_much_text_between_tags_is_no_long_tag(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_pieces, "MOST_BYTES", 1000)
    monkeypatch.setattr(xml_pieces, "CHUNK", 100)
    assert names(b"<a>", *[b"x" * 100] * 50, b"<b/></a>") == ["a", "b"]
