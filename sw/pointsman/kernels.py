"""Compiled kernels, and where their machine code is kept.

Numba keys its cache by the file of each function alone: a caller that was cached goes on with the old text of what it calls from
another file. So all kernels of a package share a folder that is named by a hash of the package.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config as numba_config

from .files import cache_folder

config: Any = numba_config


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator: ``numba.njit``, cached for the whole package of ``function``; ``options`` go to Numba."""
    if function is None:
        return lambda later: kernel(later, **options)
    before = config.CACHE_DIR
    config.CACHE_DIR = _folder(Path(function.__code__.co_filename).parent) or before
    try:
        return numba.njit(cache=True, **options)(function)
    finally:
        config.CACHE_DIR = before


@cache
def _folder(package: Path) -> str:
    """Folder for the kernels of the package in this folder; empty if there can be none (Numba then has its own way)."""
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(package.glob("*.py")):
        digest.update(path.name.encode() + path.read_bytes())
    folder = cache_folder() / f"kernels-{digest.hexdigest()[:16]}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
    except OSError:
        return ""
    return str(folder)


def is_cold(package: Path) -> bool:
    """Whether the kernels of the package in this folder have still to be compiled."""
    folder = _folder(package)
    return not folder or not any(Path(folder).rglob("*.nbi"))
