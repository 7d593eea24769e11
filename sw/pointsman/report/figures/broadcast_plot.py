"""Plots and tables of broadcasts, in the form of Metcalf 1997, Figures 8-6 to 8-8: time over nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pointsman.errors import PointsmanError

from .page import put_between

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Row = dict[str, Any]
Points = Sequence[tuple[int, float]]
BEGIN, END = "<!-- broadcasts -->", "<!-- /broadcasts -->"
LINEAR, DENSE = "str_bcast_linear", "str_bcast_dense"


def curves(rows: Iterable[Row], key: str) -> dict[str, list[tuple[int, float]]]:
    """(nodes, value) by implementation, of square meshes."""
    found: dict[str, list[tuple[int, float]]] = {}
    for row in rows:
        if key in row:
            found.setdefault(row["implementation"], []).append((row["nodes"], float(row[key])))
    return {name: sorted(points) for name, points in found.items()}


def crossing(linear: Points, dense: Points) -> tuple[float, bool] | None:
    """Number of nodes from which a dense broadcast of a word beats a linear broadcast, and whether that was measured.

    If not, it is extrapolated: linear cycles fitted as a·n + b, dense cycles as c·√n + d. None if the fits never cross.
    """
    at = dict(dense)
    for nodes, cycles in linear:
        if nodes > 4 and nodes in at and cycles > at[nodes]:
            return float(nodes), True
    if len(linear) < 2 or len(dense) < 2:
        return None
    slope, base = np.polyfit([nodes for nodes, _ in linear], [cycles for _, cycles in linear], 1)
    growth, start = np.polyfit([sqrt(nodes) for nodes, _ in dense], [cycles for _, cycles in dense], 1)
    # slope·n + base = growth·√n + start, in √n.
    inside = growth * growth - 4 * slope * (base - start)
    if slope <= 0 or inside < 0:
        return None
    return float(((growth + sqrt(inside)) / (2 * slope)) ** 2), False


def broadcast_table(rows: Sequence[Row]) -> str:
    """Latency and cycles a word by implementation and mesh, as Markdown."""
    meshes = list(dict.fromkeys(row["mesh"] for row in sorted(rows, key=lambda row: row["nodes"])))
    lines = ["| | " + " | ".join(meshes) + " |", "|---|" + "---:|" * len(meshes)]
    for name in dict.fromkeys(row["implementation"] for row in rows):
        own = {row["mesh"]: row for row in rows if row["implementation"] == name}
        for key, text in (("latency", "latency"), ("cycles_per_word", "cycles a word")):
            cells = [_cell(own.get(mesh, {}).get(key), key) for mesh in meshes]
            lines.append(f"| `{name}`: {text} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(value: float | None, key: str) -> str:
    if value is None:
        return "–"
    return f"{value:.0f}" if key == "latency" else f"{value:.2f}"


def replace_broadcasts(page: str, rows: Sequence[Row]) -> str:
    """``page`` with the table between its marks replaced by that of ``rows``.

    Raises
    ------
    PointsmanError
        If the marks are not there.
    """
    return put_between(page, BEGIN, END, f"{broadcast_table(rows)}\n")


def plot_broadcasts(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Figures 8-6 and 8-7: cycles of a one-word broadcast, and cycles a word of long messages, by implementation."""

    def latency(axis: Axes) -> None:
        _lines(axis, curves(rows, "latency"))
        axis.set_ylabel("cycles until the last node has its word")

    def words(axis: Axes) -> None:
        _lines(axis, curves(rows, "cycles_per_word"))
        axis.set_ylabel("cycles a word")

    return [
        _draw(folder / "broadcast_latency.svg", "Broadcast of one word (Metcalf 1997, Figure 8-6)", latency),
        _draw(folder / "broadcast_bandwidth.svg", "Broadcast of long messages (Metcalf 1997, Figure 8-7)", words),
    ]


THESIS = 5.0
"""Cycles of a one-word broadcast done online over its cycles done natively, according to Metcalf 1997."""


def plot_online(rows: Sequence[Row], folder: Path) -> Path:
    """Figure 8-8: cycles of a dense one-word broadcast, online and native, on a logarithmic scale."""
    chosen = sorted((row for row in rows if row["job"] == "broadcast, 1 word"), key=lambda row: row["nodes"])
    if not chosen:
        raise PointsmanError("there is no broadcast of one word among the results of online routing")

    def draw(axis: Axes) -> None:
        online = [(row["nodes"], float(row["online"]["cycles"])) for row in chosen]
        native = [(row["nodes"], float(row["packet"]["cycles"])) for row in chosen if row["packet"]]
        published = [(nodes, THESIS * cycles) for nodes, cycles in native]
        curves = {
            "online, on scheduled routers": online,
            "native, on packet routers": native,
            "five times native (Metcalf 1997)": published,
        }
        _lines(axis, curves, log=True)
        axis.set_ylabel("cycles until the last node has its word")

    return _draw(folder / "online_broadcast.svg", "dyn_bcast_dense, one word (Metcalf 1997, Figure 8-8)", draw)


def _lines(axis: Axes, found: dict[str, list[tuple[int, float]]], *, log: bool = False) -> None:
    for name, points in found.items():
        if points:
            axis.plot(*zip(*points, strict=True), marker="o", label=name)
    if log:
        axis.set_yscale("log")
    else:
        axis.set_ylim(bottom=0)
    axis.legend(fontsize="small")


def _draw(path: Path, title: str, fill: Callable[[Axes], None]) -> Path:
    import matplotlib as mpl

    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "pointsman"}):
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.5, 4.2), layout="constrained")
        FigureCanvasSVG(figure)
        axis = figure.subplots()
        fill(axis)
        axis.set_xlabel("nodes")
        axis.set_title(title)
        figure.savefig(path, metadata={"Date": None})
    return path
