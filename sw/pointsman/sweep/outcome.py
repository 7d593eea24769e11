"""The table and the plot of a sweep's records."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.report.table import table

from .cases import Record

MEASURED = ("total_cycles",)
MEASURED_OPTICAL = ("delivered", "delay.mean", "throughput")
"""Columns of a table for which the file names none, besides what differs between the cases."""


def column(record: Record, name: str) -> Any:
    """The value of a column: an option of the case ("network", "arguments.size"), or a value of the run ("total_cycles",
    "categories.cpu", "seconds.run"); None if there is none."""
    if name in ("status", "error"):
        return record.get(name)
    for plain in (record["case"], record.get("values", {})):
        at: Any = plain
        for part in name.split("."):
            at = at.get(part) if isinstance(at, Mapping) else None
        if at is not None:
            return at
    return None


def differing(records: Sequence[Record]) -> list[str]:
    """Options in which the cases differ, as columns."""
    names = list(dict.fromkeys(name for record in records for name in _names(record["case"])))
    return [name for name in names if len({repr(column(record, name)) for record in records}) > 1]


def absent(records: Sequence[Record], columns: Sequence[str]) -> list[str]:
    """Those of the columns that no case has, of records of which one has values at least."""
    if not any("values" in record for record in records):
        return []
    return [name for name in columns if all(column(record, name) is None for record in records)]


def table_text(records: Sequence[Record], columns: Sequence[str] = ()) -> str:
    """A row for each case."""
    options = differing(records)
    optical = any("optical" in record["case"] for record in records)
    names = [*options, "status", *(columns or (MEASURED_OPTICAL if optical else MEASURED))]
    rows = [[_shown(column(record, name)) for name in names] for record in records]
    return table(names, rows)


def plot(records: Sequence[Record], axes: Mapping[str, str], path: Path) -> None:
    """Draw a column over another, a line for each value of a third, into a .png, .svg or .pdf file. Of several values at the
    same place of a line the greatest or least is taken if ``axes`` say so (take).

    Raises
    ------
    PointsmanError
        If no record has both columns, or the file cannot be written.
    """
    from pointsman.report.figures.route_plot import check_plot_name, write_figure

    check_plot_name(path)
    lines: dict[str, list[tuple[Any, float]]] = {}
    for record in records:
        x, y = column(record, axes["x"]), column(record, axes["y"])
        if x is not None and isinstance(y, int | float):
            by = str(column(record, axes["by"])) if "by" in axes else ""
            lines.setdefault(by, []).append((x, y))
    if not lines:
        raise PointsmanError(f"no case has both {axes['x']} and a number as {axes['y']}, so there is nothing to plot")
    if "take" in axes:
        lines = {name: _taken(points, max if axes["take"] == "greatest" else min) for name, points in lines.items()}
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "pointsman"}):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 4.5), layout="constrained")
        FigureCanvasAgg(figure)
        drawn = figure.subplots()
        if all(isinstance(x, int | float) for points in lines.values() for x, _ in points):
            lines = {name: sorted(points) for name, points in lines.items()}
        for name, points in lines.items():
            drawn.plot([_place(x) for x, _ in points], [y for _, y in points], marker="o", label=name)
        drawn.set(xlabel=axes["x"], ylabel=axes["y"])
        drawn.set_ylim(bottom=0)
        if "by" in axes:
            drawn.legend(title=axes["by"])
        write_figure(figure, path)


def _taken(points: Sequence[tuple[Any, float]], choose: Callable[[list[float]], float]) -> list[tuple[Any, float]]:
    """One point at each place."""
    places = {repr(x): x for x, _ in points}
    return [(x, choose([y for other, y in points if repr(other) == name])) for name, x in places.items()]


def _place(x: Any) -> Any:
    """Numbers as they are, other values by their text."""
    return x if isinstance(x, int | float) and not isinstance(x, bool) else str(x)


def _names(case: Mapping[str, Any]) -> list[str]:
    """Options by name, those in tables with dots between."""
    found = []
    for name, value in case.items():
        if isinstance(value, Mapping):
            found += [f"{name}.{inner}" for inner in _names(value)]
        else:
            found.append(name)
    return found


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.3f}" if abs(value) < 100 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
