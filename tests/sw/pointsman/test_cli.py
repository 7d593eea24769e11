"""The command line: what it prints, what it leaves, and its exit status. Whatever the user does, never a traceback."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

import pointsman
from pointsman.cli import main
from pointsman.files import cache_folder

ROOT = Path(__file__).resolve().parents[3]
MATMUL = ROOT / "examples" / "matmul" / "matmul.py"
COP = MATMUL.with_suffix(".cop")
COMMAND = Path(sys.executable).with_name("pointsman")

MODEL = ("--engine", "model")
SMALL = ("--mesh", "2x2", *MODEL)

RESULT_KEYS = [
    "correct",
    "answer",
    "remarks",
    "target",
    "engine",
    "network",
    "shape",
    "beyond_chip",
    "period",
    "seed",
    "parameters",
    "total_cycles",
    "categories",
    "per_node",
    "operators",
    "phases",
    "loader_phase",
    "node_cycles_per_second",
    "seconds",
    "predicted_cycles",
    "waits",
]

SHIFT_COP = "(parameter words 4)\n(defaults :m words)\n(cshift 'c 1)\n"

HEAD = """\
import numpy as np
from pointsman.runtime import Application, WrongAnswer

class Shift(Application):
    program = "shift.cop"
"""


def call(*arguments: object, status: int = 0) -> Result:
    """Run a command in this process and check its exit status, and that no fault of ours came out."""
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert "Traceback" not in result.output
    assert result.exit_code == status, result.output
    if status == 2:
        assert result.stdout == ""
        assert result.stderr.strip()
    return result


def call_process(*arguments: object, status: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    result = subprocess.run(
        [COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )
    assert "Traceback" not in result.stdout + result.stderr
    assert result.returncode == status, result.stdout + result.stderr
    return result


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Image of the matrix multiplication of 8×8 on 2×2 nodes."""
    path = tmp_path_factory.mktemp("image") / "matmul.image"
    call("compile", COP, "--mesh", "2x2", "--set", "block=16", "-o", path)
    return path


def save(path: Path, matrix: np.ndarray) -> Path:
    np.save(path, matrix)
    return path


def shift_application(folder: Path, body: str) -> Path:
    """An application of one ring shift over all nodes; ``body`` are its methods."""
    (folder / "shift.cop").write_text(SHIFT_COP)
    path = folder / "shift.py"
    path.write_text(HEAD + body)
    return path


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


def test_compiling_twice_gives_the_same_file(image: Path, tmp_path: Path) -> None:
    again = tmp_path / "matmul.image"
    call("compile", COP, "--mesh", "2x2", "--set", "block=16", "-o", again)
    assert again.read_bytes() == image.read_bytes()


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


def test_check_writes_its_findings_as_json(image: Path, tmp_path: Path) -> None:
    path = tmp_path / "findings.json"
    assert call("check", image, "--json", path).stdout
    assert isinstance(json.loads(path.read_text()), dict)


def test_any_flipped_bit_is_found_and_told_in_one_line(image: Path, tmp_path: Path) -> None:
    data = image.read_bytes()
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
def test_truncated_image_is_refused(command: str, share: float, image: Path, tmp_path: Path) -> None:
    data = image.read_bytes()
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


# -- run -----------------------------------------------------------------------------------------------------


