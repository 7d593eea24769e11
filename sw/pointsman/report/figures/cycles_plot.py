"""Cycles of each node by category, as stacked bars: the picture of a run in a notebook."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np

COLOURS = {
    "cpu": "#999999",
    "write": "#0072b2",
    "read": "#56b4e9",
    "psync": "#d55e00",
    "router": "#009e73",
    "reprog": "#e69f00",
    "online": "#cc79a7",
}
"""Okabe and Ito's colours, which the colour-blind can tell apart."""


def cycles_svg(values: Mapping[str, Any]) -> str:
    """The picture as an SVG element.

    Parameters
    ----------
    values : mapping
        Plain values of a run: "per_node" has for each category the cycles of each node.
    """
    import matplotlib as mpl

    with mpl.rc_context({"svg.hashsalt": "pointsman", "svg.fonttype": "none"}):
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import MaxNLocator

        figure = Figure(figsize=(9, 3), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots()
        per_node = {name: np.array(cycles) for name, cycles in values["per_node"].items() if any(cycles)}
        nodes = len(next(iter(values["per_node"].values())))
        below = np.zeros(nodes, np.int64)
        for name, cycles in per_node.items():
            axes.bar(np.arange(nodes), cycles, bottom=below, width=0.9, label=name, color=COLOURS.get(name))
            below += cycles
        axes.set(xlabel="node", ylabel="cycles", title=f"{values['total_cycles']:,} cycles")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        if per_node:
            axes.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]
