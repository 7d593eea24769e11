"""The mode of the switch that is chosen by prediction: predicted cycles beside those on the RTL, and what the choice costs.

Operators of every kind, and two mixtures, in a loop of ten rounds, are compiled for the switch in each mode. Run-time values on
the RTL are not those of the prediction: the mean over other draws is taken. Regret: cycles of the chosen mode over those of the
best. Rows are kept in a file as they are measured, so that the benchmark can be stopped and taken up again: what is there is
measured again only with ``--again``. With ``--page`` the table between the marks of that page is written anew.

    python benchmarks/tdm_modes.py [--sizes 2 4] [--words 1 20] [--slots 2 4] [--again] [--page docs/tdm_target.md]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from kept import kept

from cosim.tdm.model import switch_machine
from cosim.tdm.prediction import play, predicted_cycles
from pointsman.artifacts.tables.tables import MODES
from pointsman.cop import compile_text
from pointsman.files import write_whole
from pointsman.network import mesh
from pointsman.report.figures.page import put_between
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape

BEGIN, END = "<!-- begin tdm_modes -->", "<!-- end tdm_modes -->"
RESULTS = Path(__file__).parent / "results/tdm_modes.json"
ROUNDS = 10
PROGRAMS = {
    "broadcast": "(broadcast 'a 0 :m {m})",
    "broadcast (runtime)": "(broadcast 'a (runtime) :m {m})",
    "broadcast (distributed)": "(broadcast 'a (runtime :distributed t) :m {m})",
    "stream (runtime)": "(stream 'a (runtime) (runtime) :m {m})",
    "cshift": "(cshift 'a 1 :m {m})",
    "cshift (runtime)": "(cshift 'a (runtime) :m {m})",
    "permute (runtime)": "(permute 'a (runtime) :m {m})",
    "reduce": "(reduce 'a 'add 0 :m {m})",
    "reduce (runtime)": "(reduce 'a 'add (runtime) :m {m})",
    "allreduce": "(allreduce 'a 'add :m {m})",
    "prefix": "(prefix 'a 'add :m {m})",
    "barrier": "(barrier 'a)",
    "gather": "(gather 'a 0 :m {m})",
    "spread": "(spread 'a 0 :m {m})",
    "grid": "(grid '(a b c d) 1 1 :m {m})",
    "broadcast, shift, allreduce": "(broadcast 'a (runtime) :m {m}) (cshift 'b 1 :m {m}) (allreduce 'c 'add :m {m})",
    "shifts, optional broadcast": "(cshift 'a 1 :m {m}) (cshift 'b -1 :m {m}) (optional (broadcast 'c 0 :m {m}))",
}
DRAWS = (11, 12, 13, 14, 15)
"""Seeds of the run-time values on the RTL."""


def measured(text: str, size: int, slots: int, engine: str) -> dict[str, Any]:
    """A program in all modes."""
    program = compile_text(text, topology=mesh(size, size))
    predicted, cycles = {}, {}
    for mode in MODES:
        tables = make_tables(program, SwitchShape(ports=size * size, slots=slots), mode=mode)
        predicted[mode] = predicted_cycles(tables, program)
        times = []
        for seed in DRAWS if "runtime" in text else DRAWS[:1]:
            with switch_machine(tables.shape, engine, progress=False) as machine:  # type: ignore[arg-type]
                times.append(play(tables, program, machine, seed=seed))
        cycles[mode] = statistics.mean(times)
    known = {mode: one for mode, one in predicted.items() if one is not None}
    chosen = min(known, key=lambda mode: known[mode]) if known else MODES[0]
    return {
        "predicted": predicted,
        "measured": cycles,
        "errors": {mode: one / cycles[mode] - 1 for mode, one in known.items()},
        "chosen": chosen,
        "regret": cycles[chosen] / min(cycles.values()),
    }


def summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Errors of the prediction and regrets over all rows."""
    errors = sorted(abs(error) for row in rows for error in row["errors"].values())
    regrets = sorted(row["regret"] for row in rows)
    without = {mode: [row["measured"][mode] / min(row["measured"].values()) for row in rows] for mode in MODES}
    return {
        "programs": len(rows),
        "error_median": statistics.median(errors),
        "error_95": errors[int(0.95 * (len(errors) - 1))],
        "error_worst": errors[-1],
        "regret_median": statistics.median(regrets),
        "regret_95": regrets[int(0.95 * (len(regrets) - 1))],
        "regret_worst": regrets[-1],
        "regret_mean": statistics.mean(regrets),
        "regret_of_a_mode": {mode: {"mean": statistics.mean(one), "worst": max(one)} for mode, one in without.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2])
    parser.add_argument("--words", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--slots", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of results, which is made if there is none")
    parser.add_argument("--again", action="store_true", help="measure also what is known")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    if options.results.exists():
        try:
            known = kept("tdm_modes", "runs", "summary")(str(options.results))
        except argparse.ArgumentTypeError as error:
            parser.error(f"argument --results: {error}")
        rows = {_key(row): row for row in known["runs"]}
    for size in options.sizes:
        for name, text in PROGRAMS.items():
            for words in options.words:
                for slots in options.slots:
                    about = {"mesh": f"{size}x{size}", "program": name, "words": words, "slots": slots}
                    if _key(about) in rows and not options.again:
                        continue
                    print(f"{size}x{size}, {name}, {words} words, {slots} slots …", file=sys.stderr)
                    whole = f"(loop 'l {ROUNDS} {text.format(m=words)})"
                    rows[_key(about)] = about | measured(whole, size, slots, options.engine)
                    _keep(options.results, list(rows.values()))
    if options.page is not None:
        write_whole(options.page, put_between(options.page.read_text(), BEGIN, END, page_of(list(rows.values()))))


