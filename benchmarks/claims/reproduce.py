"""Claims of the documents beside what is measured here: ``make reproduce``.

    python benchmarks/claims/reproduce.py                 run what has no results of the present code, then write page and table
    python benchmarks/claims/reproduce.py --quick         the short benchmarks afresh, saved results of all others; some minutes
    python benchmarks/claims/reproduce.py --saved         saved results alone

The first runs each benchmark that a claim needs unless there are results of it that the present code has made, keeps results in
``build/reproduce`` (row by row where the benchmark can), and goes on where it was when it was stopped; ``--seconds`` stops it by
itself. Then it puts the results into ``benchmarks/results``, and writes ``claims.json`` there and the page of the documentation.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import collectives  # noqa: E402, F401
import ding  # noqa: E402
import feldmann  # noqa: E402
import metcalf  # noqa: E402, F401
import metcalf_evaluation  # noqa: E402, F401
import von_eicken  # noqa: E402, F401
import yuan  # noqa: E402
import yuan_arrays  # noqa: E402, F401
import yuan_programs  # noqa: E402, F401
from answers import ANSWERS, VERDICTS, Answer, Measured  # noqa: E402
from digest import code_digest  # noqa: E402
from metcalf_figures import reference  # noqa: E402

from pointsman.files import write_whole  # noqa: E402
from pointsman.report.table import table  # noqa: E402

ROOT = HERE.parents[1]
RESULTS = ROOT / "benchmarks/results"
PAGE = ROOT / "docs/reproduction.md"
STAMPS = "measured.json"
"""In a folder of results: which code made them."""


class Benchmark(NamedTuple):
    """A program of ``benchmarks/`` that claims need.

    ``into``: its option for a file of results to which it adds row by row, None: it prints its results at the end. ``rooms``: the
    code on which its figures depend. ``quick``: it takes less than a minute or two.
    """

    into: str | None
    rooms: tuple[str, ...]
    quick: bool = False


_COMPILER = ("sw/pointsman", "hdl/numesh")
_RUNS = (*_COMPILER, "sim/cosim/engines", "sim/cosim/numesh")
_ROUTER = ("sw/pointsman/routing", "sw/pointsman/network", "hdl/numesh")
_SWITCH = (
    *(f"sim/cosim/tdm/{name}.py" for name in ("fast", "fast_kernel", "baselines", "traffic")),
    *("hdl/tdm_switch/shape.py", "hdl/tdm_switch/codes.py", "benchmarks/evaluation/tdm.py"),
)
BENCHMARKS = {
    "arrays": Benchmark(
        None,
        ("sw/pointsman/arrays", "sw/pointsman/connections", "sw/pointsman/optical", "examples/arrays"),
        quick=True,
    ),
    "collectives": Benchmark(None, (*_ROUTER, "sw/pointsman/artifacts/algorithms"), quick=True),
    "conset": Benchmark(
        None,
        (
            "sw/pointsman/connections/channels",
            "sw/pointsman/artifacts/channels",
            "sw/pointsman/fem",
            "sim/cosim/iwarp",
        ),
        quick=True,
    ),
    "one_sided": Benchmark(
        None,
        (
            *(f"sw/pointsman/runtime/{room}" for room in ("active", "splitc", "tam")),
            *("sim/cosim/logp", "examples/splitc", "examples/tam"),
        ),
        quick=True,
    ),
    "worked_examples": Benchmark("--into", (*_RUNS, "sim/cosim/tdm", "sim/cosim/packet"), quick=True),
    "diamond": Benchmark("--into", (*_ROUTER, "benchmarks/evaluation/lattice.py")),
    "tdm_switch": Benchmark(None, _SWITCH),
    "tdm_space": Benchmark("--into", (*_SWITCH, "benchmarks/evaluation/space.py")),
    "broadcasts": Benchmark(None, _RUNS, quick=True),
    "gauss": Benchmark(None, (*_RUNS, "examples/gauss")),
    "matmul": Benchmark(None, (*_RUNS, "examples/matmul")),
    "online": Benchmark(None, (*_RUNS, "sim/cosim/packet", "hdl/packet_router")),
    "operators_vs_packet": Benchmark("--into", (*_RUNS, "sim/cosim/packet", "hdl/packet_router")),
    "prediction": Benchmark(None, _RUNS),
    "routing": Benchmark(None, _ROUTER),
    "scheduled_vs_packet": Benchmark("--into", (*_ROUTER, "sim/cosim/packet", "hdl/packet_router")),
    "tdm_synth": Benchmark("--save", ("hdl/tdm_switch", "sw/pointsman/fpga")),
    "wire_rules": Benchmark(None, _COMPILER),
    "optical": Benchmark(
        "--into",
        (
            "sw/pointsman/optical",
            "sw/pointsman/connections",
            "sw/pointsman/network",
            "benchmarks/evaluation/patterns.py",
        ),
    ),
}
DOCUMENTS: dict[str, tuple[str, list[str]]] = {
    "metcalf1997": ("Metcalf 1997", ["4.1", "5.1", "5.2", "7.1", "8.1", "8.2", "8.3", "8.4", "A.1", "A.2"]),
    "ding2005": ("Ding et al. 2005", ["1", "2", "3"]),
    "feldmann1993": ("Feldmann, Stricker and Warfel 1993", [f"{number} (1993)" for number in range(1, 7)]),
    "von_eicken1993": ("von Eicken 1993, Chapter 6", ["6-1", "6-2", "6-3", "6-4"]),
    "yuan1998_chapter_5": ("Yuan 1998, Chapter 5", []),
    "yuan1998": (
        "Yuan 1998, Chapters 3, 4 and 6",
        ["3.1", "4.2", "4.3", "4.4", "6.1", "6.2", "6.3", "6.4", "6.5", "6.6", "6.7", "6.8"],
    ),
    "collectives_of_today": ("Collectives of today", []),
}
"""By the file of its claims: the document, and its tables."""
FIGURES = {
    "metcalf1997": {
        "Figure 1-4 (random traffic on a diamond lattice of 455 nodes)": "pictures/diamond.svg",
        "Figures 1-3, 8-1 … 8-3 (bit reversal, transpose)": "pictures/scheduled_vs_packet_bit_reversal.svg",
        "Figure 8-6 (latency of broadcasts)": "pictures/broadcast_latency.svg",
        "Figure 8-7 (long broadcasts)": "pictures/broadcast_bandwidth.svg",
    },
    "ding2005": {
        "Figure 4": "pictures/tdm_figure_4.svg",
        "Figure 5, one static destination above, two below": "pictures/tdm_figure_5.svg",
    },
    "feldmann1993": {},
    "von_eicken1993": {},
    "yuan1998_chapter_5": {},
    "yuan1998": {},
    "collectives_of_today": {},
}
PICTURES = "docs/pictures"
DRAWN = {
    "broadcasts": ("--plots", PICTURES),
    "diamond": ("--plots", PICTURES),
    "operators_vs_packet": ("--plots", PICTURES),
    "scheduled_vs_packet": ("--plots", PICTURES),
    "tdm_switch": ("--results", "benchmarks/results/tdm_switch.json", "--pictures", PICTURES),
}
"""How benchmarks draw their figures from saved results."""
Row = tuple[str, str, str, str, Answer]
"""Id, place, quantity, their value, our answer."""


def claims(name: str) -> list[tuple[str, str, str, str]]:
    """Of a document: id, place, quantity with its conditions, and value with its unit; then its tables."""
    lines = (HERE / f"{name}.csv").read_text(encoding="utf-8").splitlines()
    found = [
        (
            row["id"],
            row["where"],
            row["quantity"] + (f" ({row['conditions']})" if row["conditions"] else ""),
            f"{row['value']} {row['unit']}".strip(),
        )
        for row in csv.DictReader(line for line in lines if not line.startswith("#"))
    ]
    return found + [(f"Table {number}", f"Table {number}", "the table", "") for number in DOCUMENTS[name][1]]


def answered(name: str, measured: Measured) -> list[Row]:
    """All claims of a document with our answers."""
    return [(*one, ANSWERS[one[0]](measured)) for one in claims(name)]


def page(measured: Measured) -> str:
    """The page of the documentation."""
    lines = [
        "# Claims and tables, theirs and ours",
        "",
        "Made by `make reproduce` from `benchmarks/claims/` and the results in `benchmarks/results/`; a test fails if it is",
        "stale. As data: `benchmarks/results/claims.json`; which code made which results: `measured.json` beside it.",
        "Every quantitative claim, parameter, formula and table of the documents, as far as they are built:",
        "",
    ]
    lines += [f"- *{verdict}*: {said}" for verdict, said in VERDICTS.items()]
    for name, (document, _) in DOCUMENTS.items():
        rows = answered(name, measured)
        counts = Counter(answer.verdict for *_, answer in rows)
        lines += ["", f"## {document}", ""]
        lines += [f"{len(rows)} entries: {', '.join(f'{counts[verdict]} {verdict}' for verdict in VERDICTS)}.", ""]
        if name == "yuan1998":
            lines += [yuan.RULE, ""]
        if name == "feldmann1993":
            lines += [feldmann.RULE, ""]
        lines += ["| id | where | claim | theirs | ours | verdict | why |", "|---|---|---|---|---|---|---|"]
        for number, where, quantity, theirs, answer in rows:
            cells = [number, where, quantity, theirs, answer.ours, f"*{answer.verdict}*", answer.why]
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        if name == "metcalf1997":
            lines += ["", *_cycles("matmul", "Table 8.3", measured), "", *_cycles("gauss", "Table 8.4", measured)]
        elif name == "ding2005":
            lines += ["", *ding.space_table(measured)]
        for caption, picture in FIGURES[name].items():
            lines += ["", f"![{caption}]({picture})", "", f"*{caption}, redrawn from our results.*"]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text for a cell: bars and stars would end it or lean it."""
    return text.replace("|", "\\|").replace("<", "&lt;").replace("$", "")


