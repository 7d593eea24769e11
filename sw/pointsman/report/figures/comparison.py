"""Plots of scheduled against packet routers, in the form of Metcalf 1997, Figures 8-1 to 8-3: time over nodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .page import put_between

Series = dict[str, list[tuple[int, float]]]
OPEN_ROUTER_MHZ = 141.0
"""Clock of the fastest open-source packet router with five ports, measured in the same way (BaseJump STL)."""


def read_clocks(results: Path) -> dict[str, float]:
    """MHz of each router as placed and routed, from the files in ``results``; routers that were not measured are left out."""
    found = {"open packet router": OPEN_ROUTER_MHZ}
    path = results / "fpga.json"
    if path.exists():
        for row in json.loads(path.read_text())["rows"]:
            varied = row.get("varied", {})
            if not varied or set(varied) == {"pipelines"}:
                found[f"scheduled, {row['shape']['pipelines']} pipelines"] = row["mhz"]["median"]
    path = results / "packet_fpga.json"
    if path.exists():
        for row in json.loads(path.read_text())["rows"]:
            found[row["name"]] = row["mhz"]["median"]
    return found


def best_cycles(case: dict[str, Any]) -> dict[str, int]:
    """Fewest cycles of each router in a case: packet routers with the header beside the words, by the best packet length."""
    found: dict[str, int] = {}
    for row in case["rows"]:
        if row["router"] == "scheduled":
            name = f"scheduled, {row['pipelines']} pipelines"
        elif row["header"] == "beside":
            name = f"packets, {row['router']}"
        else:
            continue
        found[name] = min(row["cycles"], found.get(name, row["cycles"]))
    return found


def clock_of(name: str, clocks: dict[str, float]) -> float | None:
    """MHz of a router. Any packet router gets the clock of the faster one: this project's or the open-source router."""
    if name.startswith("scheduled"):
        return clocks.get(name)
    ours = [mhz for other, mhz in clocks.items() if other.startswith("packets, ")]
    return max([clocks["open packet router"], *ours])


def series(results: dict[str, Any], pattern: str, dimensions: int, *, wall_clock: bool) -> Series:
    """(nodes, cycles or microseconds) of each router."""
    found: Series = {}
    for case in results["cases"]:
        if case["pattern"] != pattern or len(case["size"].split("x")) != dimensions:
            continue
        for name, cycles in best_cycles(case).items():
            value = float(cycles)
            if wall_clock:
                mhz = clock_of(name, results["clocks"])
                if mhz is None:
                    continue
                value = cycles / mhz
            found.setdefault(name, []).append((case["nodes"], value))
    return {name: sorted(points) for name, points in found.items()}


ROUTERS = ("packets, e-cube", "packets, adaptive", "scheduled, 2 pipelines", "scheduled, 3 pipelines")
RTL = " ʳ"
"""Beside a figure that the RTL gave."""
BEGIN, END = "<!-- comparison -->", "<!-- /comparison -->"


def comparison_table(results: dict[str, Any]) -> str:
    """Cycles and, below the clocks of `clock_of`, microseconds of each router, as Markdown."""
    lines = [
        f"| {results['words']} words from every node | " + " | ".join(ROUTERS) + " | measured, 2 / 3 pipelines |",
        "|---|" + "---|" * (len(ROUTERS) + 1),
    ]
    for case in results["cases"]:
        found = best_cycles(case)
        cells = []
        on_rtl = {f"packets, {row['router']}": row["rtl_cycles"] for row in case["rows"] if "rtl_cycles" in row}
        for name in ROUTERS:
            mhz = clock_of(name, results["clocks"])
            if name not in found:
                cells.append("")
                continue
            mark = RTL if on_rtl.get(name) == found[name] else ""
            time = "" if mhz is None else f" ({found[name] / mhz:.1f} µs)"
            cells.append(f"{found[name]}{mark}{time}")
        measured = [
            f"{row['measured']}{RTL if row['engine'] == 'verilated' else ''}"
            for row in sorted(case["rows"], key=lambda row: row.get("pipelines", 0))
            if row["router"] == "scheduled"
        ]
        lines.append(f"| {case['pattern']} {case['size']} | " + " | ".join([*cells, " / ".join(measured)]) + " |")
    clocks = ", ".join(f"{name} {mhz:.0f}" for name, mhz in sorted(results["clocks"].items()))
    engines = "ʳ: run on the RTL. Others are of the cycle model, and of the timetable in the columns *scheduled*."
    return "\n".join([*lines, "", engines, "", f"Clocks in MHz: {clocks}."])


def replace_table(page: str, results: dict[str, Any]) -> str:
    """``page`` with the table between its two marks replaced by that of ``results``.

    Raises
    ------
    PointsmanError
        If the marks are not there.
    """
    return put_between(page, BEGIN, END, f"{comparison_table(results)}\n")


def plot_comparison(results: dict[str, Any], folder: Path) -> list[Path]:
    """Draw cycles and wall-clock time of each pattern in two and three dimensions; gives the files."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "pointsman"
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for pattern in sorted({case["pattern"] for case in results["cases"]}):
        figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
        for row, dimensions in enumerate((2, 3)):
            for column, wall_clock in enumerate((False, True)):
                axis = axes[row][column]
                for name, points in sorted(series(results, pattern, dimensions, wall_clock=wall_clock).items()):
                    axis.plot(*zip(*points, strict=True), marker="o", label=name)
                axis.set_xscale("log", base=2)
                axis.set_ylim(bottom=0)
                axis.set_xlabel("nodes")
                axis.set_ylabel("microseconds" if wall_clock else "cycles")
                axis.set_title(f"{pattern}, {dimensions}-D")
                if axis.get_legend_handles_labels()[0]:
                    axis.legend(fontsize="small")
        path = folder / f"scheduled_vs_packet_{pattern.replace(' ', '_')}.svg"
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        written.append(path)
    return written
