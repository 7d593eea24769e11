"""Machine code of kernels is kept until something changes that was compiled in: in their module, or in what it imports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core.event import Event, Listener, install_listener

from pointsman.kernels import compiled_in, is_cold, is_compiling, kernel

CALLER = """
from pointsman.kernels import kernel

from package.called import number


@kernel
def twice() -> int:
    return 2 * number()


print(twice(), sum(twice.stats.cache_hits.values()))
"""
CALLED = """
from other.sizes import SIZE
from pointsman.kernels import kernel


@kernel
def number() -> int:
    return SIZE + {}
"""


@kernel
def added(number: int, more: int) -> int:
    return number + more


@kernel
def added_twice(number: int) -> int:
    return added(added(number, 3), 4)


def test_a_kernel_is_compiled_for_types_and_not_for_each_constant_that_another_gives() -> None:
    assert added_twice(1) == 8
    assert [str(kind) for kind in added_twice.signatures[0]] == ["int64"]
    assert [[str(kind) for kind in kinds] for kinds in added.signatures] in ([], [["int64", "int64"]])
    assert added(1, 2) == 3
    assert len(added.signatures) == 1


def write(folder: Path, **modules: str) -> None:
    folder.mkdir(exist_ok=True)
    for name, text in {"__init__": "", **modules}.items():
        (folder / f"{name}.py").write_text(text)


def run(folder: Path, *command: str) -> tuple[int, bool]:
    """What ``twice`` gives in a process of its own, and whether its machine code was kept from an earlier one."""
    command = (sys.executable, *(command or ("-c", "import package.caller")))
    environment = {
        "PYTHONPATH": os.pathsep.join([str(folder), *sys.path]),
        "PYTHONDONTWRITEBYTECODE": "1",  # its own cache goes by time and size: an edit in the same second is not seen
        "POINTSMAN_CACHE": str(folder / "cache"),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    number, kept = done.stdout.split()
    return int(number), kept == "1"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write(tmp_path / "other", sizes="from .deeper import DEPTH\n\nSIZE = 1 + DEPTH\n", deeper="DEPTH = 0\n", beside="")
    write(tmp_path / "package", caller=CALLER, called=CALLED.format(2))
    return tmp_path


def test_an_edit_of_one_file_is_seen_by_its_callers(tree: Path) -> None:
    assert run(tree) == (6, False)
    write(tree / "package", called=CALLED.format(49))
    assert run(tree) == (100, False)


def test_a_constant_of_another_package_is_seen_when_it_changes_and_nothing_is_compiled_again_before(tree: Path) -> None:
    assert run(tree) == (6, False)
    (tree / "other" / "beside.py").write_text("UNRELATED = 1\n")
    assert run(tree) == (6, True)
    (tree / "other" / "deeper.py").write_text("DEPTH = 7\n")
    assert run(tree) == (20, False)


def test_a_module_of_another_name_is_compiled_again(tree: Path) -> None:
    """A kernel that is kept looks for its globals in the module whose name it was compiled with: here ``__main__``."""
    assert run(tree, str(tree / "package" / "caller.py")) == (6, False)
    assert run(tree) == (6, False)


def test_without_a_place_for_them_kernels_work_all_the_same(tree: Path) -> None:
    (tree / "cache").write_text("a file where the folder should be")
    assert run(tree)[0] == 6


def test_without_a_folder_of_their_own_they_are_kept_beside_the_sources_and_edits_are_seen(tree: Path) -> None:
    (tree / "cache").write_text("a file where the folder should be")
    assert run(tree) == (6, False)
    assert list((tree / "package" / "__pycache__").glob("*.nbi"))
    assert run(tree) == (6, True)
    write(tree / "package", called=CALLED.format(49))
    assert run(tree) == (100, False)
    assert run(tree) == (100, True)
    (tree / "other" / "deeper.py").write_text("DEPTH = 7\n")
    assert run(tree) == (114, False)


def test_what_is_compiled_in_is_followed_through_all_imports_that_run(tmp_path: Path) -> None:
    """Packages of ours are found by name, modules beside by their folder; others' modules are not read."""
    write(
        tmp_path / "package",
        whole="import json\nimport numpy\nfrom numesh.codes import MoveType\nfrom . import first\nfrom .inner import NAME\n",
        first="import typing\n\nif typing.TYPE_CHECKING:\n    from .unseen import A\nelse:\n    from .second import A\n",
        second="try:\n    from .third import ONE\nexcept ImportError:\n    ONE = 1\n\n\ndef late():\n"
        "    from . import unseen\n",
        third='"""A docstring with a line that looks like a function:\ndef nothing\n"""\nfrom .fourth import TWO\n',
        fourth="",
        unseen="",
    )
    write(tmp_path / "package" / "inner", far="")
    (tmp_path / "package" / "inner" / "__init__.py").write_text("from ..fourth import TWO as NAME\n")
    found = compiled_in(tmp_path / "package" / "whole.py")
    assert found[0] == tmp_path / "package" / "whole.py"
    mine = {path.relative_to(tmp_path / "package").as_posix() for path in found if path.is_relative_to(tmp_path)}
    assert mine == {
        "whole.py",
        "__init__.py",
        "first.py",
        "second.py",
        "third.py",
        "fourth.py",
        "inner/__init__.py",
    } - {"__init__.py"}
    rest = {path.as_posix() for path in found if not path.is_relative_to(tmp_path)}
    assert any(path.endswith("numesh/codes.py") for path in rest)
    assert not any("numpy" in path or "json" in path for path in rest)


def test_modules_without_kernels_are_cold(tmp_path: Path) -> None:
    assert is_cold(tmp_path)


def test_a_kernel_that_is_not_kept_is_compiling_until_it_is_done() -> None:
    seen = []

    class Watch(Listener):
        def on_start(self, event: Event) -> None:
            seen.append(is_compiling())

        def on_end(self, event: Event) -> None:
            pass

    assert not is_compiling()
    with install_listener("numba:compile", Watch()):
        numba.njit(lambda number: number + 7)(1)
    assert seen
    assert all(seen)
    assert not is_compiling()
