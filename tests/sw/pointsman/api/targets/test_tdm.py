"""``--target tdm`` on the command line: what it prints, what it leaves, what it refuses. Never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pointsman.artifacts.tables import read_tables, write_tables
from pointsman.cli import main

ROOT = Path(__file__).resolve().parents[5]
MATMUL = ROOT / "examples" / "matmul" / "matmul.py"
COP = MATMUL.with_suffix(".cop")
SMALL = ("--mesh", "2x2", "--engine", "model", "--target", "tdm", "--size", "4")


def call(*arguments: str | Path, code: int = 0) -> Result:
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def test_compile_prints_the_sets_and_writes_a_file_that_check_proves(tmp_path: Path) -> None:
    file = tmp_path / "m.tables"
    printed = call(
        "compile", COP, "--mesh", "2x2", "--target", "tdm", "--mode", "preload", "--set", "block=9", "-o", file
    ).output
    assert "matmul on a switch of 4 ports and 4 slots, mode preload" in printed
    assert "chain_bcast" in printed
    assert "register 0: 0→" in printed
    assert read_tables(file).ports == 4
    assert "every rule holds" in call("check", file).output


def test_processors_stand_in_a_row_when_only_ports_are_given() -> None:
    plain = json.loads(
        call("compile", COP, "--ports", "5", "--slots", "2", "--target", "tdm", "--emit", "tables").stdout
    )
    assert (plain["ports"], plain["slots"], plain["network"]) == (5, 2, {"kind": "mesh", "size": [5]})


def test_check_tells_what_is_wrong(tmp_path: Path) -> None:
    from dataclasses import replace

    file = tmp_path / "m.tables"
    call("compile", COP, "--mesh", "2x2", "--target", "tdm", "--mode", "preload", "-o", file)
    tables = read_tables(file)
    broken = tuple(replace(one, configurations=((),) * 4) for one in tables.sets)
    write_tables(replace(tables, sets=broken), file)
    report = tmp_path / "report.json"
    printed = call("check", file, "--json", report, code=1).output
    assert "needs a way from 0 to 1" in printed
    assert json.loads(report.read_text())["ok"] is False


@pytest.mark.parametrize("mode", ["preload", "dynamic", "hybrid"])
def test_run_leaves_the_same_keys_as_on_the_mesh(tmp_path: Path, mode: str) -> None:
    file = tmp_path / "result.json"
    call("run", MATMUL, *SMALL, "--mode", mode, "--json", file)
    result = json.loads(file.read_text())
    assert result["correct"]
    assert (result["target"], result["engine"], result["mode"]) == ("tdm", "model", mode)
    wanted = {
        "correct",
        "target",
        "engine",
        "total_cycles",
        "categories",
        "operators",
        "node_cycles_per_second",
        "seconds",
    }
    assert wanted <= set(result)
    assert set(result["categories"]) == {"cpu", "write", "read", "psync", "router", "reprog", "online"}
    assert set(result["seconds"]) == {"compile", "build", "run"}
    assert all({"implementation", "phase", "bandwidth"} <= set(one) for one in result["operators"].values())
    assert result["total_cycles"] == max(sum(column) for column in zip(*result["per_node"].values(), strict=True))


@pytest.mark.parametrize("arguments", [(), ("--mode", "auto")])
def test_the_mode_is_chosen_by_prediction(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "m.tables"
    program = tmp_path / "m.cop"
    program.write_text("(loop 'l 10 (allreduce 'a 'add :m 20))")
    printed = call("compile", program, "--mesh", "2x2", "--target", "tdm", *arguments, "-o", file).output
    assert "mode preload" in printed
    assert "note: mode preload by prediction, in cycles: preload 1,661, dynamic 2,397, hybrid 1,661" in printed
    assert read_tables(file).mode == "preload"
    program.write_text("(loop 'l 10 (cshift 'a 1 :m 20))")
    assert "mode dynamic" in call("compile", program, "--mesh", "2x2", "--target", "tdm", *arguments).output


def test_run_takes_compiled_tables_and_only_fitting_ones(tmp_path: Path) -> None:
    file = tmp_path / "m.tables"
    call("compile", COP, "--mesh", "2x2", "--target", "tdm", "--mode", "hybrid", "--set", "block=4", "-o", file)
    assert "mode hybrid" in call("run", MATMUL, *SMALL, "--image", file).output
    message = call("run", MATMUL, *SMALL, "--image", file, "--slots", "8", code=2).output
    assert "the tables must be for a switch with slots 8, not 4" in message
    message = call("run", MATMUL, *SMALL, "--image", file, "--mode", "dynamic", code=2).output
    assert "the tables are for mode hybrid, not dynamic" in message
    message = call("run", MATMUL, "--mesh", "3x3", *SMALL[2:-1], "6", "--image", file, code=2).output
    assert "the tables are for a 2x2 mesh, not for a 3x3 mesh" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--ports", "129"), "ports must be 1 to 128, not 129"),
        (("--ports", "0"), "ports must be 1 to 128, not 0"),
        (("--slots", "0"), "slots must be 1 to 64, not 0"),
        (("--slots", "65"), "slots must be 1 to 64, not 65"),
        (("--ports", "3"), "a 2x2 mesh needs 4 ports of the switch and is given 3"),
        (("--slots", "1", "--mode", "hybrid"), "hybrid mode needs 2 slots of the switch"),
        (("--period", "8"), "--period is for the mesh of scheduled routers"),
        (("--pipelines", "3"), "--pipelines is for the mesh of scheduled routers"),
        (("--width", "16"), "--width is for the mesh of scheduled routers"),
        (("--phases", "2"), "--phases is for the mesh of scheduled routers"),
        (("--emit", "images"), "--emit images is a stage of target numesh"),
    ],
)
def test_what_does_not_fit_the_switch_is_refused(arguments: tuple[str, ...], message: str) -> None:
    assert message in call("compile", COP, "--mesh", "2x2", "--target", "tdm", *arguments, code=2).output


def test_options_of_the_switch_are_refused_elsewhere() -> None:
    for option in (("--mode", "preload"), ("--ports", "4"), ("--slots", "4")):
        assert "for the switch, not for target numesh" in call("compile", COP, "--mesh", "2x2", *option, code=2).output
    assert (
        "--emit tables is a stage of target tdm"
        in call("compile", COP, "--mesh", "2x2", "--emit", "tables", code=2).output
    )
    assert "the size of the network is missing" in call("compile", COP, code=2).output
    assert "--preload is for the mesh of scheduled routers" in call("run", MATMUL, *SMALL, "--preload", code=2).output


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "m.tables"
    call("compile", COP, "--mesh", "2x2", "--target", "tdm", "-o", file)
    data = bytearray(file.read_bytes())
    data[-3] ^= 4
    file.write_bytes(bytes(data))
    assert "the CRC-32 must be" in call("check", file, code=2).output
    file.write_bytes(b"")
    assert call("check", file, code=2).output
