"""``pointsman run`` from the command line: its answer and its file, and what users and applications may do wrong."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

from command_calls import (
    COMMAND,
    HEAD,
    MATMUL,
    MODEL,
    SHIFT_COP,
    SHIFT_MAIN,
    SMALL,
    call,
    call_process,
    save,
    shift_application,
)
from pointsman.files import cache_folder

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


def test_run_takes_an_image_and_loads_it_either_way(matmul_image: Path, tmp_path: Path) -> None:
    for options in ((), ("--preload",)):
        path = tmp_path / "result.json"
        call("run", MATMUL, *SMALL, "--size", 8, "--image", matmul_image, *options, "--json", path)
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


def test_image_of_another_mesh_or_shape_is_refused(matmul_image: Path) -> None:
    text = call("run", MATMUL, "--mesh", "4x4", *MODEL, "--size", 16, "--image", matmul_image, status=2).stderr
    assert "the image is for a 2x2 mesh, not for a 4x4 mesh" in text
    text = call("run", MATMUL, *SMALL, "--size", 8, "--image", matmul_image, "--vfsms", 16, status=2).stderr
    assert "vfsms 32 instead of 16" in text


def test_image_for_another_block_is_refused(matmul_image: Path) -> None:
    call("run", MATMUL, *SMALL, "--size", 12, "--image", matmul_image, status=2)


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
