"""A digest of code that does not change with comments, docstrings and lines: which results the present code would make again."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

OTHER = {".cpp", ".h", ".cop", ".csv"}
"""Files that are taken byte by byte."""


def code_digest(root: Path, places: Iterable[str]) -> str:
    """Sixteen hexadecimal digits for all code in files and folders below ``root``, by their names and what they do."""
    answer = hashlib.sha256()
    for place in places:
        path = root / place
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix == ".py" or file.suffix in OTHER:
                state = file.stat()
                content = _content(file, state.st_mtime_ns, state.st_size)
                answer.update(f"{file.relative_to(root)}\0".encode() + content)
    return answer.hexdigest()[:16]


@cache
def _content(file: Path, changed: int, size: int) -> bytes:
    """The digest of a file that was changed last at that time."""
    if file.suffix == ".py":
        return hashlib.sha256(ast.dump(_bare(ast.parse(file.read_text(encoding="utf-8")))).encode()).digest()
    return hashlib.sha256(file.read_bytes()).digest()


def _bare(tree: ast.Module) -> ast.Module:
    """The tree without strings that stand alone."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                one
                for one in body
                if not (
                    isinstance(one, ast.Expr)
                    and isinstance(one.value, ast.Constant)
                    and isinstance(one.value.value, str)
                )
            ]
    return tree
