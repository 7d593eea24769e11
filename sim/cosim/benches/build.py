"""Simulators of the benches: Verilog to an executable with cocotb in it.

The Verilator package from the index does the work; its makefile lacks the settings that a configure script would find, so
they are given on the command line. Verilator's own run-time library is compiled once and kept, and an executable is
made again only when its Verilog, the tools or the options change. Finished files appear by renaming, so that several
processes may build at once.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pointsman.errors import PointsmanError

from .bench import Design

Simulator = Literal["verilator", "icarus"]
SIMULATORS: tuple[Simulator, ...] = ("verilator", "icarus")

_LIBRARY = ("verilated", "verilated_dpi", "verilated_vpi", "verilated_threads")
_PREFIX = "Vtop"

_VERILATOR_OPTIONS = (
    *("--cc", "--exe", "--vpi", "-O3", "-Wno-fatal", "--quiet", "--prefix", _PREFIX),
    # Registers without a value at power-up get a random value from the seed of the run.
    *("--x-assign", "unique", "--x-initial", "unique"),
)

_MAKE_VARIABLES = (
    "CFG_CXXFLAGS_PCH_I=-include",
    "CFG_CXXFLAGS_STD=-std=gnu++20",
    "CFG_CXXFLAGS_COROUTINES=-fcoroutines",
    "CFG_LDLIBS_THREADS=-pthread",
    # Python takes most of a run: to compile quickly gains more than to simulate quickly.
    "OPT_FAST=-O0",
    "OPT_SLOW=-O0",
    "OPT_GLOBAL=-O0",
)


class BuildError(PointsmanError):
    """A simulator that could not be built."""


def build(design: Design, folder: Path, simulator: Simulator = "verilator") -> tuple[str, ...]:
    """Make the simulator of ``design`` in ``folder``, if it is not there yet.

    Returns
    -------
    tuple of str
        The command that runs it.

    Raises
    ------
    BuildError
        If there is no compiler, or one of the tools fails.
    """
    verilog = design.verilog()
    if simulator == "icarus":
        return _icarus(design, verilog, folder.absolute())
    control = _control_file(design, verilog)
    key = _digest(verilog, control, *_VERILATOR_OPTIONS, _library_key())
    executable = folder.absolute() / f"{design.name}-{key}"
    if executable.exists():
        return (str(executable),)
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=f"{design.name}-") as scratch:
        work = Path(scratch).absolute()
        (work / "design.v").write_text(verilog)
        (work / "design.vlt").write_text(control)
        _verilate(design.top, work)
        library = folder.absolute() / f"library-{_library_key()}"
        if not library.exists():
            _make_library(work, library)
        for name in _LIBRARY:
            shutil.copyfile(library / f"{name}.o", work / f"{name}.o")
        _make(work, "simulator")
        (work / "simulator").replace(executable)
    return (str(executable),)


def _icarus(design: Design, verilog: str, folder: Path) -> tuple[str, ...]:
    """Icarus Verilog, as cocotb's own runner calls it: by IEEE 1800-2012."""
    for tool in ("iverilog", "vvp"):
        if shutil.which(tool) is None:
            raise BuildError(f"there is no {tool}", hint="on Debian: apt install iverilog")
    folder.mkdir(parents=True, exist_ok=True)
    compiled = folder / f"{design.name}-{_digest(verilog, 'icarus')}.vvp"
    if not compiled.exists():
        with tempfile.TemporaryDirectory(dir=folder, prefix=f"{design.name}-") as scratch:
            work = Path(scratch)
            (work / "design.v").write_text(verilog)
            _run(["iverilog", "-g2012", "-s", design.top, "-o", "design.vvp", "design.v"], work)
            (work / "design.vvp").replace(compiled)
    library = Path(_package("cocotb")) / "libs" / "libcocotbvpi_icarus.so"
    return ("vvp", "-m", str(library), str(compiled))


def _control_file(design: Design, verilog: str) -> str:
    """Text that tells Verilator which signals cocotb reads: ports of the top module and of ``design.visible`` modules."""
    lines = ["`verilator_config"]
    for module in (design.top, *design.visible):
        access = "public_flat_rw" if module == design.top else "public_flat_rd"
        lines += [f'{access} -module "{module}" -var "{port}"' for port in _ports(verilog, module)]
    return "\n".join(lines) + "\n"


def _ports(verilog: str, module: str) -> list[str]:
    header = re.search(rf"^module {module} ?\((.*?)\);", verilog, re.M | re.S)
    if header is None:
        raise BuildError(f"the Verilog has no module {module}")
    return [port.strip() for port in header[1].split(",")]


def _verilate(top: str, work: Path) -> None:
    tools = _tools()
    cocotb = Path(_package("cocotb"))
    libraries = cocotb / "libs"
    _run(
        [
            str(tools / "bin" / "verilator_bin"),
            *_VERILATOR_OPTIONS,
            *("--top-module", top, "--Mdir", str(work), "-o", "simulator"),
            *("-LDFLAGS", f"-Wl,-rpath,{libraries} -L{libraries} -lcocotbvpi_verilator"),
            str(work / "design.vlt"),
            str(work / "design.v"),
            str(cocotb / "share" / "lib" / "verilator" / "verilator.cpp"),
        ],
        work,
    )


def _make_library(work: Path, library: Path) -> None:
    """Compile Verilator's run-time library with the makefile of any design."""
    _make(work, *(f"{name}.o" for name in _LIBRARY))
    fresh = Path(tempfile.mkdtemp(dir=library.parent, prefix=f"{library.name}-"))
    for name in _LIBRARY:
        shutil.copyfile(work / f"{name}.o", fresh / f"{name}.o")
    try:
        fresh.rename(library)
    except OSError:  # another process was quicker
        shutil.rmtree(fresh)


def _make(work: Path, *targets: str) -> None:
    jobs = f"-j{min(2, os.cpu_count() or 1)}"
    _run(["make", "-s", jobs, "-f", f"{_PREFIX}.mk", *_MAKE_VARIABLES, *targets], work)


def _run(command: list[str], work: Path) -> None:
    environment = {**os.environ, **({} if command[0] == "iverilog" else {"VERILATOR_ROOT": str(_tools())})}
    for inherited in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL"):  # `make sim` must not hand its own options down
        environment.pop(inherited, None)
    done = subprocess.run(
        command, cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-20:])
        raise BuildError(f"{Path(command[0]).name} failed with exit status {done.returncode}:\n{last}")


@cache
def _tools() -> Path:
    for tool in ("g++", "make"):
        if shutil.which(tool) is None:
            raise BuildError(f"the test benches need {tool}", hint="on Debian: apt install g++ make")
    return Path(_package("verilator"))


def _package(name: str) -> str:
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        raise BuildError(f"the test benches need the package {name}", hint="make setup")
    return str(Path(spec.origin).parent)


@cache
def _library_key() -> str:
    _tools()
    compiler = subprocess.run(["g++", "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True)
    return _digest(version("verilator"), version("cocotb"), compiler.stdout, *_MAKE_VARIABLES, _package("cocotb"))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
