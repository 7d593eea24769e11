"""Views of a document on paper: the network with its loads, space and time, processors, slots × ports; by matplotlib."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.report.figures.route_plot import write_figure

from .document import Document, Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#A08A00", "#555555")
"""Okabe and Ito, the yellow darker, for lines on white."""
KINDS = {
    "cpu": "#BBBBBB",
    "write": "#E69F00",
    "read": "#56B4E9",
    "psync": "#D55E00",
    "router": "#009E73",
    "reprog": "#CC79A7",
    "online": "#F0E442",
}
"""Colours of what processors spend their cycles on."""
MOST_LINKS = 120
"""Links in the diagram of space and time; of more the first that streams use."""
ENDINGS = ("png", "svg")

View = Callable[["Axes", Document, int], None]


def write_figures(document: Document, folder: Path, ending: str) -> list[Path]:
    """Write each view that the document has into ``folder``, which is made if it is not there; space and time for each phase.

    Raises
    ------
    PointsmanError
        If the folder cannot be made or a file cannot be written.
    """
    import matplotlib as mpl

    if ending not in ENDINGS:
        raise PointsmanError(f"a figure must end in {' or '.join(ENDINGS)}, not {ending!r}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        with mpl.rc_context({"svg.hashsalt": "pointsman", "font.size": 8, "svg.fonttype": "none"}):
            for name, view, number in _views(document):
                paths.append(folder / f"{name}.{ending}")
                _write(document, view, number, paths[-1])
    except OSError as error:
        raise PointsmanError(f"cannot write {folder}: {error.strerror or error}") from None
    return paths


def _write(document: Document, view: View, number: int, path: Path) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, 4.6), layout="constrained")
    FigureCanvasAgg(figure)
    view(figure.subplots(), document, number)
    write_figure(figure, path, dpi=200)


def _views(document: Document) -> list[tuple[str, View, int]]:
    found: list[tuple[str, View, int]] = []
    if document.network.links:
        found.append(("network", draw_network, 0))
    for phase in range(max(1, len(document.phases))):
        if document.period and any(s.ways and max(0, s.phase) == phase for s in document.streams):
            named = f"-{phase}" if len(document.phases) > 1 else ""
            found.append((f"space-time{named}", draw_space_time, phase))
    if document.run is not None and document.run.spans:
        found.append(("processors", draw_processors, 0))
    found += [
        (f"switch-{number}" if len(document.tables) > 1 else "switch", draw_table, number)
        for number, table in enumerate(document.tables)
        if table.rows
    ]
    found += [(f"channels-{one.name}", draw_channels, number) for number, one in enumerate(document.optical)]
    if document.optical:
        found.append(("delays", draw_delays, 0))
    if document.active is not None:
        found.append(("messages", draw_messages, 0))
    return found


def draw_messages(axes: Axes, document: Document, _: int) -> None:
    """Active messages that each node handled, by time."""
    assert document.active is not None
    table = np.array(document.active.handled, float)
    end = table.shape[1] * document.active.slice_cycles
    image = axes.imshow(
        table, aspect="auto", interpolation="nearest", cmap="Blues", extent=(0, end, len(table) - 0.5, -0.5)
    )
    assert axes.figure is not None
    axes.figure.colorbar(image, ax=axes, shrink=0.7, label=f"messages in {document.active.slice_cycles:.3g} cycles")
    axes.set_xlabel("cycle")
    axes.set_ylabel("node")
    axes.set_title(document.title)


def draw_network(axes: Axes, document: Document, _: int) -> None:
    """Nodes, and two arrows a pair of neighbours coloured by the words that crossed them, in the run or in a period of each
    phase."""
    from matplotlib.colors import LinearSegmentedColormap, Normalize
    from matplotlib.patches import Rectangle

    net, run = document.network, document.run
    words = np.zeros(len(net.links))
    if run is not None and run.load:
        words = np.array([sum(row) for row in run.load], float)
    elif document.optical:
        words = _packets(document)
    elif document.phased is not None:
        number = {pair: index for index, pair in enumerate(net.links)}
        for route in document.phased.routes:
            for hop in pairwise(route[3]):
                words[number[hop]] += 1
    else:
        for stream in document.streams:
            for way in stream.ways:
                for link, _, _ in way.steps:
                    words[link] += 1
    colours = LinearSegmentedColormap.from_list("load", ["#DCE9F5", "#56B4E9", "#0072B2", "#002850"])
    norm = Normalize(0, max(1.0, float(words.max(initial=0))))
    places = np.array(net.places, float)
    for (u, v), count in zip(net.links, words, strict=True):
        along = places[v] - places[u]
        length = float(np.hypot(*along)) or 1.0
        far = net.kind == "torus" and length > 1.5
        unit = -along / length if far else along / length
        aside = np.array([-unit[1], unit[0]]) * 0.07
        start = places[u] + unit * 0.2 + aside
        end = (places[u] + unit * 0.6 if far else places[v] - unit * 0.2) + aside
        style = {"arrowstyle": "-|>", "lw": 1.6, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 7}
        colour = colours(norm(count)) if count else "#E6E6E6"
        axes.annotate("", end, start, arrowprops={**style, "color": colour})
    for node, (x, y) in enumerate(net.places):
        colour = "#BBBBBB" if node in net.dead else "white"
        axes.add_patch(Rectangle((x - 0.18, y - 0.18), 0.36, 0.36, facecolor=colour, edgecolor="#444444", lw=0.8))
        axes.text(x, y, str(node), ha="center", va="center", fontsize=6, zorder=4)
    from matplotlib.cm import ScalarMappable

    assert axes.figure is not None
    axes.figure.colorbar(
        ScalarMappable(norm, colours),
        ax=axes,
        shrink=0.7,
        label=_said_of_loads(document),
    )
    low, high = places.min(axis=0), places.max(axis=0)
    axes.set_xlim(low[0] - 0.6, high[0] + 0.6)
    axes.set_ylim(high[1] + 0.6, low[1] - 0.6)
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.set_title(document.title)


def _said_of_loads(document: Document) -> str:
    if document.optical:
        return f"messages whose connection or packet was on the link, {document.optical[0].name}"
    if document.phased is not None:
        return "connections of all phases"
    if document.run is not None and document.run.load:
        return "words of the run"
    return "words in a period of each phase"


def _packets(document: Document) -> np.ndarray:
    """Connections, or packets that hop, on each link; in the first mode."""
    first = document.optical[0]
    number = {pair: index for index, pair in enumerate(document.network.links)}
    found = np.zeros(len(number))
    for row in first.held:
        link = number.get(first.ends[row[0]])
        if link is not None and row[4] >= 0:
            found[link] += 1
    for row in first.hops:
        found[first.ways[row[0]]] += 1
    return found


def draw_channels(axes: Axes, document: Document, number: int) -> None:
    """Links and ports down, a lane a channel; slots across. Locked channels are hatched. Packets that hop: when each was sent."""
    from matplotlib.patches import Patch

    one = document.optical[number]
    rows = list(dict.fromkeys([row[0] for row in one.held] + [row[0] for row in one.hops]))[:MOST_LINKS]
    place = {end: index for index, end in enumerate(rows)}
    lanes = max([row[1] + 1 for row in one.held], default=1)
    locked, made = [], []
    for end, channel, _, begin, established, freed in one.held:
        if end in place:
            stop = one.slots if freed < 0 else freed
            middle = stop if established < 0 else established
            low = place[end] + 0.05 + 0.9 * channel / lanes
            locked.append((begin, middle - begin, low))
            made.append((middle, stop - middle, low))
    for bars, style in (
        (locked, {"facecolor": "#F5D48C", "hatch": "////", "edgecolor": "#7A5200", "linewidth": 0.0}),
        (made, {"facecolor": "#0072B2", "linewidth": 0.0}),
    ):
        kept = [bar for bar in bars if bar[1] > 0]
        if kept:
            begins, wides, lows = map(list, zip(*kept, strict=True))
            drawn = axes.bar(begins, 0.9 / lanes, wides, lows, align="edge")
            for bar in drawn:
                bar.set(**style)
    sent = [(row[5], place[row[0]] + 0.5) for row in one.hops if row[0] in place]
    if sent:
        axes.plot(*zip(*sent, strict=True), "|", color="#0072B2", ms=3)
    axes.set_xlim(0, max(1, one.slots))
    axes.set_ylim(max(1, len(rows)), 0)
    every = max(1, len(rows) // 40)
    axes.set_yticks(
        [index + 0.5 for index in range(0, len(rows), every)], [_end(one.ends[end]) for end in rows[::every]]
    )
    axes.tick_params(axis="y", labelsize=6)
    axes.set_xlabel("slot")
    handles = (
        [Patch(facecolor="#F5D48C", hatch="////", edgecolor="#7A5200", label="locked")]
        if any(b[1] for b in locked)
        else []
    )
    handles.append(Patch(facecolor="#0072B2", label="established" if one.held else "sent"))
    axes.legend(handles=handles, ncols=2, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def _end(ends: tuple[int, int]) -> str:
    source, destination = ends
    return (
        f"receiver {destination}"
        if source < 0
        else f"sender {source}"
        if destination < 0
        else f"{source} → {destination}"
    )


def draw_delays(axes: Axes, document: Document, _: int) -> None:
    """The share of messages that are there within a delay, a line a mode."""
    for index, one in enumerate(document.optical):
        if one.quantiles:
            shares = np.linspace(0, 1, len(one.quantiles))
            axes.plot(np.array(one.quantiles) + 1, shares, color=COLOURS[index], label=one.name, drawstyle="steps-post")
    axes.set_xscale("log")
    axes.set_xlabel("slots from ready until all packets are there, and 1")
    axes.set_ylabel("share of messages")
    axes.legend()


def draw_space_time(axes: Axes, document: Document, phase: int) -> None:
    """Links down, slots of two periods across, words as lines; operators in their first states."""
    streams = [
        (index, stream)
        for index, stream in enumerate(document.streams)
        if max(0, stream.phase) == phase and (not stream.values or 0 in stream.values)
    ]
    longest = sorted(streams, key=lambda one: (-max((len(way.steps) for way in one[1].ways), default=0), one[0]))
    rows: dict[int, int] = {}
    for _, stream in longest:
        for way in stream.ways:
            for link, _, _ in sorted(way.steps, key=lambda step: step[1]):
                if len(rows) < MOST_LINKS:
                    rows.setdefault(link, len(rows))
    period = document.period
    for index, stream in streams:
        colour = COLOURS[index % len(COLOURS)]
        for way in stream.ways:
            for turn in (-1, 0, 1):
                start = way.start + turn * period
                for link, after, before in way.steps:
                    if link not in rows:
                        continue
                    x = start + after
                    axes.plot([x + 0.15, x + 0.85], [rows[link]] * 2, color=colour, lw=1.4, solid_capstyle="round")
                    came = way.steps[before] if before >= 0 else None
                    if came is not None and came[0] in rows:
                        ends = [start + came[1] + 0.85, x + 0.15]
                        axes.plot(ends, [rows[came[0]], rows[link]], color=colour, lw=1.0)
                    elif came is None:
                        axes.plot(x + 0.12, rows[link], "o", mfc="white", mec=colour, ms=3, mew=0.9)
                for _, after, step in way.arrivals:
                    if step >= 0 and way.steps[step][0] in rows:
                        row = rows[way.steps[step][0]]
                        axes.plot(
                            [start + way.steps[step][1] + 0.85, start + after], [row, row], ":", color=colour, lw=0.7
                        )
                        axes.plot(start + after, rows[way.steps[step][0]], "s", color=colour, ms=2.5)
    for border in (0, period, 2 * period):
        axes.axvline(border, color="#333333", lw=0.9, ls="--")
    axes.set_xlim(0, 2 * period)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    names = [f"{document.network.links[link][0]} → {document.network.links[link][1]}" for link in rows]
    every = max(1, len(names) // 40)
    axes.set_yticks(range(0, len(names), every), names[::every], fontsize=6)
    step = max(1, period // 8)
    slots = range(0, period, step)  # each period begins with slot 0
    axes.set_xticks([first + slot + 0.5 for first in (0, period) for slot in slots], [str(slot) for slot in slots] * 2)
    axes.set_xlabel(f"slot of {period}, two periods")
    named = f"phase {document.phases[phase].name}" if document.phases else document.title
    axes.set_title(f"{named}: ○ written, ■ can be read")


def draw_processors(axes: Axes, document: Document, _: int) -> None:
    """A row a node, a bar an activity, filled in proportion to what its cycles were spent on."""
    from matplotlib.patches import Patch

    run = document.run
    assert run is not None
    for kind, name in enumerate(run.categories):
        bars = _parts(run, kind)
        if bars:
            left, wide, low, tall = map(list, zip(*bars, strict=True))
            axes.bar(left, tall, wide, low, align="edge", color=KINDS.get(name, "#CCCCCC"), linewidth=0)
    axes.set_xlim(0, run.cycles)
    axes.set_ylim(document.network.nodes, 0)
    every = max(1, document.network.nodes // 24)
    numbers = range(0, document.network.nodes, every)
    axes.set_yticks([node + 0.5 for node in numbers], [str(node) for node in numbers])
    axes.set_ylabel("node")
    axes.set_xlabel("cycle")
    used = [name for kind, name in enumerate(run.categories) if any(row[kind] for row in run.per_node)]
    handles = [Patch(color=KINDS.get(name, "#CCCCCC"), label=name) for name in used]
    axes.legend(handles=handles, ncols=len(handles) or 1, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)


def _parts(run: Run, kind: int) -> list[tuple[float, float, float, float]]:
    """Left, width, lower edge and height of the bars of a kind of cycles."""
    found = []
    for node, start, end, _, _, cycles in run.spans:
        if cycles[kind]:
            below = sum(cycles[:kind]) / (end - start)
            share = cycles[kind] / (end - start)
            found.append((float(start), float(end - start), node + 0.95 - 0.9 * below, -0.9 * share))
    return found


def draw_table(axes: Axes, document: Document, number: int) -> None:
    """Slots down, input ports across, the output in each cell."""
    table, ports = document.tables[number], document.network.nodes
    for slot, row in enumerate(table.rows):
        for source, destination in row:
            colour = COLOURS[destination % len(COLOURS)]
            axes.bar(source, 0.94, 0.94, slot - 0.47, color=colour, alpha=0.6)
            if ports <= 40:
                axes.text(source, slot, str(destination), ha="center", va="center", fontsize=6)
    axes.set_xlim(-0.5, ports - 0.5)
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    axes.set_xlabel("input port (in the cell: its output)")
    axes.set_ylabel("slot")
    if table.weights:
        axes.set_yticks(range(len(table.weights)), [f"{weight:g}" for weight in table.weights])
        axes.set_ylabel("duration")
    axes.set_title(table.name)
