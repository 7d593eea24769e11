"""The bench beside a network, in Icarus Verilog: it passes, and fails if a guarantee is not what the hardware does."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh
from pointsman.noc.files import noc_files
from pointsman.noc.search import guarantee


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus Verilog")
@pytest.mark.parametrize(
    "less", [pytest.param(0, id="as it is"), pytest.param(1, id="too small", marks=pytest.mark.slow)]
)
def test_every_flow_meets_its_bound_and_none_exceeds_it(less: int, tmp_path: Path) -> None:
    flows = FlowSet(
        tuple(Task(name) for name in "abc"),
        (Flow("x", 0, (1, 2), 0.1), Flow("y", 0, (2,), 0.15), Flow("z", 2, (0,), 0.1)),
    )
    files = noc_files(guarantee(flows, make_problem(mesh(3), []), [[0, 1, 2]]))
    report = json.loads(files["report.json"])
    report["flows"][1]["worst_latency"] -= less
    for name, text in (files | {"report.json": json.dumps(report)}).items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "test_noc.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=os.environ | {"NOC_TURNS": "1", "PYTHONWARNINGS": "default"},
    )
    said = done.stdout + done.stderr
    bound = report["flows"][1]["worst_latency"]
    if less:
        assert done.returncode == 1, said
        assert f"y: {bound + 1} cycles, guaranteed {bound}" in said
    else:
        assert done.returncode == 0, said
        assert f"y: {bound} cycles, as guaranteed" in said