def _cycles(name: str, caption: str, measured: Measured) -> list[str]:
    """A table of cycles, theirs and ours in each cell."""
    runs = {run["mesh"]: run["categories"] for run in measured[name]["runs"]}
    names = ("cpu", "write", "read", "psync", "router", "reprog")
    lines = [
        f"{caption}, cycles of a node (mean), theirs / ours:",
        "",
        f"| mesh | {' | '.join(names)} |",
        "|---" * 7 + "|",
    ]
    for mesh, row in reference(name).items():
        cells = [f"{row[one]:,.0f} / {runs[mesh][one]:,.0f}" for one in names]
        lines.append(f"| {mesh} | {' | '.join(cells)} |")
    return lines


def document(measured: Measured) -> dict[str, Any]:
    """What ``claims.json`` holds: each claim, theirs, ours, verdict and why."""
    found: dict[str, Any] = {"verdicts": VERDICTS, "documents": {}}
    for name, (title, _) in DOCUMENTS.items():
        rows = answered(name, measured)
        counts = Counter(answer.verdict for *_, answer in rows)
        found["documents"][name] = {
            "title": title,
            "counts": {verdict: counts[verdict] for verdict in VERDICTS},
            "claims": [
                {"id": number, "where": where, "claim": quantity, "theirs": theirs, **answer._asdict()}
                for number, where, quantity, theirs, answer in rows
            ],
        }
    return found