def _key(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["mesh"], row["program"], row["words"], row["slots"]


def _keep(path: Path, rows: list[dict[str, Any]]) -> None:
    found = {"benchmark": "tdm_modes", "rounds": ROUNDS, "summary": summary(rows), "runs": rows}
    write_whole(path, json.dumps(found, indent=1) + "\n")


def page_of(rows: list[dict[str, Any]]) -> str:
    """The table of the page: a line for each program and mesh, over all words and slots."""
    lines = [
        "| mesh | program | " + " | ".join(MODES) + " | chosen | error | regret |",
        "|---" * (len(MODES) + 5) + "|",
    ]
    for mesh_name, name in dict.fromkeys((row["mesh"], row["program"]) for row in rows):
        some = [row for row in rows if (row["mesh"], row["program"]) == (mesh_name, name)]
        best = [min(row["measured"].values()) for row in some]
        over = [
            statistics.mean(row["measured"][mode] / least for row, least in zip(some, best, strict=True))
            for mode in MODES
        ]
        modes = [row["chosen"] for row in some]
        chosen = ", ".join(f"{modes.count(mode)} {mode}" for mode in MODES if mode in modes)
        error = statistics.median(abs(one) for row in some for one in row["errors"].values())
        regret = max(row["regret"] for row in some)
        cells = [mesh_name, name, *(f"{one:.2f}" for one in over), chosen, f"{error:.0%}", f"{regret:.2f}"]
        lines.append("| " + " | ".join(cells) + " |")
    all_ = summary(rows)
    text = (
        f"Over all {all_['programs']} programs the prediction is off by {all_['error_median']:.1%} at the median and "
        f"{all_['error_95']:.0%} at 95 %; the chosen mode takes "
        f"{all_['regret_mean']:.3f} times the cycles of the best on the mean, {all_['regret_worst']:.2f} at worst. "
        + "; ".join(
            f"*{mode}* always: {one['mean']:.2f}, {one['worst']:.1f}" for mode, one in all_["regret_of_a_mode"].items()
        )
        + "."
    )
    return "\n".join(["", *lines, "", text, "", ""])


if __name__ == "__main__":
    main()
