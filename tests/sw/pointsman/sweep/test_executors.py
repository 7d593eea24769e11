"""Where cases run: a pool that survives its processes, and dask with a worker that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from pointsman.errors import PointsmanError
from pointsman.sweep import executors
from pointsman.sweep.drive import run_sweep
from pointsman.sweep.executors import ended_cases
from pointsman.sweep.spec import read_spec


@pytest.mark.parametrize("on", ["cluster", "pool:0", "pool:x", "pool:9999", "dask:", "dask", ""])
def test_where_must_be_known(on: str) -> None:
    with pytest.raises(PointsmanError, match="cases run on pool, pool:N"):
        ended_cases([], str, on)


def test_a_process_that_dies_takes_no_other_case_with_it(noted: Path, tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(
        "[[sweep]]\napplication = 'noted.py'\nnetwork = '2'\ndry = true\narguments.number = [1, 2, 3, 4]\n"
        "[[sweep]]\napplication = 'noted.py'\nnetwork = '2'\ndry = true\narguments = { number = 5, fail = 'die' }\n"
        "[[sweep]]\napplication = 'noted.py'\nnetwork = '2'\ndry = true\narguments.number = [6, 7]\n"
    )
    records = run_sweep(read_spec(path), tmp_path / "out", on="pool:2", tell=lambda text: None)
    statuses = {record["case"]["arguments"]["number"]: record["status"] for record in records}
    assert statuses == {1: "right", 2: "right", 3: "right", 4: "right", 5: "died", 6: "right", 7: "right"}
    assert "its process was killed" in records[4]["error"]


def test_no_scheduler_is_said() -> None:
    pytest.importorskip("distributed")
    with pytest.raises(PointsmanError, match=r"no dask scheduler answers at nonsense://"):
        list(ended_cases([], str, "dask:nonsense://127.0.0.1:1"))


@pytest.mark.filterwarnings("ignore")
def test_a_killed_worker_of_dask_loses_nothing_and_nothing_runs_twice(noted: Path, tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    count = 8
    path = tmp_path / "s.toml"
    path.write_text(
        "[[sweep]]\napplication = 'noted.py'\nnetwork = '2'\ndry = true\n"
        f"arguments = {{ seconds = 0.4, number = {list(range(count))} }}\n"
    )
    scheduler = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--scheduler-file", str(scheduler)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", "--scheduler-file", str(scheduler)]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    started = [subprocess.Popen([*dask, "--host", "127.0.0.1", "--port", "0", "--no-dashboard"], **quiet)]
    try:
        while not scheduler.exists():
            time.sleep(0.05)
        started += [
            subprocess.Popen([*worker, "--no-nanny", "--nthreads", "1", "--no-dashboard"], **quiet) for _ in range(2)
        ]
        killed: list[int] = []

        def kill_one(text: str) -> None:
            """Kill a worker in the middle of a case, once half of the others are done."""
            if not killed and text.startswith(f"{count // 2}/"):
                log = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
                ended = {number for what, number, _ in log if what == "end"}
                running = [int(pid) for what, number, pid in log if what == "start" and number not in ended]
                killed.append(running[0] if running else int(log[-1][2]))
                os.kill(killed[0], signal.SIGKILL)

        records = run_sweep(read_spec(path), tmp_path / "out", on=f"dask:{scheduler}", tell=kill_one)
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
    assert killed
    assert [record["status"] for record in records] == ["right"] * count
    log = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
    ends = [number for what, number, _ in log if what == "end"]
    assert sorted(map(int, ends)) == list(range(count))  # nothing lost, nothing run twice to its end
    assert len([1 for what, _, _ in log if what == "start"]) <= count + 1  # but what was killed in the middle


def test_a_process_that_dies_between_two_cases_is_replaced(
    noted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pool(executors.ProcessPoolExecutor):
        """Breaks once, when the second case is handed in."""

        submitted = 0

        def submit(self, *given, **more):
            Pool.submitted += 1
            if Pool.submitted == 2:
                raise BrokenProcessPool("as asked for")
            return super().submit(*given, **more)

    monkeypatch.setattr(executors, "ProcessPoolExecutor", Pool)
    path = tmp_path / "s.toml"
    path.write_text("[[sweep]]\napplication = 'noted.py'\nnetwork = '2'\ndry = true\narguments.number = [1, 2]\n")
    records = run_sweep(read_spec(path), tmp_path / "out", on="pool:1", tell=lambda text: None)
    assert [record["status"] for record in records] == ["right", "right"]
