"""Python files that are in no package: scripts, examples, and what several tests share. ``pythonpath`` in pyproject.toml has this
folder; pytest imports tests by their files, so nothing beside them can be imported by name.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def module_at(path: Path, name: str | None = None) -> ModuleType:
    """The module in a file, imported once under ``name``, its stem when not given. Others then can import it by that name."""
    name = name or path.stem
    known = sys.modules.get(name)
    if known is not None and getattr(known, "__file__", None) == str(path):
        return known
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
