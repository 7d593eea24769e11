"""CP-SAT in a process of its own: OR-Tools and highspy cannot be loaded into one process, as both bring their own HiGHS."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

from pointsman.errors import PointsmanError


def solved(module: str, tasks: Sequence[dict[str, Any]], what: str) -> list[Any]:
    """What ``serve`` of ``module`` answers to each of the tasks, in a new process.

    Parameters
    ----------
    module : str
        Has a function ``serve`` without parameters, which calls ``serve_tasks``.
    tasks : sequence of dict
        Values that JSON knows, as are the answers.
    what : str
        What has to have the solver, for the message.

    Raises
    ------
    PointsmanError
        If OR-Tools (extra ``exact``) is not installed.
    """
    if find_spec("ortools") is None:
        raise PointsmanError(f"{what} must have OR-Tools", hint="pip install pointsman[exact]")
    done = subprocess.run(
        [sys.executable, "-c", f"from {module} import serve; serve()"],
        input=json.dumps(list(tasks)),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"the exact solver failed:\n{done.stderr}")
    return json.loads(done.stdout)


def serve_tasks(solve: Callable[..., Any]) -> None:
    """Main function of the solver's process: tasks from standard input, answers to standard output."""
    print(json.dumps([solve(**task) for task in json.load(sys.stdin)]))