def test_run_checks_the_product_and_writes_what_it_measured(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    result = call("run", MATMUL, *SMALL, "--size", 8, "--json", path)
    assert "the 8×8 int32 product equals numpy's" in result.stdout
    plain = json.loads(path.read_text())
    assert list(plain) == RESULT_KEYS
    assert plain["correct"] is True
    assert plain["engine"] == "model"
    assert plain["network"] == {"kind": "mesh", "size": [2, 2]}
    assert plain["parameters"] == {"block": 16}
    assert plain["categories"]["cpu"] == 2 * 5 * 4**3
    assert set(plain["seconds"]) == {"compile", "build", "run"}


@pytest.mark.parametrize("closed", ["2>&-", "<&- >&- 2>&-"])
def test_run_does_without_standard_streams(closed: str, tmp_path: Path) -> None:
    written = tmp_path / "result.json"
    options = ["run", MATMUL, *SMALL, "--size", 8, "--json", written]
    command = ["sh", "-c", f'"$@" {closed}', "sh", str(COMMAND), *map(str, options)]
    assert subprocess.run(command, check=False, timeout=300).returncode == 0
    assert json.loads(written.read_text())["correct"]


def test_run_takes_an_image_and_loads_it_either_way(image: Path, tmp_path: Path) -> None:
    for options in ((), ("--preload",)):
        path = tmp_path / "result.json"
        call("run", MATMUL, *SMALL, "--size", 8, "--image", image, *options, "--json", path)
        assert json.loads(path.read_text())["correct"] is True


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_run_multiplies_matrices_of_files(dtype: type, tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    a, b = (save(tmp_path / f"{name}.npy", (50 * random.standard_normal((4, 4))).astype(dtype)) for name in "ab")
    text = call("run", MATMUL, *SMALL, "--a", a, "--b", b).stdout
    assert f"the 4×4 {np.dtype(dtype)} product" in text


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (np.zeros((4, 4), np.int32), np.zeros((6, 6), np.int32), "--a and --b differ"),
        (np.zeros((4, 4), np.int32), np.zeros((4, 4), np.float32), "--a and --b differ"),
        (np.zeros((4, 6), np.int32), np.zeros((4, 6), np.int32), "must hold one square matrix"),
        (np.zeros(4, np.int32), np.zeros(4, np.int32), "must hold one square matrix"),
        (np.zeros((4, 4)), np.zeros((4, 4)), "must hold int32 or float32, not float64"),
        (np.zeros((5, 5), np.int32), np.zeros((5, 5), np.int32), "matrices of 5 rows do not divide into 2 blocks"),
        (np.zeros((0, 0), np.int32), np.zeros((0, 0), np.int32), "pointsman: "),
    ],
)
def test_matrices_that_do_not_fit_are_refused(a: np.ndarray, b: np.ndarray, message: str, tmp_path: Path) -> None:
    paths = save(tmp_path / "a.npy", a), save(tmp_path / "b.npy", b)
    assert message in call("run", MATMUL, *SMALL, "--a", paths[0], "--b", paths[1], status=2).stderr


@pytest.mark.parametrize("content", [None, b"", b"no matrix", b"\x93NUMPY\x01\x00"])
def test_file_that_holds_no_matrix_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    if content is not None:
        path.write_bytes(content)
    text = call("run", MATMUL, *SMALL, "--a", path, "--b", path, status=2).stderr
    assert f"cannot read the matrix {path}" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "7"), "matrices of 7 rows do not divide into 2 blocks"),
        (("--size", "0"), "--size must be 1 to 4096, not 0"),
        (("--size", "many"), "invalid int value: 'many'"),
        (("--type", "int8"), "invalid choice: 'int8'"),
        (("--a", "a.npy"), "give both --a and --b, or neither"),
        (("--frob", "3"), "unrecognized arguments: --frob 3"),
        (("leftover",), "unrecognized arguments: leftover"),
        (("--siz", "8"), "--siz"),
        (("--max-cycles", "0"), "--max-cycles"),
        (("--engine", "steam"), "'steam' is not one of"),
    ],
)
def test_wrong_option_of_a_run_is_named(options: tuple[str, ...], message: str) -> None:
    assert message in call("run", MATMUL, *SMALL, *options, status=2).stderr


def test_unknown_option_of_the_application_brings_its_options() -> None:
    assert "--values VALUES" in call("run", MATMUL, *SMALL, "--frob", status=2).stderr


@pytest.mark.parametrize("mesh", ["2x3", "4", "2x2x2"])
def test_matrix_multiplication_refuses_a_mesh_that_is_not_square(mesh: str) -> None:
    text = call("run", MATMUL, "--mesh", mesh, *MODEL, "--size", 12, status=2).stderr
    assert f"the matrix multiplication needs a square mesh, not {mesh}" in text