def load(folder: Path) -> Measured:
    """Results of the benchmarks in a folder."""
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in BENCHMARKS}


def stamps(folder: Path) -> dict[str, dict[str, str]]:
    """By benchmark: ``code``, the digest of the code that made the results in the folder, and ``date``."""
    path = folder / STAMPS
    found: dict[str, dict[str, str]] = json.loads(path.read_text()) if path.exists() else {}
    return found


def present(name: str) -> str:
    """The digest of the code on which a benchmark's figures depend, as it is now."""
    return code_digest(ROOT, (*BENCHMARKS[name].rooms, f"benchmarks/{name}.py"))


def current(folder: Path, name: str) -> bool:
    """Has the folder results of a benchmark that the present code made?"""
    return (folder / f"{name}.json").exists() and stamps(folder).get(name, {}).get("code") == present(name)


def enter(folder: Path, name: str, stamp: dict[str, str]) -> None:
    """Note which code made a benchmark's results."""
    write_whole(folder / STAMPS, json.dumps(dict(sorted({**stamps(folder), name: stamp}.items())), indent=1) + "\n")


def run(folder: Path, names: list[str], seconds: float | None = None) -> list[str]:
    """Run the benchmarks that have no results of the present code, here or saved; gives those that failed or are left over.

    Parameters
    ----------
    folder : Path
        For results, and for parts of results of benchmarks that were stopped.
    names : list of str
        Benchmarks.
    seconds : float, optional
        Time after which to stop.
    """
    folder.mkdir(parents=True, exist_ok=True)
    end = None if seconds is None else time.monotonic() + seconds
    left = []
    for index, name in enumerate(names):
        begin = f"[{index + 1}/{len(names)}] {name}:"
        if current(folder, name):
            print(f"{begin} results are there", flush=True)
        elif current(RESULTS, name):
            shutil.copy(RESULTS / f"{name}.json", folder)
            enter(folder, name, stamps(RESULTS)[name])
            print(f"{begin} saved results, of the present code", flush=True)
        elif end is not None and time.monotonic() > end:
            left.append(name)
            print(f"{begin} left for another time", flush=True)
        else:
            print(f"{begin} running …", flush=True)
            began = time.monotonic()
            failure = _run(folder, name, None if end is None else end - began)
            if failure:
                left.append(name)
            print(f"{begin} {failure or 'done'}, {time.monotonic() - began:.0f} s", flush=True)
    return left


