"""The target *logp*: Split-C on an abstract machine, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import pointsman
from pointsman.cli import main
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime import Application
from pointsman.runtime.splitc import SplitC, SplitCApplication

PROGRAM = """
from pointsman.runtime.splitc import SplitCApplication

class One(SplitCApplication):
    @classmethod
    def options(cls, parser):
        parser.add_argument("--items", type=int, default=1)

    async def splitc_main(self, s):
        await s.barrier()
        return s.argv

    def check(self, results):
        return " ".join(results[-1])
"""


def test_the_command_runs_it_and_writes_its_figures(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(PROGRAM)
    arguments = ["run", str(tmp_path / "one.py"), "--mesh", "3x5", "--target", "logp", "--logp", "cm5", "--items", "4"]
    done = CliRunner().invoke(main, [*arguments, "--json", str(tmp_path / "out.json")])
    assert done.exit_code == 0, done.output
    assert "answer: --items=4" in done.output
    assert "15 processors of a LogP machine: L 25, o 16 and 15, g 16, capacity 2; a unit is 0.1 us" in done.output
    values = json.loads((tmp_path / "out.json").read_text())
    assert values["target"] == "logp"
    assert values["machine"]["latency"] == 25
    assert values["messages"] > 0


class Idle(SplitCApplication):
    async def splitc_main(self, splitc: SplitC) -> None:
        return None


class Cop(Application):
    program = lambda self, net: pointsman.cop.barrier("b")  # noqa: E731

    async def main(self, node: Any) -> None:
        return None


def test_what_is_about_hardware_is_refused() -> None:
    for options, text in (
        ({"engine": "model"}, "--engine is about hardware"),
        ({"preload": True}, "--preload is about hardware"),
        ({"logp": "nothing"}, "cannot be 'nothing'"),
    ):
        with pytest.raises(PointsmanError, match=text):
            pointsman.run(Idle, mesh(2, 2), target="logp", **options)
    with pytest.raises(PointsmanError, match="--logp is for a LogP machine, not for target tdm"):
        pointsman.run(Idle, mesh(2, 2), target="tdm", logp="cm5")
    with pytest.raises(PointsmanError, match="Cop uses operators of COP"):
        pointsman.run(Cop, mesh(2, 2), target="logp")
