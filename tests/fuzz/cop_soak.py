"""Soak of the language: many inputs, one process after the other; `make fuzz-soak`.

Each input comes from (seed, number), so any of them can be made again: ``cop_soak.py --one NUMBER``. A worker that dies
counts as a crash, an input that takes more than ``HANG`` seconds of CPU time as a hang.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from cop_inputs import NETWORKS, check, make_input

HANG = 10.0
"""Seconds of CPU time for one input; the limits of the soak let none take more than about 0.2."""
CHUNK = 50_000
MEMORY = 2 << 30
"""Address space of a worker in bytes."""


class Hang(BaseException):
    """An input takes too long."""


def one_input(seed: int, number: int) -> str:
    """Make and check an input; gives its kind and what became of it."""
    rng = random.Random(f"{seed}:{number}")
    text, kind = make_input(rng)
    return f"{kind} {check(text, rng.choice(NETWORKS))}"


def work(seed: int, first: int, last: int, out: Path) -> None:
    """Check inputs ``first`` to ``last - 1`` and print a summary as JSON."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    def late(signum: int, frame: object) -> None:
        raise Hang

    gc.set_threshold(20_000)  # small inputs leave little garbage; collecting often would take a third of the time
    signal.signal(signal.SIGVTALRM, late)
    counts: Counter[str] = Counter()
    longest, slowest = 0.0, first
    for number in range(first, last):
        started = time.process_time()
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG)
        try:
            counts[one_input(seed, number)] += 1
        except BaseException as error:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            if isinstance(error, KeyboardInterrupt):
                raise
            counts["HANG" if isinstance(error, Hang) else "CRASH"] += 1
            out.mkdir(parents=True, exist_ok=True)
            text, _ = make_input(random.Random(f"{seed}:{number}"))
            report = f"{traceback.format_exc()}\n--- seed {seed}, number {number}\n{text}"
            (out / f"fault-{seed}-{number}.txt").write_bytes(report.encode("utf-8", "backslashreplace"))
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        took = time.process_time() - started
        if took > longest:
            longest, slowest = took, number
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps({"counts": counts, "longest": longest, "slowest": slowest, "memory": memory}))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"))
    parser.add_argument("--one", type=int, help="check this input only, and show it")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(make_input(random.Random(f"{options.seed}:{options.one}"))[0])
        print(one_input(options.seed, options.one))
        return 0
    if options.work:
        work(options.seed, options.first, options.first + options.inputs, options.out)
        return 0
    counts: Counter[str] = Counter()
    longest, slowest, memory = 0.0, 0, 0
    started = time.perf_counter()
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    for first in range(options.first, options.first + options.inputs, CHUNK):
        size = min(CHUNK, options.first + options.inputs - first)
        command = [sys.executable, __file__, "--work", "--seed", str(options.seed), "--out", str(options.out)]
        command += ["--first", str(first), "--inputs", str(size)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            print(f"worker of inputs {first} … {first + size - 1} died with status {done.returncode}", flush=True)
            counts["CRASH"] += 1
            continue
        result = json.loads(done.stdout)
        counts.update(result["counts"])
        memory = max(memory, result["memory"])
        if result["longest"] > longest:
            longest, slowest = result["longest"], result["slowest"]
        print(f"{first + size - options.first:,} inputs, {time.perf_counter() - started:.0f} s", flush=True)
    summary = {
        "inputs": options.inputs,
        "seed": options.seed,
        "crashes": counts.pop("CRASH", 0),
        "hangs": counts.pop("HANG", 0),
        "largest memory, MB": memory,
        "longest input, s of CPU": round(longest, 3),
        "which": slowest,
        "CPU, s": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - cpu),
        "outcomes": dict(sorted(counts.items())),
    }
    print(json.dumps(summary, indent=1))
    return 1 if summary["crashes"] or summary["hangs"] else 0


if __name__ == "__main__":
    sys.exit(main())