def _run(folder: Path, name: str, seconds: float | None) -> str:
    """Run a benchmark; gives what went wrong. Rows go into a part whose name has the digest of the code, so that no file has
    rows of two codes; a benchmark without such rows is not interrupted."""
    code, option = present(name), BENCHMARKS[name].into
    target, part = folder / f"{name}.json", folder / f"{name}.{code}.part.json"
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *([option, str(part)] if option else [])]
    try:
        done = subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT, timeout=seconds if option else None
        )
    except subprocess.TimeoutExpired:
        return "stopped, goes on next time"
    if done.returncode:
        return f"failed with status {done.returncode}"
    if option:
        part.rename(target)
    else:
        write_whole(target, done.stdout)
    enter(folder, name, {"code": code, "date": time.strftime("%Y-%m-%d")})
    return ""


def publish(folder: Path) -> None:
    """Put the results into ``benchmarks/results``."""
    for name in BENCHMARKS:
        shutil.copy(folder / f"{name}.json", RESULTS)
        enter(RESULTS, name, stamps(folder)[name])


def redraw() -> None:
    """Draw the figures again from the results in ``benchmarks/results``."""
    for name, options in DRAWN.items():
        command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *options]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True, cwd=ROOT)
        print(f"{name}: figures redrawn", flush=True)


def write(measured: Measured) -> None:
    """Write the page and ``claims.json``."""
    write_whole(PAGE, page(measured))
    write_whole(RESULTS / "claims.json", json.dumps(document(measured), indent=1, ensure_ascii=False) + "\n")
    print(f"wrote {PAGE.relative_to(ROOT)} and benchmarks/results/claims.json")


def show(measured: Measured) -> None:
    """Print the table."""
    for name, (title, _) in DOCUMENTS.items():
        rows = [
            [number, where, theirs, answer.verdict, answer.ours]
            for number, where, _, theirs, answer in answered(name, measured)
        ]
        print(f"\n{title}\n" + table(["id", "where", "theirs", "verdict", "ours"], rows))


def changed(before: Measured, after: Measured) -> list[str]:
    """Claims whose verdicts differ, in words."""
    return [
        f"{number}: {old.verdict} before, now {new.verdict} ({new.ours})"
        for name in DOCUMENTS
        for (number, *_, old), (*_, new) in zip(answered(name, before), answered(name, after), strict=True)
        if old.verdict != new.verdict
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=ROOT / "build/reproduce", help="folder of a run that resumes")
    parser.add_argument("--seconds", type=float, help="stop after so many seconds; the next run goes on")
    parser.add_argument(
        "--quick", action="store_true", help="only the short benchmarks; writes nothing but their results"
    )
    parser.add_argument("--saved", action="store_true", help="run nothing, take the saved results")
    options = parser.parse_args()
    saved = None
    if options.quick or options.saved:
        saved = load(RESULTS)
        for name in BENCHMARKS:
            if not current(RESULTS, name):
                made = stamps(RESULTS).get(name, {}).get("date", "an unknown day")
                print(f"{name}: saved results are of {made}, of other code than the present one", flush=True)
    if options.saved:
        assert saved is not None
        write(saved)
        show(saved)
        return 0
    if options.quick:
        assert saved is not None
        chosen = [name for name, one in BENCHMARKS.items() if one.quick]
        fresh = options.into / "quick"
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        failed = [name for name in chosen if _told(fresh, name)]
        if failed:
            return 1
        measured = saved | {name: json.loads((fresh / f"{name}.json").read_text()) for name in chosen}
        show(measured)
        differ = changed(saved, measured)
        print("\nverdicts that differ from those of the saved results: " + ("; ".join(differ) or "none"))
        return 1 if differ else 0
    if left := run(options.into, list(BENCHMARKS), options.seconds):
        print(f"not finished: {', '.join(left)}; run it again to go on", file=sys.stderr)
        return 1
    publish(options.into)
    redraw()
    measured = load(RESULTS)
    write(measured)
    show(measured)
    return 0


def _told(folder: Path, name: str) -> str:
    print(f"{name}: running …", flush=True)
    failure = _run(folder, name, None)
    print(f"{name}: {failure or 'done'}", flush=True)
    return failure


if __name__ == "__main__":
    sys.exit(main())
