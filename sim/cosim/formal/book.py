"""Finds the proofs in the source tree: they are in ``tests/formal``, not in the package."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

from pointsman.errors import PointsmanError

from .proof import Book

ROOT = Path(__file__).parents[3]
_PACKAGE = "proofs_of_numesh"


def load(root: Path = ROOT) -> Book:
    """The list of all proofs.

    Raises
    ------
    PointsmanError
        If this is no source tree.
    """
    folder = root / "tests" / "formal" / "numesh"
    if not (folder / "book.py").exists():
        raise PointsmanError(f"there are no proofs in {folder}", hint="run this in the source tree of Pointsman")
    if _PACKAGE not in sys.modules:
        package = ModuleType(_PACKAGE, "The proofs of hdl/numesh.")
        package.__path__ = [str(folder)]
        sys.modules[_PACKAGE] = package
    book = import_module(f"{_PACKAGE}.book").BOOK
    assert isinstance(book, Book)
    return book
