"""Finds the proofs in the source tree: they are in ``tests/formal``, not in the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pointsman.errors import PointsmanError

from .proof import Book

ROOT = Path(__file__).parents[3]
BLOCKS = ("numesh", "tdm_switch", "packet_router", "host")
"""Folders of ``hdl`` that have proofs."""


def load(root: Path = ROOT, block: str = "numesh") -> Book:
    """The list of all proofs of ``hdl/<block>``.

    Raises
    ------
    PointsmanError
        If this is no source tree.
    """
    package_name = f"proofs_of_{block}"
    folder = root / "tests" / "formal" / block
    if not (folder / "book.py").exists():
        raise PointsmanError(f"there are no proofs in {folder}", hint="run this in the source tree of Pointsman")
    if package_name not in sys.modules:
        package = ModuleType(package_name, f"The proofs of hdl/{block}.")
        package.__path__ = [str(folder)]
        sys.modules[package_name] = package
    book = import_module(f"{package_name}.book").BOOK
    assert isinstance(book, Book)
    return book
