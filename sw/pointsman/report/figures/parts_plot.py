"""Pictures of a mesh over processors: its parts with the network nodes that they are on, and the links of each phase."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pointsman.artifacts.channels.channels import ChannelRoute, PhasedConnections
from pointsman.files import check_writable
from pointsman.network import Topology

from .route_plot import check_plot_name, write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PHASES = 5
"""Phases that are drawn."""


def plot_parts(
    points: np.ndarray,
    elements: np.ndarray,
    part_of: np.ndarray,
    node_of: np.ndarray,
    answer: PhasedConnections,
    path: Path,
) -> None:
    """Draw the mesh (``points[node]``, ``elements[element]``) coloured by part with the network node of each, and for each phase
    of the exchange how many connections are on each link. Meshes in three dimensions are seen from above."""
    check_plot_name(path)
    check_writable(path)
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "pointsman"}):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        shown = answer.phases[:MOST_PHASES]
        figure = Figure(figsize=(5 + 4 * len(shown), 5), layout="constrained")
        FigureCanvasAgg(figure)
        first, *others = np.atleast_1d(figure.subplots(1, 1 + len(shown), width_ratios=(1.25, *(1 for _ in shown))))
        _draw_mesh(first, points, elements, part_of, node_of)
        most = max((max(loads(routes).values(), default=0) for routes in answer.phases), default=0)
        for number, (axes, routes) in enumerate(zip(others, shown, strict=True)):
            _draw_links(axes, answer.problem.topology, routes, most)
            axes.set_title(f"phase {number}: {len(routes)} connections")
        figure.suptitle(f"{len(node_of)} parts, {len(answer.phases)} phases; link: connections on it, most {most}")
        write_figure(figure, path)


def loads(routes: Sequence[ChannelRoute]) -> Counter[tuple[int, int]]:
    """Connections on each directed link."""
    return Counter(hop for route in routes for hop in pairwise(route.path))


def _draw_mesh(axes: Axes, points: np.ndarray, elements: np.ndarray, part_of: np.ndarray, node_of: np.ndarray) -> None:
    from matplotlib import colormaps
    from matplotlib.collections import PolyCollection

    colours = colormaps["tab20"](np.arange(len(node_of)) * 7 % 20 / 19)
    corners = points[elements][:, :, :2]
    flat = points.shape[1] == 2
    faces = PolyCollection(
        list(corners if flat else corners[:, -4:]),
        facecolors=colours[part_of],
        edgecolors="black" if flat else "none",
        linewidths=0.15,
    )
    faces.set_alpha(0.8 if flat else 0.25)
    axes.add_collection(faces)
    for part, node in enumerate(node_of.tolist()):
        x, y = corners[part_of == part].mean(axis=(0, 1))
        axes.annotate(str(node), (x, y), ha="center", va="center", fontsize=8, fontweight="bold")
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title("parts, with their network nodes")


def _draw_links(axes: Axes, topology: Topology, routes: Sequence[ChannelRoute], most: int) -> None:
    from matplotlib.collections import LineCollection

    places = _places(topology)
    segments, values = [], []
    for (u, v), count in sorted(loads(routes).items()):
        a, b = places[u], places[v]
        along = b - a
        if np.abs(along).max() > 1 and topology.has_coordinates:  # round the edge of a torus: a stub
            along = -along / np.abs(along).max() * 0.4
            b = a + along
        aside = np.array([-along[1], along[0]]) / (np.hypot(*along) or 1.0) * 0.08
        segments.append((a + aside, b + aside))
        values.append(count)
    lines = LineCollection(segments, cmap="viridis_r", linewidths=3)
    lines.set_array(np.array(values))
    lines.set_clim(0, max(most, 1))
    axes.add_collection(lines)
    axes.plot(places[:, 0], places[:, 1], "o", color="black", markersize=3)
    for node, (x, y) in enumerate(places):
        axes.annotate(str(node), (x, y), (3, -3), textcoords="offset points", fontsize=7, va="top")
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.set_axis_off()


def _places(topology: Topology) -> np.ndarray:
    """Where network nodes are drawn, in a plane."""
    if topology.has_coordinates:
        places = np.array([(*topology.coordinates(node), 0, 0)[:3] for node in range(topology.nodes)], float)
        return places[:, :2] + 0.33 * places[:, 2:] * np.array([1.0, -1.0])
    angle = 2 * np.pi * np.arange(topology.nodes) / max(1, topology.nodes)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)
