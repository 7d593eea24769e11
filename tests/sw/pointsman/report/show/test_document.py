"""The document of ``pointsman show``."""

from __future__ import annotations

import json

import msgspec
import pytest

from pointsman.report.show.document import Document, Net, document_bytes, read_document


def test_document_comes_back_from_json(document: Document) -> None:
    assert read_document(document_bytes(document)) == document


def test_document_says_its_form_and_version() -> None:
    plain = json.loads(document_bytes(Document("a", "route", Net("mesh", [1], 1, [(0, 0)]))))
    assert (plain["format"], plain["version"]) == ("pointsman-show", 1)


def test_document_of_another_version_is_refused() -> None:
    later = Document("a", "route", Net("mesh", [1], 1, [(0, 0)]), version=2)
    with pytest.raises(msgspec.ValidationError, match="must be pointsman-show version 1, not pointsman-show 2"):
        read_document(document_bytes(later))
