"""Broadcasts on scheduled routers by implementation and mesh, and online against native (Metcalf 1997, Figures 8-6 to 8-8).

Latency: one word from node 0, until the last node has it. Bandwidth: cycles that another word of a long message takes. Schedules
are as long as the compiler finds best, unless told otherwise. On the cycle model, which agrees with the RTL to the cycle. A call
begins at the same cycle at every node, after all load functions; the mean of four places in the schedule.

    python benchmarks/broadcasts.py [--sizes 2x2,4x4] > benchmarks/results/broadcasts.json
    python benchmarks/broadcasts.py --plots docs/pictures     # from results/broadcasts.json and results/online.json

The second redraws the plots and the table of docs/broadcasts.md.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import operators

from pointsman.errors import PointsmanError
from pointsman.network import mesh, parse_size
from pointsman.report.figures.broadcast_plot import DENSE, LINEAR, crossing, curves, plot_broadcasts, plot_online
from pointsman.report.figures.broadcast_plot import replace_broadcasts as replaced

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parent.parent / "docs" / "broadcasts.md"
SIZES = "2x2,3x3,4x4,5x5,6x6,8x8"
IMPLEMENTATIONS = ("str_bcast", LINEAR, DENSE)
WORDS = 128, 512
"""Of the long messages."""
PUBLISHED = {"str_bcast": 2.0, LINEAR: 4.0}
"""Cycles a word (Metcalf 1997, §8.3.2)."""


def measure(implementation: str, text: str, period: int | None) -> dict[str, Any]:
    """Latency and cycles a word of one implementation on one mesh."""
    way = next(way for way in operators.WAYS if way.impl == implementation)
    topology = mesh(*parse_size(text))
    began = time.process_time()
    row: dict[str, Any] = {"implementation": implementation, "mesh": text, "nodes": topology.nodes}
    try:
        one = operators.measure(way, topology, 1, period).cycles
        longer = operators.measure(way, topology, WORDS[1], period)
        long = operators.measure(way, topology, WORDS[0], longer.images.period)
    except PointsmanError as error:
        return {**row, "refused": error.message}
    row |= {"latency": one, "cycles_per_word": (longer.cycles - long.cycles) / (WORDS[1] - WORDS[0])}
    row["period"] = longer.images.period
    return {**row, "published": PUBLISHED.get(implementation), "cpu_seconds": round(time.process_time() - began, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=SIZES)
    parser.add_argument("--only", default=",".join(IMPLEMENTATIONS), help="implementations")
    parser.add_argument("--period", type=int, help="slots of the schedule; else the compiler's choice")
    parser.add_argument("--plots", type=Path, help="folder: redraw the plots and the table from the results there are")
    options = parser.parse_args()
    if options.plots is not None:
        rows = json.loads((RESULTS / "broadcasts.json").read_text())["rows"]
        online = json.loads((RESULTS / "online.json").read_text())["rows"]
        for path in [*plot_broadcasts(rows, options.plots), plot_online(online, options.plots)]:
            print(path)
        PAGE.write_text(replaced(PAGE.read_text(), rows))
        return
    rows = []
    for text in options.sizes.split(","):
        for implementation in options.only.split(","):
            rows.append(measure(implementation, text, options.period))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    found = curves(rows, "latency")
    meeting = crossing(found.get(LINEAR, []), found.get(DENSE, []))
    print(
        json.dumps(
            {
                "benchmark": "broadcasts",
                "period": options.period,
                "words": WORDS,
                "rows": rows,
                "crossing_nodes": None if meeting is None else round(meeting[0]),
                "crossing_measured": meeting is not None and meeting[1],
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
