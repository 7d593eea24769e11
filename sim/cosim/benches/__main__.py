"""``python -m cosim.benches``: build and run the benches, one after the other, and report their coverage."""

from __future__ import annotations

import argparse
import sys
import textwrap
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from pointsman.errors import PointsmanError

from .bench import Bench
from .build import SIMULATORS, Simulator, build
from .catalogue import BENCHES, find
from .simulate import GroupCoverage, simulate

FOLDER = Path("build") / "sim"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benches. Gives the exit status."""
    options = _parse(arguments)
    try:
        chosen = tuple(find(name) for name in options.only) if options.only else BENCHES
        if options.list:
            for bench in chosen:
                print(f"{bench.name:<12} {bench.about}")
            return 0
        return _run_all(chosen, options)
    except PointsmanError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m cosim.benches", description=main.__doc__, allow_abbrev=False)
    parser.add_argument("--only", metavar="NAME", action="append", help="run this bench; may be given several times")
    parser.add_argument("--seed", type=_seed, default=1, help="seed of all randomness (default 1)")
    parser.add_argument("--list", action="store_true", help="list the benches and run nothing")
    parser.add_argument("--simulator", choices=SIMULATORS, default="verilator", help="default %(default)s")
    parser.add_argument("--brief", action="store_true", help="one line per bench")
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help=f"where simulators, logs and reports go (default {FOLDER})"
    )
    return parser.parse_args(arguments)


def _seed(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must be 0 or more")
    return value


def _run_all(benches: Sequence[Bench], options: argparse.Namespace) -> int:
    seed: int = options.seed
    began = time.perf_counter()
    failed = []
    # While a bench runs, the simulator of the next bench is built.
    with ThreadPoolExecutor(1) as pool:
        builds = [pool.submit(_prepare, bench, options.folder, options.simulator) for bench in benches]
        try:
            for bench, built in zip(benches, builds, strict=True):
                if not _run(bench, built, seed, options.folder, brief=options.brief):
                    failed.append(bench.name)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    passed = len(benches) - len(failed)
    print(f"{passed} passed, {len(failed)} failed in {time.perf_counter() - began:.0f} s")
    if failed:
        print(f"again: {Path(sys.executable).name} -m cosim.benches --seed {seed} --only {' --only '.join(failed)}")
    return 1 if failed else 0


def _prepare(bench: Bench, folder: Path, simulator: Simulator) -> tuple[str, ...]:
    """Make a bench's files and simulator; gives the command that runs it."""
    command = build(bench.design, folder, simulator)
    if bench.prepare is not None:
        bench.prepare(folder)
    return command


def _run(bench: Bench, built: Future[tuple[str, ...]], seed: int, folder: Path, *, brief: bool) -> bool:
    print(f"{bench.name:<12} seed {seed}: ", end="", flush=True)
    try:
        simulator = built.result()
    except Exception as error:  # of a tool, of the hardware's description or of ours: the other benches go on
        told = str(error) if isinstance(error, PointsmanError) else "".join(traceback.format_exception(error))
        print(f"FAILED\n{textwrap.indent(told, '    ')}", flush=True)
        return False
    outcome = simulate(bench, simulator, seed=seed, folder=folder)
    covered = sum(group.covered for group in outcome.groups)
    bins = sum(len(group.hits) for group in outcome.groups)
    print(
        f"{outcome.cycles:,} cycles, {outcome.compared:,} values compared, "
        f"{covered} of {bins} bins covered: {'passed' if outcome.passed else 'FAILED'} in {outcome.seconds:.1f} s",
        flush=True,
    )
    if not brief:
        for group in outcome.groups:
            print(_describe(group))
        for fact in outcome.facts:
            print(f"    {fact}")
    if not outcome.passed:
        print(textwrap.indent(outcome.failure, "    "))
        print(f"    log: {outcome.log}", flush=True)
    return outcome.passed


def _describe(group: GroupCoverage) -> str:
    """A line for the group, and a line for each reason why bins cannot be hit."""
    missing = [name for name, count in group.hits.items() if not count]
    lines = [f"    {group.name}: {group.covered} of {len(group.hits)}"]
    if missing:
        lines[0] += f"; empty: {', '.join(missing)}"
    reasons = Counter(group.unreachable.values())
    return "\n".join(lines + [f"      {count} out of reach: {reason}" for reason, count in reasons.items()])


if __name__ == "__main__":
    sys.exit(main())
