"""Options of ``pointsman run`` that show what happened."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from pywellen import Waveform

from cosim.engines.verilated.build import find_compiler
from pointsman.cli import main

APPLICATION = """\
from pointsman.runtime import Application

class Shift(Application):
    program = "shift.cop"

    async def main(self, node):
        await node.cop.c_load()
        return await node.cop.c_func(node.number)
"""


@pytest.fixture
def application(tmp_path: Path) -> Path:
    (tmp_path / "shift.cop").write_text("(cshift 'c 1)\n")
    path = tmp_path / "shift.py"
    path.write_text(APPLICATION)
    return path


def run(application: Path, *options: object, engine: str = "model") -> tuple[int, str]:
    command = ["run", str(application), "--mesh", "3", "--engine", engine, *map(str, options)]
    ran = CliRunner().invoke(main, command)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return ran.exit_code, ran.output


def test_a_trace_is_written_for_perfetto_or_as_lines(application: Path):
    folder = application.parent
    for name in ("trace.json", "trace.jsonl"):
        code, text = run(application, "--trace", folder / name, "--json", folder / "result.json")
        assert code == 0, text
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events} == {0, 1, 2}
    lines = [json.loads(line) for line in (folder / "trace.jsonl").read_text().splitlines()]
    result = json.loads((folder / "result.json").read_text())
    assert max(line.get("end", line["time"]) for line in lines) <= result["total_cycles"]
    cycles = result["operators"]["c"]["cycles"]
    assert cycles["write"] + cycles["read"] > 0
    everywhere = [phase["cycles"] for phase in [*result["phases"], result["loader_phase"]]]
    for category, mean in result["categories"].items():
        assert sum(cycles.get(category, 0) for cycles in everywhere) == pytest.approx(mean)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--wave", "w.fst"), "engine 'model' writes no waveforms"),
        (("--monitors",), "engine 'model' has no links to monitor"),
        (("--wave-window", 3, 9), "--wave-window needs --wave"),
        (("--trace", "nowhere/t.json"), "cannot write nowhere/t.json: there is no folder nowhere"),
    ],
)
def test_what_cannot_be_shown_is_said_before_the_run(application: Path, options: tuple[object, ...], message: str):
    code, text = run(application, *options)
    assert code == 2
    assert message in text


@pytest.mark.slow
@pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")
def test_a_waveform_of_a_window_and_monitors_go_with_a_run_on_the_rtl(application: Path):
    wave = application.parent / "w.fst"
    code, text = run(application, "--wave", wave, "--wave-window", 10, 40, "--monitors", engine="verilated")
    assert code == 0, text
    signals = Waveform(str(wave)).all_vars()
    names = {signal.full_name: signal for signal in signals}
    for node in range(3):
        assert {f"node_{node}.pointsman_seat.{name}" for name in ("clk", "p_full", "p_write_data")} <= set(names)
        assert f"node_{node}.pointsman_seat.node.transfer_0.write_valid" in names
    # Two steps a cycle, of cycles 10 to 40 and no others; the clock shows each of them.
    times = {time for signal in signals for time, _ in signal.tv}
    assert {time for time, _ in names["node_0.pointsman_seat.clk"].tv} == set(range(20, 82)) == times
