"""Claims of the documents beside what is measured here: ``make reproduce``.

    python benchmarks/claims/reproduce.py [--into build/reproduce]    run the benchmarks, then print the table
    python benchmarks/claims/reproduce.py --measured benchmarks/results --page docs/reproduction.md

The first form runs each benchmark that a claim needs, keeps its results in the folder, and goes on where it was when it was
stopped: what is there is not run again. The second makes the page from results that are there.
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from answers import ANSWERS, VERDICTS, Answer, Measured, reference  # noqa: E402

from pointsman.files import write_whole  # noqa: E402
from pointsman.report.table import table  # noqa: E402

ROOT = HERE.parents[1]
BENCHMARKS: dict[str, str | None] = {
    "broadcasts": None,
    "gauss": None,
    "matmul": None,
    "online": None,
    "operators_vs_packet": "--into",
    "prediction": None,
    "routing": None,
    "scheduled_vs_packet": "--into",
    "tdm_switch": None,
    "tdm_synth": "--save",
    "wire_rules": None,
}
"""Benchmarks whose results the claims need, with the option for a file of results to which they add row by row, if they have it;
the others print their results at the end."""
DOCUMENTS = {
    "metcalf1997": ("Metcalf 1997", ["4.1", "5.1", "5.2", "7.1", "8.1", "8.2", "8.3", "8.4", "A.1", "A.2"]),
    "ding2005": ("Ding et al. 2005", ["1", "2", "3"]),
}
"""By the file of its claims: the document, and its tables."""
FIGURES = {
    "metcalf1997": {
        "Figures 1-3, 8-1 … 8-3 (bit reversal, transpose)": "pictures/scheduled_vs_packet_bit_reversal.svg",
        "Figure 8-6 (latency of broadcasts)": "pictures/broadcast_latency.svg",
        "Figure 8-7 (long broadcasts)": "pictures/broadcast_bandwidth.svg",
    },
    "ding2005": {"Figure 4": "pictures/tdm_figure_4.svg", "Figure 5": "pictures/tdm_figure_5.svg"},
}
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
        "Made by `make reproduce` from `benchmarks/claims/` and the results of the benchmarks; a test fails if it is stale.",
        "Every quantitative claim, parameter, formula and table of the two documents that are built:",
        "",
    ]
    lines += [f"- *{verdict}*: {said}" for verdict, said in VERDICTS.items()]
    for name, (document, _) in DOCUMENTS.items():
        rows = answered(name, measured)
        counts = Counter(answer.verdict for *_, answer in rows)
        lines += ["", f"## {document}", ""]
        lines += [f"{len(rows)} entries: {', '.join(f'{counts[verdict]} {verdict}' for verdict in VERDICTS)}.", ""]
        lines += ["| id | where | claim | theirs | ours | verdict | why |", "|---|---|---|---|---|---|---|"]
        for number, where, quantity, theirs, answer in rows:
            cells = [number, where, quantity, theirs, answer.ours, f"*{answer.verdict}*", answer.why]
            lines.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
        if name == "metcalf1997":
            lines += ["", *_cycles("matmul", "Table 8.3", measured), "", *_cycles("gauss", "Table 8.4", measured)]
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


def load(folder: Path) -> Measured:
    """Results of the benchmarks in a folder."""
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in BENCHMARKS}


def run(folder: Path) -> int:
    """Run the benchmarks that have no results in the folder; gives the number that failed."""
    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    for name, option in BENCHMARKS.items():
        target, part = folder / f"{name}.json", folder / f"{name}.part.json"
        if target.exists():
            print(f"{name}: results are there", flush=True)
            continue
        print(f"{name} …", flush=True)
        command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), *([option, str(part)] if option else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=ROOT)
        if done.returncode:
            failed += 1
            print(f"{name}: failed with status {done.returncode}", file=sys.stderr)
        elif option:
            part.rename(target)
        else:
            write_whole(target, done.stdout)
    return failed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--into", type=Path, default=ROOT / "build/reproduce", help="folder of results, for a run that resumes"
    )
    parser.add_argument("--measured", type=Path, help="take the results that are in this folder; run nothing")
    parser.add_argument("--page", type=Path, help="write the page here")
    options = parser.parse_args()
    if options.measured is None and run(options.into):
        return 1
    measured = load(options.measured or options.into)
    if options.page is not None:
        write_whole(options.page, page(measured))
        print(f"wrote {options.page}")
    for name, (document, _) in DOCUMENTS.items():
        rows = [
            [number, where, theirs, answer.verdict, answer.ours]
            for number, where, _, theirs, answer in answered(name, measured)
        ]
        print(f"\n{document}\n" + table(["id", "where", "theirs", "verdict", "ours"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
