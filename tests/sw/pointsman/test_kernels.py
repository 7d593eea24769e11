"""Kernels are cached by package, so that an edit of one file is seen by its callers in others."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CALLER = """
from pointsman.kernels import kernel

from package.called import number


@kernel
def twice() -> int:
    return 2 * number()


print(twice())
"""


def run(folder: Path) -> int:
    command = [sys.executable, "-c", "import package.caller"]
    environment = {"PYTHONPATH": str(folder), "POINTSMAN_CACHE": str(folder / "cache"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    return int(done.stdout)


def test_an_edit_of_one_file_is_seen_by_its_callers(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER)
    called = "from pointsman.kernels import kernel\n\n\n@kernel\ndef number() -> int:\n    return {}\n"
    (package / "called.py").write_text(called.format(3))
    assert run(tmp_path) == 6
    (package / "called.py").write_text(called.format(50))
    assert run(tmp_path) == 100


def test_without_a_place_for_them_kernels_work_all_the_same(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "caller.py").write_text(CALLER)
    (package / "called.py").write_text(
        "from pointsman.kernels import kernel\n\n\n@kernel\ndef number() -> int:\n    return 4\n"
    )
    (tmp_path / "cache").write_text("a file where the folder should be")
    assert run(tmp_path) == 8