def test_result_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "result.json"
    text = call("run", MATMUL, *SMALL, "--size", 8, "--json", path, status=2).stderr
    assert text == f"pointsman: cannot write {path}: there is no folder {path.parent}\n"
    assert list(tmp_path.iterdir()) == []


def test_image_of_another_mesh_or_shape_is_refused(image: Path) -> None:
    text = call("run", MATMUL, "--mesh", "4x4", *MODEL, "--size", 16, "--image", image, status=2).stderr
    assert "the image is for a 2x2 mesh, not for a 4x4 mesh" in text
    text = call("run", MATMUL, *SMALL, "--size", 8, "--image", image, "--vfsms", 16, status=2).stderr
    assert "vfsms 32 instead of 16" in text


def test_image_for_another_block_is_refused(image: Path) -> None:
    call("run", MATMUL, *SMALL, "--size", 12, "--image", image, status=2)


def test_run_that_takes_too_long_is_ended() -> None:
    assert "100" in call("run", MATMUL, *SMALL, "--size", 8, "--max-cycles", 100, status=2).stderr


def test_verilated_engine_without_a_compiler_says_what_to_do(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    for kernels in cache_folder().glob("kernels-*"):  # of these there is no need to compile any again
        (cache / kernels.name).symlink_to(kernels)
    environment = {"PATH": str(tmp_path), "POINTSMAN_CACHE": str(cache), "CXX": ""}
    command = ("run", shift_application(tmp_path, SHIFT_MAIN), "--mesh", "3")
    text = call_process(*command, "--engine", "verilated", status=2, **environment).stderr
    assert "there is no C++ compiler" in text
    assert "hint: install one, or use engine 'model'" in text
    result = call_process(*command, "--engine", "auto", **environment)
    assert "no C++ compiler found: the cycle model runs in place of the RTL" in result.stderr
    assert "engine model" in result.stdout


# -- applications of others ----------------------------------------------------------------------------------

SHIFT_MAIN = """
    async def main(self, node):
        await node.cop.c_load()
        return await node.cop.c_func(np.arange(4, dtype=np.int32))
"""


def test_application_that_checks_nothing_runs(tmp_path: Path) -> None:
    path = shift_application(tmp_path, SHIFT_MAIN)
    assert "the application checks nothing" in call("run", path, "--mesh", "3", *MODEL).stdout


def test_wrong_answer_ends_with_status_1_and_leaves_its_result(tmp_path: Path) -> None:
    check = '\n    def check(self, results):\n        raise WrongAnswer("two and two are five")\n'
    path = shift_application(tmp_path, SHIFT_MAIN + check)
    result = call("run", path, "--mesh", "3", *MODEL, "--json", tmp_path / "r.json", status=1)
    assert "WRONG: two and two are five" in result.stdout
    plain = json.loads((tmp_path / "r.json").read_text())
    assert (plain["correct"], plain["answer"]) == (False, "two and two are five")


def test_dry_run_needs_no_hardware(tmp_path: Path) -> None:
    path = shift_application(tmp_path, SHIFT_MAIN)
    result = call("run", path, "--mesh", "3", "--dry", "--json", tmp_path / "r.json")
    assert "right: the application checks nothing" in result.stdout
    assert json.loads((tmp_path / "r.json").read_text())["target"] == "reference"


def test_dry_run_finds_a_deadlock_of_the_program(tmp_path: Path) -> None:
    body = SHIFT_MAIN.replace("        return", "        if node.number == 1:\n            return None\n        return")
    result = call("run", shift_application(tmp_path, body), "--mesh", "3", "--dry", status=2)
    assert "deadlock: these nodes wait for messages that nobody sends:\n  node 2: c_func" in result.stderr


def test_dry_run_of_a_wrong_answer_ends_with_status_1(tmp_path: Path) -> None:
    check = '\n    def check(self, results):\n        raise WrongAnswer("two and two are five")\n'
    path = shift_application(tmp_path, SHIFT_MAIN + check)
    assert "WRONG: two and two are five" in call("run", path, "--mesh", "3", "--dry", status=1).stdout


def test_dry_run_of_an_image_is_refused(tmp_path: Path) -> None:
    path = shift_application(tmp_path, SHIFT_MAIN)
    result = call("run", path, "--mesh", "3", "--dry", "--image", tmp_path / "x.image", status=2)
    assert "--dry runs the program, --image an image" in result.stderr


def test_deadlock_names_nodes_and_phase(tmp_path: Path) -> None:
    body = SHIFT_MAIN.replace("        return", "        if node.number == 1:\n            return None\n        return")
    path = shift_application(tmp_path, body)
    for result in (
        call("run", path, "--mesh", "3", *MODEL, "--json", tmp_path / "r.json", status=2),
        call_process("run", path, "--mesh", "3", *MODEL, status=2),
    ):
        text = result.stderr
        assert "pointsman: deadlock" in text
        assert "node 2 has waited" in text  # for the words of node 1
        assert "in phase 'c'" in text
        assert "hint: " in text
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no application file"),
        ("", "must define one class derived from pointsman.runtime.Application, not 0"),
        (HEAD + SHIFT_MAIN + HEAD.split("\n\n")[1].replace("Shift", "Other") + SHIFT_MAIN, "Application, not 2"),
        ("def f(:\n", "shift.py:1: "),
        ("\n\n1 / 0\n", "does not run: ZeroDivisionError: division by zero"),
        ("import no_such_module\n", "does not run: ModuleNotFoundError"),
        ("x = '\0'\n", "shift.py"),
        (HEAD.replace("shift.cop", "none.cop") + SHIFT_MAIN, "none.cop"),
    ],
)
def test_application_that_is_none_is_refused(content: str | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "shift.py"
    if content is not None:
        shift_application(tmp_path, "")
        path.write_text(content)
    text = call("run", path, "--mesh", "3", *MODEL, status=2).stderr
    assert message in text
    assert str(path.parent) in text


@pytest.mark.parametrize("name", ["folder", "shift.txt", "shift.cop"])
def test_application_that_is_no_python_file_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "shift.txt").write_text("x")
    (tmp_path / "shift.cop").write_text(SHIFT_COP)
    assert str(tmp_path / name) in call("run", tmp_path / name, "--mesh", "3", *MODEL, status=2).stderr


