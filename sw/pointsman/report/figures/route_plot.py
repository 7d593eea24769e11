"""Pictures of a routed problem: the load of each link, and the word that each link carries in each slot."""

from __future__ import annotations

import io
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole
from pointsman.network.lattice import MAX_DIAMOND, diamond_positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from pointsman.artifacts.routes.routes import RouteProblem, RouteResult

ENDINGS = (".png", ".svg", ".pdf")
MAX_NUMBERS = 400
"""Nodes up to which each has its number in the picture."""
MAX_LEGEND = 20
"""Streams up to which a legend names them: as many as there are colours."""
MAX_LINKS = 400
"""Links across the space-time diagram; of a larger network the busiest."""


def check_plot_name(path: Path) -> None:
    """Find out before long work whether ``path`` is a picture."""
    if path.suffix.lower() not in ENDINGS:
        raise PointsmanError(f"a plot must end in {', '.join(ENDINGS)}, not {path.name!r}")


def write_figure(figure: Figure, path: Path, **options: Any) -> None:
    """Write a figure as the picture that the ending of ``path`` says, whole or not at all, and the same each time.

    Raises
    ------
    PointsmanError
        If it cannot be written.
    """
    picture, ending = io.BytesIO(), path.suffix.lower()
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(ending)
    figure.savefig(picture, format=ending[1:], metadata=metadata, **options)
    write_whole(path, picture.getvalue())


def plot_route(problem: RouteProblem, result: RouteResult, path: Path) -> None:
    """Draw link load over the network, and slots (down) by links (across) coloured by stream."""
    check_plot_name(path)
    check_writable(path)
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "pointsman"}):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        figure = Figure(figsize=(13, 6.5), layout="constrained")
        FigureCanvasAgg(figure)
        left, right = figure.subplots(1, 2, width_ratios=(1, 1.3))
        grid = occupation(problem, result)
        _draw_load(left, problem, (grid >= 0).sum(axis=0) / result.period)
        _draw_slots(right, problem, result, grid)
        text = f"{len(problem.streams)} streams, {result.period} slots, {result.router} model"
        if result.bound is not None:
            text += f"; bound {result.bound.value:g} ({result.bound.kind})"
        figure.suptitle(text)
        write_figure(figure, path)


def occupation(problem: RouteProblem, result: RouteResult) -> np.ndarray:
    """The stream that each link carries in each slot, -1 for none. Shape (period, links)."""
    number = {link: index for index, link in enumerate(problem.links)}
    grid = np.full((result.period, len(number)), -1, np.int64)
    for index, stream in enumerate(result.streams):
        for word in stream.words:
            for before, slot, after, _, _ in word:
                if before is not None and after is not None and before != after:
                    grid[slot % result.period, number[before, after]] = index
    return grid


