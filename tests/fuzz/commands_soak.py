"""Soak of the command: many hostile uses, each in a process of its own; `make fuzz-commands`.

Each use comes from (seed, number), so any of them can be made again: ``commands_soak.py --one NUMBER``. The process is a fork of
a process that has imported everything, so a use takes as long as its command. What is a fault:

- a traceback, a signal, more than ``HANG`` seconds, or an exit status other than 0, 1, 2 (130 after Ctrl-C);
- exit status 2 without a message, with a message longer than ``LINES`` lines, or with a result on standard output;
- exit status 0 or 1 without any answer;
- files left behind by a use that failed, or files under temporary names.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from commands_inputs import Use, lay_out, make_use, prepare

HANG = 60
"""Seconds that a use may take, by the clock; no use takes more than about five."""
MEMORY = 6 << 30
"""Address space of a use in bytes."""
LINES, CHARACTERS = 60, 6000
ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


def load() -> None:
    """Import what commands import, so that a fork need not."""
    import amaranth.back.verilog  # noqa: F401
    from numba.core.registry import cpu_target

    import pointsman.connections.algorithms
    import pointsman.plan.make_plan
    import pointsman.report.run
    import pointsman.routing.ideal_router.router
    import pointsman.routing.network_router.router
    import pointsman.routing.routers
    import pointsman.targets.numesh
    import pointsman.targets.tdm
    import pointsman.verify.images
    import pointsman.verify.tables  # noqa: F401

    # A use as a user who may read nothing of Python's must find all of Numba loaded.
    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()


def command(arguments: list[str]) -> int:
    """Run the command here as its script does; gives the exit status."""
    from pointsman.cli import main

    try:
        main(arguments, prog_name="pointsman")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def _child(use: Use, folder: Path, out: Path) -> None:
    os.chdir(folder)
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ.update(use.environment)
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    streams = (out / "stdout", out / "stderr")
    for number, path in enumerate(streams, 1):
        target = "/dev/full" if number == 1 and use.output == "full" else path
        os.dup2(os.open(target, os.O_WRONLY | os.O_CREAT, 0o666), number)
    if use.output == "closed":
        os.close(1)
    sys.stdout = None if use.output == "closed" else open(1, "w", encoding="utf-8", closefd=False)  # type: ignore[assignment]  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    if use.closed and os.getuid() == 0:
        os.setuid(NOBODY)
    if use.file_bytes is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (max(use.file_bytes, 10_000), max(use.file_bytes, 10_000)))
    sys.dont_write_bytecode = True
    status = 1
    try:
        sys.path.insert(0, "")
        status = command(use.arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        status = 120
    finally:
        sys.stderr.flush()
        os._exit(status)


def run(use: Use, seconds: float = HANG) -> tuple[int, str, str, list[str]]:
    """Run a use in a fork: exit status (negative for a signal), both outputs, and files that are new afterwards."""
    with tempfile.TemporaryDirectory(prefix="hostile-") as made:
        os.chmod(made, 0o755)
        folder, out = Path(made) / "here", Path(made) / "out"
        folder.mkdir(mode=0o777)
        os.chmod(folder, 0o777)
        out.mkdir()
        os.chmod(out, 0o777)
        lay_out(use, folder)
        before = _files(folder)
        child = os.fork()
        if child == 0:
            _child(use, folder, out)
        status = _wait(child, seconds)
        os.chmod(folder, 0o755)
        new = sorted(_files(folder) - before)
        said = [
            (out / name).read_bytes().decode("utf-8", "backslashreplace") if (out / name).exists() else ""
            for name in ("stdout", "stderr")
        ]
        if use.file_bytes is not None:
            new = [name for name in new if not name.startswith("nosuch")]
    return status, said[0], said[1], new


def _files(folder: Path) -> set[str]:
    found = set()
    for where, folders, files in os.walk(folder):
        if where.endswith("__pycache__"):
            continue
        found |= {
            os.path.relpath(os.path.join(where, name), folder) for name in [*folders, *files] if name != "__pycache__"
        }
    return found


def _wait(child: int, seconds: float) -> int:
    late = time.monotonic() + seconds
    pause = 0.002
    while time.monotonic() < late:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(pause)
        pause = min(pause * 1.3, 0.1)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return -999


def fault(use: Use, status: int, stdout: str, stderr: str, new: list[str]) -> str | None:
    """What is wrong with the end of a use; None if nothing."""
    if status == -999:
        return "HANG"
    if status < 0:
        return f"SIGNAL {-status}"
    if "Traceback (most recent call last)" in stdout + stderr.replace("b\nTraceback", ""):
        return "TRACEBACK"
    if status not in use.statuses:
        return f"STATUS {status}"
    if "Exception ignored" in stderr:
        return "NOISE"
    if status == 2:
        if not stderr.strip():
            return "SILENT"
        if not any(line.startswith(("pointsman: ", "Error: ", "Usage: ")) for line in stderr.splitlines()):
            return "NO MESSAGE"
        if len(stderr.splitlines()) > LINES or len(stderr) > CHARACTERS:
            return "LONG"
        if stdout.strip():
            return "OUTPUT AND ERROR"
        if new and use.output != "full":  # a file is whole before it is said that it is
            return "LEFT BEHIND"
    elif (
        not (stdout + stderr).strip() and use.output == "pipe" and not new and use.arguments[0] not in ("fmt", "check")
    ):
        return "NO ANSWER"
    cache = use.environment.get("POINTSMAN_CACHE")
    own = [name for name in new if not cache or not name.startswith(f"{cache}/")]
    if any(Path(name).name.startswith(".") and Path(name).name != ".py" for name in own):
        return "TEMPORARY FILE"
    return None


def one(seed: int, number: int) -> tuple[str, Use]:
    return make_use(random.Random(f"{seed}:{number}"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uses", type=int, default=2500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz-commands"))
    parser.add_argument("--one", type=int, help="run this use only, and show it")
    options = parser.parse_args()
    load()

    def make(arguments: list[str], folder: Path) -> None:
        child = os.fork()
        if child == 0:
            os.chdir(folder)
            os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
            os._exit(command(arguments))
        assert os.waitpid(child, 0)[1] == 0, arguments

    with tempfile.TemporaryDirectory() as folder:
        prepare(make, Path(folder), warm=options.uses > 100)
    numbers = range(options.first, options.first + options.uses) if options.one is None else [options.one]
    counts: Counter[str] = Counter()
    faults = 0
    cpu = _cpu()
    slowest = (0.0, -1)
    for number in numbers:
        kind, use = one(options.seed, number)
        began = _cpu()
        result = run(use)
        slowest = max(slowest, (_cpu() - began, number))
        wrong = fault(use, *result)
        counts[f"{kind} {result[0]}"] += 1
        report = f"--- {wrong} seed {options.seed}, number {number}, {kind}\n{use.arguments} {use.environment} {use.closed} {use.file_bytes} {use.output}\n"  # noqa: E501
        report += (
            f"status {result[0]}, new {result[3]}\n-- stdout\n{result[1][:3000]}\n-- stderr\n{result[2][-6000:]}\n"
        )
        if options.one is not None:
            print(report)
            for name in ("ring.py", *use.files):
                if name.endswith(".py") and use.files.get(name):
                    print(ascii(name), use.files[name][-1500:].decode("utf-8", "backslashreplace"))  # type: ignore[index]
        elif wrong is not None:
            faults += 1
            counts[f"FAULT {wrong}"] += 1
            options.out.mkdir(parents=True, exist_ok=True)
            text = report
            for name, data in use.files.items():
                if data is not None and name not in ("text", "empty") and (name.endswith(".py") or kind == "files"):
                    text += f"== {name!a}\n{data[-2000:].decode('utf-8', 'backslashreplace')}\n"
            (options.out / f"fault-{options.seed}-{number}.txt").write_text(
                text, encoding="utf-8", errors="backslashreplace"
            )
        if number % 250 == 249:
            print(f"{number + 1:,} uses, {faults} faults", flush=True)
    summary = {
        "uses": options.uses,
        "seed": options.seed,
        "faults": faults,
        "CPU, s": round(_cpu() - cpu),
        "slowest use, s of CPU": [round(slowest[0], 1), slowest[1]],
        "outcomes": dict(sorted(counts.items())),
    }
    print(json.dumps(summary, indent=1))
    return 1 if faults else 0


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    sys.exit(main())