@pytest.mark.parametrize(
    "content",
    [HEAD, HEAD.replace('    program = "shift.cop"', "") + SHIFT_MAIN, "import sys\nsys.exit()\n"],
    ids=["no main", "no program", "leaves Python"],
)
def test_incomplete_application_is_refused(content: str, tmp_path: Path) -> None:
    path = shift_application(tmp_path, "")
    path.write_text(content)
    assert "pointsman: " in call("run", path, "--mesh", "3", *MODEL, status=2).stderr


def test_fault_in_the_program_of_an_application_is_shown_with_a_caret(tmp_path: Path) -> None:
    path = shift_application(tmp_path, SHIFT_MAIN)
    (tmp_path / "shift.cop").write_text("(defaults :m 4)\n(cshift 'c 1.5)\n")
    text = call("run", path, "--mesh", "3", *MODEL, status=2).stderr
    assert f"pointsman: {tmp_path / 'shift.cop'}:2:" in text
    assert "^" in text


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


def test_verilog_takes_the_contents_of_an_image_for_its_own_mesh_only(image: Path, tmp_path: Path) -> None:
    call("verilog", "numesh", "--mesh", "2x2", "--image", image, "-o", tmp_path / "mesh.v")
    text = call("verilog", "numesh", "--mesh", "3x2", "--image", image, "-o", tmp_path / "other.v", status=2).stderr
    assert f"the image {image} is for a 2x2 mesh" in text
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