def _positions(problem: RouteProblem) -> np.ndarray:
    """Where nodes are drawn, in a plane. Shape (nodes, 2)."""
    topology = problem.topology
    if topology.kind in ("mesh", "torus"):
        places = np.array([(*topology.coordinates(node), 0, 0)[:3] for node in range(topology.nodes)], float)
        return places[:, :2] + 0.33 * places[:, 2:] * np.array([1.0, -1.0])
    if topology.kind == "diamond":
        for size in range(1, MAX_DIAMOND + 1):
            corners = diamond_positions(size)
            if len(corners) == topology.nodes:
                axes = np.array([(1, 0.2), (-0.5, 0.9), (-0.45, -0.8), (0.05, -0.4)])
                return np.array(corners, float) @ axes
    angle = 2 * np.pi * np.arange(topology.nodes) / max(1, topology.nodes)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def _draw_load(axes: Axes, problem: RouteProblem, load: np.ndarray) -> None:
    from matplotlib.collections import LineCollection

    places = _positions(problem)
    far = _wraps(problem)
    segments, values = [], []
    for (u, v), value in zip(problem.links, load, strict=True):
        a, b = places[u], places[v]
        along = b - a
        # Both directions of a pair side by side; a link round the edge as a stub.
        if (u, v) in far:
            along = -along / max(1.0, float(np.abs(along).max())) * 0.4
            b = a + along
        aside = np.array([-along[1], along[0]]) / (np.hypot(*along) or 1.0) * 0.07
        segments.append((a + aside, b + aside))
        values.append(value)
    lines = LineCollection(segments, cmap="viridis_r", linewidths=2.5)
    lines.set_array(np.array(values))
    lines.set_clim(0, 1)
    axes.add_collection(lines)
    axes.plot(places[:, 0], places[:, 1], "o", color="black", markersize=4)
    if problem.nodes <= MAX_NUMBERS:
        for node, (x, y) in enumerate(places):
            axes.annotate(str(node), (x, y), (4, -4), textcoords="offset points", fontsize=7, va="top")
    dead = sorted(problem.dead_nodes)
    axes.plot(places[dead, 0], places[dead, 1], "x", color="red", markersize=9)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.set_axis_off()
    axes.set_title("load of the links (words per slot); numbers: nodes" + ("; crosses: dead nodes" if dead else ""))
    if axes.figure is not None:
        axes.figure.colorbar(lines, ax=axes, shrink=0.7)


def _wraps(problem: RouteProblem) -> set[tuple[int, int]]:
    if problem.topology.kind != "torus":
        return set()
    place = problem.topology.coordinates
    return {(u, v) for u, v in problem.links if max(abs(a - b) for a, b in zip(place(u), place(v), strict=True)) > 1}


def _draw_slots(axes: Axes, problem: RouteProblem, result: RouteResult, grid: np.ndarray) -> None:
    from matplotlib.ticker import MaxNLocator

    shown = np.arange(grid.shape[1])
    if len(shown) > MAX_LINKS:
        busiest = Counter({int(link): int((grid[:, link] >= 0).sum()) for link in shown}).most_common(MAX_LINKS)
        shown = np.array(sorted(link for link, _ in busiest))
    part = grid[:, shown]
    # Neighbouring streams get colours that differ.
    coloured = np.ma.masked_less(_colour(part) * (part >= 0) - (part < 0), 0)
    if part.size:
        axes.imshow(coloured, aspect="auto", interpolation="nearest", cmap="tab20", vmin=0, vmax=19)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylabel("slot")
    which = "links" if len(shown) == grid.shape[1] else f"the {len(shown)} busiest of {grid.shape[1]} links"
    axes.set_xlabel(f"{which}, by the node that they leave")
    if len(shown) and len(shown) <= 40:
        axes.set_xticks(range(len(shown)), [f"{problem.links[link][0]}→{problem.links[link][1]}" for link in shown])
        axes.tick_params(axis="x", rotation=90, labelsize=7)
    if 0 < len(problem.streams) <= MAX_LEGEND:
        _add_legend(axes, problem)
    axes.set_title(f"what each link carries ({100 * (grid >= 0).mean() if grid.size else 0:.0f} % of the slots)")


def _colour(stream: np.ndarray) -> np.ndarray:
    """Number of the colour of a stream: neighbouring streams get colours that differ."""
    return np.asarray((stream * 7) % 20)


def _add_legend(axes: Axes, problem: RouteProblem) -> None:
    """Name the colour of each stream: source and destinations."""
    import matplotlib as mpl
    from matplotlib.patches import Patch

    colours = mpl.colormaps["tab20"]
    patches = []
    for index, stream in enumerate(problem.streams):
        ends = ", ".join(map(str, stream.destinations[:4])) + (" …" if len(stream.destinations) > 4 else "")
        colour = colours(int(_colour(np.array(index))))
        patches.append(Patch(color=colour, label=f"{stream.source} → {ends}"))
    axes.legend(
        handles=patches, title="stream", fontsize=7, loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.3
    )
