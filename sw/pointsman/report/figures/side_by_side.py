"""Plots and tables of operators on scheduled and on packet routers, in the form of Metcalf 1997, Figures 8-4 to 8-7.

Takes the results of ``benchmarks/operators_vs_packet.py``. Verdicts on the thesis's statements follow from the figures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .comparison import clock_of
from .page import put_between

Row = dict[str, Any]
Points = dict[str, list[tuple[int, float]]]
BEGIN, END = "<!-- side by side -->", "<!-- /side by side -->"
DYNAMIC = "dyn_prefix"
PREFIX = ("str_prefix", "sch_prefix", "str_prefix_linear", DYNAMIC)
BROADCAST = ("str_bcast", "str_bcast_linear", "str_bcast_dense", "dyn_bcast_dense", "dyn_bcast_tree", "dyn_bcast")
SCHEDULED = "scheduled, 2 pipelines"
LONG = 1024
FIXED = "8x8"
ROOM = 1.02
"""Ratio of two figures up to which they are called equal."""


class Figures:
    """Cycles and microseconds by implementation, mesh and words."""

    def __init__(self, results: Row) -> None:
        self.rows: list[Row] = [row for row in results["rows"] if "cycles" in row]
        self.clocks: dict[str, float] = results["clocks"]

    def cycles(self, impl: str, nodes: int, m: int) -> float | None:
        """Cycles of a call with ``m`` words on ``nodes`` nodes; None if it was not measured."""
        for row in self.rows:
            if (row["implementation"], row["nodes"], row["m"]) == (impl, nodes, m):
                return float(row["cycles"])
        return None

    def mhz(self, impl: str) -> float | None:
        """Clock of the routers on which the implementation runs; None if it was not measured."""
        return clock_of("packets" if impl.startswith("dyn_") else SCHEDULED, self.clocks)

    def microseconds(self, impl: str, nodes: int, m: int) -> float | None:
        cycles, mhz = self.cycles(impl, nodes, m), self.mhz(impl)
        return None if cycles is None or mhz is None else cycles / mhz

    def nodes(self, impl: str, m: int) -> list[int]:
        return sorted({row["nodes"] for row in self.rows if row["implementation"] == impl and row["m"] == m})

    def words(self, impl: str) -> list[int]:
        return sorted({row["m"] for row in self.rows if row["implementation"] == impl and row["mesh"] == FIXED})

    def points(
        self, impls: Sequence[str], *, m: int | None = None, nodes: int | None = None, wall_clock: bool = False
    ) -> Points:
        """Curves by implementation: over nodes if ``m`` words are given, otherwise over words on ``nodes`` nodes."""
        value = self.microseconds if wall_clock else self.cycles
        found: Points = {}
        for impl in impls:
            pairs = (
                [(n, value(impl, n, m)) for n in self.nodes(impl, m)]
                if m is not None
                else [(w, value(impl, nodes or 0, w)) for w in self.words(impl)]
            )
            line = [(x, y) for x, y in pairs if y is not None]
            if line:
                found[impl] = line
        return found


@dataclass(frozen=True)
class Verdict:
    """A statement of the thesis, the measurements about it, and whether they confirm it."""

    statement: str
    measured: str
    verdict: str


def verdicts(results: Row) -> list[Verdict]:
    """Verdicts on all statements whose figures were measured."""
    figures = Figures(results)
    makers: list[Callable[[Figures], Verdict | None]] = [
        _prefix_nodes,
        _prefix_words,
        _constant_source,
        _runtime_source,
        _linear_and_dense,
        _tree,
        _long_constant,
        _long_linear,
        _long_dense,
    ]
    return [verdict for maker in makers if (verdict := maker(figures)) is not None]


def _common(figures: Figures, impls: Sequence[str], m: int) -> list[int]:
    """Numbers of nodes for which all these implementations were measured with ``m`` words."""
    sets = [set(figures.nodes(impl, m)) for impl in impls]
    return sorted(set.intersection(*sets))


def _ratios(figures: Figures, one: str, other: str, m: int, *, wall_clock: bool = False) -> dict[int, float]:
    """Time of ``other`` over time of ``one``, by number of nodes."""
    value = figures.microseconds if wall_clock else figures.cycles
    found = {}
    for nodes in _common(figures, (one, other), m):
        first, second = value(one, nodes, m), value(other, nodes, m)
        if first and second:
            found[nodes] = second / first
    return found


def _listed(ratios: dict[int, float]) -> str:
    return ", ".join(f"{ratio:.2f} ({nodes})" for nodes, ratio in ratios.items())


def _prefix_ratio(figures: Figures, nodes: int, m: int) -> float | None:
    """How many times as long a prefix takes with messages as in the quicker of the scheduled ways; None if not measured."""
    theirs = figures.cycles(DYNAMIC, nodes, m)
    ours = [cycles for impl in PREFIX if impl != DYNAMIC and (cycles := figures.cycles(impl, nodes, m))]
    return theirs / min(ours) if theirs and ours else None


def _prefix_nodes(figures: Figures) -> Verdict | None:
    ratios = {nodes: ratio for nodes in figures.nodes(DYNAMIC, 1) if (ratio := _prefix_ratio(figures, nodes, 1))}
    if not ratios:
        return None
    *_, last = ratios.values()
    growing = last >= max(ratios.values())
    verdict = "contradicted"
    if min(ratios.values()) > 1:
        verdict = "better" if last > 1.2 * ROOM else "reproduced" if growing else "reproduced in part"
    elif last > 1:
        verdict = "reproduced in part"
    return Verdict(
        "A prefix of one word takes fewer cycles on the scheduled router; on 256 nodes the dynamic one is 20 % slower and "
        "falls further behind (8-4)",
        f"dynamic over scheduled, cycles, by nodes: {_listed(ratios)}",
        verdict,
    )


def _prefix_words(figures: Figures) -> Verdict | None:
    nodes = 64
    ratios = {m: ratio for m in figures.words(DYNAMIC) if (ratio := _prefix_ratio(figures, nodes, m))}
    if len(ratios) < 2:
        return None
    first, *_, last = ratios.values()
    # The difference goes away with the length, or the scheduled router stays ahead by as much and more.
    verdict = "better" if last >= first > 1 else "reproduced" if first > last >= 1 / ROOM else "contradicted"
    return Verdict(
        "The difference goes away with the length of the message, to the limit of the processor's port (8-5)",
        f"dynamic over scheduled, cycles, by words on 8×8: {_listed(ratios)}",
        verdict,
    )


def _constant_source(figures: Figures) -> Verdict | None:
    ratios = _ratios(figures, "str_bcast", "dyn_bcast_dense", 1)
    if not ratios:
        return None
    least = min(ratios.values())
    return Verdict(
        "A broadcast of one word from a known source is dramatically quicker on the scheduled router (8-6)",
        f"dyn_bcast_dense over str_bcast, cycles, by nodes: {_listed(ratios)}",
        "reproduced" if least >= 2 else "reproduced in part" if least > 1 else "contradicted",
    )


def _runtime_source(figures: Figures) -> Verdict | None:
    best: dict[int, float] = {}
    cycles: dict[int, float] = {}
    for impl in ("str_bcast_linear", "str_bcast_dense"):
        for nodes, ratio in _ratios(figures, impl, "dyn_bcast_dense", 1, wall_clock=True).items():
            best[nodes] = max(ratio, best.get(nodes, 0.0))
        for nodes, ratio in _ratios(figures, impl, "dyn_bcast_dense", 1).items():
            cycles[nodes] = max(ratio, cycles.get(nodes, 0.0))
    if not best:
        return None
    ahead = [nodes for nodes, ratio in cycles.items() if ratio > 1]
    until = 0
    for nodes in sorted(cycles):
        if nodes not in ahead:
            break
        until = nodes
    everywhere = min(best.values()) > 1
    better = everywhere and until > 80
    return Verdict(
        "From a source known at run time, too, in wall-clock time on every mesh, and up to 60 nodes even in cycles (8-6)",
        f"dyn_bcast_dense over the better scheduled one, time, by nodes: {_listed(best)}; ahead in cycles up to {until} nodes",
        "better" if better else "reproduced" if everywhere and until >= 36 else "contradicted in part",
    )


def _linear_and_dense(figures: Figures) -> Verdict | None:
    ratios = _ratios(figures, "str_bcast_linear", "str_bcast_dense", 1)
    if not ratios:
        return None
    crossed = [nodes for nodes, ratio in ratios.items() if ratio < 1]
    where = f"dense is ahead from {min(crossed)} nodes on" if crossed else "linear is ahead everywhere"
    verdict = "reproduced" if crossed and 36 < min(crossed) <= 150 else "contradicted"
    if not crossed and max(ratios) < 100:
        verdict = "reproduced below 60 nodes; not measured from 100"
    return Verdict(
        "str_bcast_linear is the quicker one with a run-time source below about 60 nodes, str_bcast_dense from about 100 (8-6)",
        f"dense over linear, cycles, by nodes: {_listed(ratios)}: {where}",
        verdict,
    )


def _tree(figures: Figures) -> Verdict | None:
    ratios = _ratios(figures, "dyn_bcast_dense", "dyn_bcast_tree", 1)
    if not ratios:
        return None
    low, high = min(ratios.values()), max(ratios.values())
    return Verdict(
        "dyn_bcast_tree takes about 1.2 times the cycles of dyn_bcast_dense (8-6)",
        f"by nodes: {_listed(ratios)}",
        "reproduced" if low >= 1.1 and high <= 1.35 else "contradicted" if high < 1.1 or low > 1.35 else "in part",
    )


def _per_word(figures: Figures, impl: str) -> dict[int, float]:
    """Cycles a word of long messages, by nodes."""
    found = {}
    for nodes in figures.nodes(impl, LONG):
        cycles = figures.cycles(impl, nodes, LONG)
        if cycles is not None:
            found[nodes] = cycles / LONG
    return found


def _long_constant(figures: Figures) -> Verdict | None:
    words = _per_word(figures, "str_bcast")
    return _rate("str_bcast takes 2 cycles a word of a long broadcast (8-7)", words, 2.0)


def _long_linear(figures: Figures) -> Verdict | None:
    words = _per_word(figures, "str_bcast_linear")
    return _rate("str_bcast_linear takes 4 cycles a word (8-7)", words, 4.0)


def _rate(statement: str, words: dict[int, float], theirs: float) -> Verdict | None:
    if not words:
        return None
    high, low = max(words.values()), min(words.values())
    verdict = "contradicted"
    if high <= theirs * 1.1:
        verdict = "better" if high < theirs / ROOM else "reproduced"
    elif low <= theirs * 1.1:
        verdict = "reproduced on small meshes only"
    return Verdict(statement, f"cycles a word, by nodes: {_listed(words)}", verdict)


def _long_dense(figures: Figures) -> Verdict | None:
    ratios = _ratios(figures, "str_bcast_dense", "dyn_bcast_dense", LONG)
    if not ratios:
        return None
    low, high = min(ratios.values()), max(ratios.values())
    return Verdict(
        "str_bcast_dense takes about as many cycles as dyn_bcast_dense for a long message (8-7)",
        f"dyn_bcast_dense over str_bcast_dense, cycles, by nodes: {_listed(ratios)}",
        "better" if low > 1.25 else "reproduced" if low >= 0.8 and high <= 1.25 else "in part",
    )


# -- the page ------------------------------------------------------------------------------------------------------


def put_side_by_side(page: str, results: Row) -> str:
    """``page`` with the tables between its two marks replaced by those of ``results``.

    Raises
    ------
    PointsmanError
        If the marks are not there.
    """
    figures = Figures(results)
    engines = sorted({f"{row['router']} on {row['engine']}" for row in figures.rows})
    scheduled, packet = figures.mhz("str_bcast"), figures.mhz("dyn_bcast")
    text = [
        *_table("prefix, one word", "nodes", figures, PREFIX, m=1),
        *_table("prefix, 8×8", "words", figures, PREFIX, nodes=64),
        *_table("broadcast, one word", "nodes", figures, BROADCAST, m=1),
        *_table(f"broadcast, {LONG} words", "nodes", figures, BROADCAST, m=LONG),
        *_table("broadcast, 8×8", "words", figures, BROADCAST, nodes=64),
        f"Engines: {'; '.join(engines)}. Clocks in MHz: scheduled {scheduled or 0:.0f}, packets {packet or 0:.0f}.",
        "",
        "| Metcalf 1997 | here | |",
        "|---|---|---|",
        *(f"| {v.statement} | {v.measured} | {v.verdict} |" for v in verdicts(results)),
    ]
    return put_between(page, BEGIN, END, "\n".join(text) + "\n")


def _table(
    title: str, over: str, figures: Figures, impls: Sequence[str], *, m: int | None = None, nodes: int | None = None
) -> list[str]:
    points = figures.points(impls, m=m, nodes=nodes)
    times = figures.points(impls, m=m, nodes=nodes, wall_clock=True)
    columns = sorted({x for line in points.values() for x, _ in line})
    lines = [f"| {title}, by {over} | " + " | ".join(f"{x}" for x in columns) + " |", "|---|" + "---:|" * len(columns)]
    for impl, line in points.items():
        cells = []
        for x in columns:
            found = dict(line).get(x)
            cells.append("" if found is None else f"{found:,.0f} ({_time(dict(times.get(impl, [])).get(x))})")
        lines.append(f"| `{impl}` | " + " | ".join(cells) + " |")
    return [*lines, ""]


def _time(microseconds: float | None) -> str:
    if microseconds is None:
        return "–"
    return f"{microseconds:.2f} µs" if microseconds < 10 else f"{microseconds:.0f} µs"


def plot_side_by_side(results: Row, folder: Path) -> list[Path]:
    """Draw prefix and broadcast, cycles beside wall-clock time; gives the files."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "pointsman"
    import matplotlib.pyplot as plt

    figures = Figures(results)
    folder.mkdir(parents=True, exist_ok=True)
    panels: dict[str, list[tuple[str, str, Sequence[str], dict[str, int], bool]]] = {
        "prefix": [
            ("prefix, one word (8-4)", "nodes", PREFIX, {"m": 1}, False),
            ("prefix, 8×8 (8-5)", "words", PREFIX, {"nodes": 64}, False),
        ],
        "broadcast": [
            ("broadcast, one word (8-6)", "nodes", BROADCAST, {"m": 1}, False),
            (f"broadcast, {LONG} words (8-7)", "nodes", BROADCAST, {"m": LONG}, True),
        ],
    }
    written = []
    for kind, drawn in panels.items():
        figure, axes = plt.subplots(2, 2, figsize=(9, 7), layout="constrained")
        for row, (title, over, impls, fixed, steep) in enumerate(drawn):
            for column, wall_clock in enumerate((False, True)):
                axis = axes[row][column]
                lines = figures.points(impls, m=fixed.get("m"), nodes=fixed.get("nodes"), wall_clock=wall_clock)
                for impl, line in lines.items():
                    style = "--" if impl.startswith("dyn_") else "-"
                    axis.plot(*zip(*line, strict=True), style, marker="o", markersize=4, label=impl)
                # One message to each node goes off the scale, as in the thesis.
                others = [y for impl, line in lines.items() if impl != "dyn_bcast" for _, y in line]
                axis.set_ylim(0, 1.1 * max(others, default=1.0))
                if steep:
                    axis.set_xscale("log", base=2)
                axis.set_xlabel(over)
                axis.set_ylabel("microseconds" if wall_clock else "cycles")
                axis.set_title(title)
                if lines:
                    axis.legend(fontsize="small")
        path = folder / f"operators_vs_packet_{kind}.svg"
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        written.append(path)
    return written
