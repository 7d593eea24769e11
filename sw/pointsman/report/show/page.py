"""A document as one page of HTML that fetches nothing: views, data and code in a file."""

from __future__ import annotations

import re
import zlib
from base64 import b64encode
from html import escape
from importlib.resources import files
from pathlib import Path

from pointsman.files import write_whole

from .document import Document, document_bytes

SCRIPTS = (
    "inflate",
    "model",
    "mesh",
    "spacetime",
    "processors",
    "strip",
    "node",
    "switch",
    "optical",
    "phased",
    "active",
    "main",
)
"""Parts of the page's code, in the order in which they need each other."""


def page(document: Document) -> str:
    """The page. Its data are the document as JSON, compressed (RFC 1951) and in base 64."""
    folder = files(__package__) / "assets"
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(document_bytes(document)) + packer.flush()
    parts = {
        "@TITLE@": escape(document.title),
        "@STYLE@": (folder / "style.css").read_text(encoding="utf-8"),
        "@DATA@": b64encode(data).decode(),
        "@SCRIPT@": "".join((folder / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS),
    }
    text = (folder / "page.html").read_text(encoding="utf-8")
    return re.sub("@[A-Z]+@", lambda mark: parts[mark[0]], text)


def write_page(document: Document, path: Path) -> int:
    """Write the page to a file; gives its size in bytes."""
    data = page(document).encode()
    write_whole(path, data)
    return len(data)
