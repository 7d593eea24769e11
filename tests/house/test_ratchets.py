"""The house stays in order: small laws over the tree of files. What breaks one today stands in ``ratchets.json`` and may only
become less: a new breach fails, and so does an entry that is no longer needed.

The contracts between rooms (who may import whom) are import-linter's, in ``pyproject.toml``.
"""

from __future__ import annotations

import ast
import json
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("sw/pointsman", "sim/cosim")
ALLOWED: dict[str, list[str]] = json.loads(Path(__file__).with_name("ratchets.json").read_text())
MODULES = 12
"""Most modules of a folder whose ``__init__`` does not say why it has more."""
PARAMETERS = 8
"""Most parameters of a function that is no kernel; self not counted."""


@cache
def modules() -> dict[str, ast.Module]:
    """By path, what each module of the software and the simulation says."""
    paths = [path for source in SOURCES for path in sorted((ROOT / source).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def room(path: str) -> str:
    """The first folder under a source root, or the root itself."""
    parts = path.split("/")
    return "/".join(parts[:3]) if len(parts) > 3 else "/".join(parts[:2])


def large_folders() -> Iterator[str]:
    """Folders of more than twelve modules whose docstring does not speak of their number."""
    folders: dict[str, int] = defaultdict(int)
    for path in modules():
        folder, _, name = path.rpartition("/")
        folders[folder] += name != "__init__.py"
    for folder, count in folders.items():
        said = ast.get_docstring(modules()[f"{folder}/__init__.py"]) or ""
        if count > MODULES and "modules" not in said:
            yield folder


def homonyms() -> Iterator[str]:
    """Public classes of one name in one room."""
    seen: dict[tuple[str, str], int] = defaultdict(int)
    for path, tree in modules().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                seen[room(path), node.name] += 1
    for (where, name), count in seen.items():
        if count > 1:
            yield f"{where}: {name}"


def untested() -> Iterator[str]:
    """Modules without a test file of their name in the same place under ``tests``."""
    for path in modules():
        folder, _, name = path.rpartition("/")
        if name not in ("__init__.py", "__main__.py") and not (ROOT / "tests" / folder / f"test_{name}").exists():
            yield path


def inherited() -> Iterator[str]:
    """Subclasses of a concrete class of another file: inheritance is no way to cut a file in two."""
    abstract: dict[str, bool] = {}
    for tree in modules().values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                abstract[node.name] = _is_abstract(node) or abstract.get(node.name, False)
    for path, tree in modules().items():
        here = {node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                # Classes of ours are imported by name; ``click.Group`` is somebody else's.
                for base in (_last_name(base) for base in node.bases if not isinstance(base, ast.Attribute)):
                    if base in abstract and base not in here and not abstract[base] and not base.endswith("Error"):
                        yield f"{path}: {node.name} is a {base}"


def _is_abstract(node: ast.ClassDef) -> bool:
    if {"ABC", "Protocol"} & set(map(_last_name, node.bases)):
        return True
    methods = [part for part in node.body if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef)]
    return any("abstractmethod" in map(_last_name, method.decorator_list) for method in methods)


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript | ast.Call):
        return _last_name(node.value if isinstance(node, ast.Subscript) else node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def long_signatures() -> Iterator[str]:
    """Functions of more than eight parameters that are no kernels."""
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if {"kernel", "njit"} & set(map(_last_name, node.decorator_list)):
                continue
            names = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
            if len(names) - (names[:1] in (["self"], ["cls"])) > PARAMETERS:
                yield f"{path}: {node.name}"


def unsaid() -> Iterator[str]:
    """Modules and packages whose first line says nothing."""
    for path, tree in modules().items():
        if not (ast.get_docstring(tree) or "").strip():
            yield path


LAWS: list[Callable[[], Iterator[str]]] = [large_folders, homonyms, untested, inherited, long_signatures, unsaid]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_nothing_new_breaks_a_law_and_no_exception_is_kept_in_vain(law: Callable[[], Iterator[str]]) -> None:
    broken, allowed = set(law()), set(ALLOWED.get(law.__name__, []))
    assert sorted(broken - allowed) == [], f"new: {law.__doc__}"
    assert sorted(allowed - broken) == [], "mended: take it out of ratchets.json"


def test_every_room_stands_in_a_layer() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract for contract in contracts if contract["type"] == "layers")["layers"]
    placed = {name.strip() for layer in layers for name in layer.split("|")}
    rooms = {path.name for path in (ROOT / "sw/pointsman").iterdir() if (path / "__init__.py").exists()}
    files = {path.stem for path in (ROOT / "sw/pointsman").glob("*.py")} - {"__init__"}
    assert {f"pointsman.{name}" for name in rooms | files} <= placed


def test_the_laws_see_the_tree() -> None:
    assert len(modules()) > 400
    assert "sw/pointsman/plan/make_plan.py" in modules()
