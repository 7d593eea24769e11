"""An application that notes its runs, and can fail in several ways."""

from __future__ import annotations

from pathlib import Path

import pytest

APPLICATION = """
import argparse, os, signal, time
from pathlib import Path

from pointsman import cop
from pointsman.runtime import Application, WrongAnswer

LOG = Path(__file__).with_name("log")


def log(text):
    with LOG.open("a") as file:
        file.write(text + "\\n")


class Noted(Application):
    @classmethod
    def options(cls, parser):
        parser.add_argument("--number", type=int, default=0)
        parser.add_argument("--fail", default="")
        parser.add_argument("--seconds", type=float, default=0)

    def program(self, net):
        return [cop.barrier("b")]

    async def main(self, node):
        if node.number == 0:
            log(f"start {self.options_given.number} {os.getpid()}")
            time.sleep(self.options_given.seconds)
        await node.cop.b_load()
        await node.cop.b_func()
        if self.options_given.fail == "raise":
            raise ValueError("as asked for")
        if self.options_given.fail == "die":
            os.kill(os.getpid(), signal.SIGKILL)

    def check(self, results):
        log(f"end {self.options_given.number} {os.getpid()}")
        if self.options_given.fail == "wrong":
            raise WrongAnswer("as asked for")
        return "fine"
"""


@pytest.fixture
def noted(tmp_path: Path) -> Path:
    """The application's file; its runs are noted in ``log`` beside it."""
    path = tmp_path / "noted.py"
    path.write_text(APPLICATION)
    return path
