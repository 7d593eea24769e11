"""The command line: what it prints, what it leaves, and its exit status. Whatever the user does, never a traceback."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner

import pointsman
from command_calls import (
    COP,
    MATMUL,
    MODEL,
    SHIFT_MAIN,
    SMALL,
    call,
    call_process,
    shift_application,
)
from pointsman.cli import main

# -- help and version ----------------------------------------------------------------------------------------


def test_version_is_that_of_the_package() -> None:
    assert call("--version").output == f"pointsman {pointsman.__version__}\n"


def test_commands_are_those_that_the_tests_below_cover() -> None:
    assert sorted(main.commands) == [
        "arrays",
        "channels",
        "check",
        "collective",
        "compare",
        "compile",
        "configure",
        "explain",
        "export",
        "fem",
        "fmt",
        "import",
        "noc",
        "optical",
        "place",
        "route",
        "run",
        "show",
        "sweep",
        "synth",
        "tam",
        "verilog",
    ]


@pytest.mark.parametrize("name", [None, *sorted(main.commands)])
def test_help_names_every_option(name: str | None) -> None:
    command: click.Command = main if name is None else main.commands[name]
    text = call(*([name] if name else []), "--help").output
    assert text.startswith("Usage: ")
    options = [option for parameter in command.params for option in parameter.opts if option.startswith("--")]
    assert options or name is None
    assert [option for option in options if option not in text] == []
    assert [other for other in main.commands if name is None and other not in text] == []


def test_installed_command_prints_its_version_and_help() -> None:
    assert call_process("--version").stdout == f"pointsman {pointsman.__version__}\n"
    assert "Compile an application's communications" in call_process("--help").stdout


def test_unknown_command_is_named() -> None:
    assert "No such command 'frobnicate'" in call("frobnicate", status=2).stderr


@pytest.mark.parametrize("name", ["check", "compile", "verilog"])
def test_unknown_option_of_a_command_is_named(name: str) -> None:
    assert "--frob" in call(name, "x", "--frob", status=2).stderr


# -- compile -------------------------------------------------------------------------------------------------


def test_compile_prints_the_phases_and_check_proves_what_it_wrote(tmp_path: Path) -> None:
    path = tmp_path / "m.image"
    result = call("compile", COP, "--mesh", "2x2", "-o", path)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("matmul on a 2x2 mesh, ")
    assert lines[1].split() == ["phase", "block", "operator", "implementation", "words", "bandwidth", "ends", "by"]
    assert {(line.split()[0].split("=")[0], line.split()[4]) for line in lines[3:-1]} == {("b", "225"), ("c", "225")}
    assert lines[-1] == f"wrote {path}"
    assert [file.name for file in tmp_path.iterdir()] == ["m.image"]
    call("check", path)


def test_set_changes_the_words_of_a_message() -> None:
    text = call("compile", COP, "--mesh", "2x2", "--set", "block=16").stdout
    assert set(re.findall(r" \w+_(?:bcast\w*|shift) +(\d+) ", text)) == {"16"}


def test_compiling_twice_gives_the_same_file(matmul_image: Path, tmp_path: Path) -> None:
    again = tmp_path / "matmul.image"
    call("compile", COP, "--mesh", "2x2", "--set", "block=16", "-o", again)
    assert again.read_bytes() == matmul_image.read_bytes()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("block", "--set takes NAME=VALUE with a whole number, not 'block'"),
        ("block=", "--set takes NAME=VALUE with a whole number, not 'block='"),
        ("block=1.5", "--set takes NAME=VALUE with a whole number, not 'block=1.5'"),
        ("block=" + "9" * 5000, "--set takes NAME=VALUE with a whole number"),
        ("blck=3", "did you mean 'block'?"),
        ("block=0", ":m must be a positive integer, not 0"),
        ("block=-4", ":m must be a positive integer, not -4"),
    ],
)
def test_bad_setting_is_refused(setting: str, message: str) -> None:
    assert message in call("compile", COP, "--mesh", "2x2", "--set", setting, status=2).stderr


def test_emitted_program_compiles_to_the_same_phases(tmp_path: Path) -> None:
    text = call("compile", COP, "--mesh", "2x2", "--set", "block=16", "--emit", "program").stdout
    again = tmp_path / "matmul.cop"
    again.write_text(text)
    tables = [
        call("compile", path, "--mesh", "2x2", *setting).stdout
        for path, setting in ((COP, ("--set", "block=16")), (again, ()))
    ]
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    ("stage", "keys"),
    [
        ("plan", {"name", "network", "shape", "period", "predicted_cycles", "phases"}),
        ("routes", {"period", "phases"}),
        ("images", {"shape", "topology", "period", "name", "phases", "nodes", "operators"}),
    ],
)
def test_emitted_stage_is_json_on_the_terminal_and_in_a_file(stage: str, keys: set[str], tmp_path: Path) -> None:
    command = ("compile", COP, "--mesh", "2x2", "--set", "block=16", "--emit", stage)
    value = json.loads(call(*command).stdout)
    assert keys <= set(value)
    assert value["phases"]
    path = tmp_path / "stage.json"
    assert call(*command, "-o", path).stdout == "", "progress of what takes long is told beside it"
    written = json.loads(path.read_text())
    if stage == "routes":  # how long the router took differs
        for phase in (*value["phases"], *written["phases"]):
            del phase["seconds"]
    assert written == value


def test_readmemh_writes_files_of_hexadecimal_words(tmp_path: Path) -> None:
    folder = tmp_path / "memories"
    result = call("compile", COP, "--mesh", "2x2", "--set", "block=16", "--readmemh", folder)
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert f"wrote {len(files)} files into {folder}" in result.stdout
    assert len(files) >= 4


@pytest.mark.parametrize("size", ["", "x", "2x", "axb", "-1x2", "0x2", "2x2x2x2", "99999x99999", "9999999999x1", "²x2"])
def test_nonsense_for_a_mesh_is_refused(size: str) -> None:
    assert call("compile", COP, "--mesh", size, status=2).stderr.startswith("pointsman: a ")


@pytest.mark.parametrize(
    "sizes",
    [("--pipelines", 0), ("--vfsms", -1), ("--schedule-depth", 100), ("--registers", 10**9), ("--width", 0)],
)
def test_impossible_node_is_refused(sizes: tuple[str, int]) -> None:
    assert call("compile", COP, "--mesh", "2x2", *sizes, status=2).stderr.startswith("pointsman: ")


@pytest.mark.parametrize("period", [-1, 0, 129, 10**12])
def test_impossible_period_is_refused(period: int) -> None:
    text = call("compile", COP, "--mesh", "2x2", "--period", period, status=2).stderr
    assert "schedule" in text
    assert str(period) in text


def test_fault_in_a_program_is_shown_with_a_caret(tmp_path: Path) -> None:
    path = tmp_path / "bad.cop"
    path.write_text("(defaults :m 4)\n(broadcast 'b 9)\n")
    lines = call("compile", path, "--mesh", "2x2", "-o", tmp_path / "o", status=2).stderr.splitlines()
    assert lines[0].startswith(f"pointsman: {path}:2:")
    column = int(lines[0].removeprefix(f"pointsman: {path}:2:").split(":")[0])
    at = next(i for i, line in enumerate(lines) if "(broadcast 'b 9)" in line)
    assert lines[at + 1].strip() == "^"
    assert lines[at + 1].index("^") - lines[at].index("(") == column - 1
    assert [file.name for file in tmp_path.iterdir()] == ["bad.cop"]


@pytest.mark.parametrize("content", [None, b"", b"(", b")", b"\xff\xfe", b"\0", b"(frobnicate 1)"])
def test_program_that_is_none_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "p.cop"
    if content is not None:
        path.write_bytes(content)
    assert str(path) in call("compile", path, "--mesh", "2x2", status=2).stderr


@pytest.mark.parametrize("where", ["missing/m.image", "."])
def test_compile_to_an_impossible_place_leaves_nothing(where: str, tmp_path: Path) -> None:
    text = call("compile", COP, "--mesh", "2x2", "-o", tmp_path / where, status=2).stderr
    assert text.startswith("pointsman: cannot write ")
    assert list(tmp_path.iterdir()) == []


# -- check ---------------------------------------------------------------------------------------------------


def test_control_characters_of_a_file_are_printed_as_numbers(tmp_path: Path) -> None:
    """A terminal would obey them."""
    file = tmp_path / "demand.mtx"
    file.write_text("%%MatrixMarket matrix coordinate real \x1b[2J\x00\u202e\n2 2 1\n1 2 5\n")
    result = CliRunner().invoke(main, ["import", "matrix-market", str(file), "-o", str(tmp_path / "flows.json")])
    assert result.exit_code == 2
    assert r"line 1: a matrix must be general or symmetric, not \x1b[2j\x00\u202e" in result.output


def test_check_writes_its_findings_as_json(matmul_image: Path, tmp_path: Path) -> None:
    path = tmp_path / "findings.json"
    assert call("check", matmul_image, "--json", path).stdout
    assert isinstance(json.loads(path.read_text()), dict)


def test_any_flipped_bit_is_found_and_told_in_one_line(matmul_image: Path, tmp_path: Path) -> None:
    data = matmul_image.read_bytes()
    spoilt = tmp_path / "spoilt.image"
    for bit in np.random.default_rng(1).integers(0, 8 * len(data), 40):
        changed = bytearray(data)
        changed[bit // 8] ^= 1 << bit % 8
        spoilt.write_bytes(changed)
        lines = call("check", spoilt, status=2).stderr.splitlines()
        assert lines[0].startswith(f"pointsman: {spoilt}, ")
        assert [line for line in lines[1:] if not line.startswith("  hint: ")] == []


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
@pytest.mark.parametrize("command", ["check", "run", "verilog"])
def test_truncated_image_is_refused(command: str, share: float, matmul_image: Path, tmp_path: Path) -> None:
    data = matmul_image.read_bytes()
    short = tmp_path / "short.image"
    short.write_bytes(data[: int(share * len(data))])
    arguments: dict[str, tuple[object, ...]] = {
        "check": (short,),
        "run": (MATMUL, *SMALL, "--size", 8, "--image", short),
        "verilog": ("numesh", "--mesh", "2x2", "--image", short, "-o", tmp_path / "mesh.v"),
    }
    assert str(short) in call(command, *arguments[command], status=2).stderr
    assert [file.name for file in tmp_path.iterdir()] == ["short.image"]


def test_file_that_is_no_image_is_refused(tmp_path: Path) -> None:
    assert "this is no image file" in call("check", COP, status=2).stderr
    assert str(tmp_path) in call("check", tmp_path, status=2).stderr
    assert "No such file" in call("check", tmp_path / "none.image", status=2).stderr


# -- verilog -------------------------------------------------------------------------------------------------


def test_verilog_is_written_with_its_memory_map(tmp_path: Path) -> None:
    call("verilog", "numesh", "--mesh", "2x2", "-o", tmp_path / "mesh.v")
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "mesh.core",
        "mesh.map.json",
        "mesh.map.md",
        "mesh.rdl",
        "mesh.v",
    ]
    text = (tmp_path / "mesh.v").read_text()
    assert text.count("endmodule") > 1
    assert isinstance(json.loads((tmp_path / "mesh.map.json").read_text()), dict)
    assert (tmp_path / "mesh.map.md").read_text().startswith("#")


def test_verilog_takes_the_contents_of_an_image_for_its_own_mesh_only(matmul_image: Path, tmp_path: Path) -> None:
    call("verilog", "numesh", "--mesh", "2x2", "--image", matmul_image, "-o", tmp_path / "mesh.v")
    text = call(
        "verilog", "numesh", "--mesh", "3x2", "--image", matmul_image, "-o", tmp_path / "other.v", status=2
    ).stderr
    assert f"the image {matmul_image} is for a 2x2 mesh" in text
    assert not (tmp_path / "other.v").exists()


@pytest.mark.parametrize("where", ["missing/mesh.v", "."])
def test_verilog_to_an_impossible_place_leaves_nothing(where: str, tmp_path: Path) -> None:
    text = call("verilog", "numesh", "--mesh", "2x2", "-o", tmp_path / where, status=2).stderr
    assert text.startswith("pointsman: cannot write ")
    assert list(tmp_path.iterdir()) == []


def test_verilog_of_an_unknown_block_is_refused() -> None:
    assert "'cache' is not one of 'numesh', " in call("verilog", "cache", "--mesh", "2x2", "-o", "x.v", status=2).stderr


# -- the installed command -----------------------------------------------------------------------------------


def test_installed_command_compiles_checks_and_runs(tmp_path: Path) -> None:
    path = tmp_path / "m.image"
    call_process("compile", COP, "--mesh", "2x2", "--set", "block=16", "-o", path)
    call_process("check", path)
    result = call_process("run", MATMUL, *SMALL, "--size", 8, "--image", path)
    assert "the 8×8 int32 product equals numpy's" in result.stdout
    assert all(line.startswith("… ") for line in result.stderr.splitlines())


@pytest.mark.parametrize("where", ["main", "check", "__init__"])
def test_exception_of_the_application_names_its_line(where: str, tmp_path: Path) -> None:
    body = {
        "main": "\n    async def main(self, node):\n        return 1 // 0\n",
        "check": SHIFT_MAIN + "\n    def check(self, results):\n        return 1 // 0\n",
        "__init__": SHIFT_MAIN + "\n    def __init__(self, options, topology):\n        1 // 0\n",
    }[where]
    path = shift_application(tmp_path, body)
    stderr = call("run", path, "--mesh", "3", *MODEL, status=2).stderr
    line = next(i for i, text in enumerate(path.read_text().splitlines(), 1) if "1 // 0" in text)
    assert f"{path}:{line}: ZeroDivisionError" in stderr
    assert "hint: this was raised by the application's own code" in stderr
