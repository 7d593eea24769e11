"""A document for other viewers: a trace for Perfetto, and a timetable for the viewer of tt-npe (npeviz).

Perfetto knows no cycles: one cycle is written as 1 ns, and the tracks say so. npeviz knows whole transfers on two rings of links
a row and column: links to the east and south are its NOC0, those to the west and north its NOC1.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from pointsman.errors import PointsmanError

from .document import Document, Run

UNIT = "1 cycle = 1 ns"
_MICROSECONDS = 1e-3
"""A cycle in the trace's own unit of time."""
PROGRAM, WORDS, LINKS = range(3)
"""Tracks of a node."""


def perfetto_text(document: Document) -> str:
    """The run as a trace in Chrome's format: a process a node, with its activities and its words; a word is an arrow from the
    processor that writes it to each that reads it. Without a run: a period of each phase, a word a slice on the link's track.

    Raises
    ------
    PointsmanError
        If it is a run of an optical network, which has no processors, or phases of connections.
    """
    if document.phased is not None:
        raise PointsmanError("Perfetto is shown programs, and these are phases of connections")
    if document.optical:
        raise PointsmanError("Perfetto is shown programs, and these are messages of an optical network")
    rows = list(_of_run(document, document.run)) if document.run is not None else list(_of_timetable(document))
    plain = {"displayTimeUnit": "ns", "otherData": {"unit": UNIT, "title": document.title}, "traceEvents": rows}
    return json.dumps(plain, separators=(",", ":")) + "\n"


def _name(what: str, node: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": node, "tid": track, "args": {"name": name}}


def _slice(node: int, track: int, name: str, start: float, cycles: float, **said: Any) -> dict[str, Any]:
    time = {"ts": round(start * _MICROSECONDS, 6), "dur": round(cycles * _MICROSECONDS, 6)}
    return {"ph": "X", "name": name, "cat": "pointsman", "pid": node, "tid": track, **time, "args": said}


def _of_run(document: Document, run: Run) -> Iterator[dict[str, Any]]:
    for node in range(document.network.nodes):
        yield _name("process_name", node, 0, f"node {node}")
        yield {"ph": "M", "name": "process_sort_index", "pid": node, "tid": 0, "args": {"sort_index": node}}
        yield _name("thread_name", node, PROGRAM, f"program ({UNIT})")
        yield _name("thread_name", node, WORDS, f"words ({UNIT})")
    names = [phase.name for phase in document.phases]
    for node, start, end, doing, phase, cycles in run.spans:
        spent = {name: count for name, count in zip(run.categories, cycles, strict=True) if count}
        where = {"phase": names[phase]} if 0 <= phase < len(names) else {}
        yield _slice(node, PROGRAM, run.activities[doing], start, end - start, **where, **spent)
    flow = 0
    for number, wrote, reads in run.words:
        stream = document.streams[number]
        operator = document.operators[stream.operator].label if stream.operator >= 0 else ""
        yield _slice(stream.source, WORDS, f"write {stream.name}", wrote, 1, operator=operator)
        for place, read, due in reads:
            node = stream.destinations[place][0]
            said = {"operator": operator, "measured": read} | ({"predicted": due} if due else {})
            yield _slice(node, WORDS, f"read {stream.name}", read, 1, **said)
            flow += 1
            arrow = {"name": "word", "cat": "word", "id": flow, "tid": WORDS}
            yield {"ph": "s", "pid": stream.source, "ts": round((wrote + 0.5) * _MICROSECONDS, 6), **arrow}
            yield {"ph": "f", "bp": "e", "pid": node, "ts": round((read + 0.5) * _MICROSECONDS, 6), **arrow}


def _of_timetable(document: Document) -> Iterator[dict[str, Any]]:
    links = document.network.links
    used = sorted({link for stream in document.streams for way in stream.ways for link, _, _ in way.steps})
    for link in used:
        u, v = links[link]
        yield _name("process_name", u, 0, f"node {u}")
        yield _name("thread_name", u, LINKS + link, f"link {u} → {v} ({UNIT})")
    flow = 0
    for stream in document.streams:
        begins = max(0, stream.phase) * document.period
        for way in stream.ways:
            for link, after, before in way.steps:
                time = begins + way.start + after
                yield _slice(links[link][0], LINKS + link, stream.name, time, 1, slot=time % document.period)
                if before >= 0:
                    came, sent = way.steps[before][0], begins + way.start + way.steps[before][1]
                    flow += 1
                    arrow = {"name": "word", "cat": "word", "id": flow}
                    start = {"pid": links[came][0], "tid": LINKS + came, "ts": round((sent + 0.5) * _MICROSECONDS, 6)}
                    end = {"pid": links[link][0], "tid": LINKS + link, "ts": round((time + 0.5) * _MICROSECONDS, 6)}
                    yield {"ph": "s", **start, **arrow}
                    yield {"ph": "f", "bp": "e", **end, **arrow}


def npeviz_text(document: Document) -> str:
    """A period of each phase as the JSON that the viewer of tt-npe reads, a slot a time step.

    Raises
    ------
    PointsmanError
        If the network is not a mesh or torus of one or two dimensions, or there is no timetable.
    """
    net = document.network
    if net.kind not in ("mesh", "torus") or len(net.size) > 2:
        size = f"{'x'.join(map(str, net.size))} " if len(net.size) > 2 else ""
        raise PointsmanError(f"npeviz draws a mesh of rows and columns, not a {size}{net.kind}")
    if not document.period or not any(stream.ways for stream in document.streams):
        raise PointsmanError("npeviz draws timetables, and there is none")
    columns, rows = net.size[0], (net.size[1] if len(net.size) > 1 else 1)
    slots = document.period * max(1, len(document.phases))
    places = [[node // columns, node % columns] for node in range(net.nodes)]
    transfers: list[dict[str, Any]] = []
    active: list[list[int]] = [[] for _ in range(slots)]
    demand: list[dict[tuple[int, int, str], int]] = [defaultdict(int) for _ in range(slots)]
    for stream in document.streams:
        begins = max(0, stream.phase) * document.period
        for way in stream.ways:
            number = len(transfers)
            hops = [(*net.links[link], begins + (way.start + after) % document.period) for link, after, _ in way.steps]
            if not hops:
                continue
            route = [(places[u][0], places[u][1], _direction(places[u], places[v])) for u, v, _ in hops]
            for (_, _, slot), (row, column, direction) in zip(hops, route, strict=True):
                active[slot].append(number)
                demand[slot][row, column, direction] += 100
            transfers.append(
                {
                    "id": number,
                    "src": places[stream.source],
                    "dst": [places[node] for node, _ in stream.destinations],
                    "total_bytes": int(net.shape.get("width", 32)) // 8,
                    "noc_event_type": stream.name,
                    "noc_type": route[0][2][:4],
                    "injection_rate": 1.0,
                    "start_cycle": min(slot for _, _, slot in hops),
                    "end_cycle": max(slot for _, _, slot in hops) + 1,
                    "route": route,
                }
            )
    mean = [sum(one.values()) / max(1, len(net.links)) for one in demand]
    common = {
        "device_name": document.title,
        "cycles_per_timestep": 1,
        "congestion_model_name": "none",
        "num_rows": rows,
        "num_cols": columns,
        "dram_bw_util": 0.0,
        "link_util": sum(mean) / slots,
        "link_demand": sum(mean) / slots,
        "max_link_demand": max(mean),
    }
    steps = [
        {
            "start_cycle": slot,
            "end_cycle": slot + 1,
            "active_transfers": sorted(set(active[slot])),
            "link_demand": [[row, column, name, share] for (row, column, name), share in sorted(demand[slot].items())],
            "avg_link_demand": mean[slot],
            "avg_link_util": mean[slot],
        }
        for slot in range(slots)
    ]
    plain = {"common_info": common, "noc_transfers": transfers, "timestep_data": steps}
    return json.dumps(plain, separators=(",", ":")) + "\n"


def _direction(here: list[int], there: list[int]) -> str:
    """The viewer's name of a link; one that closes a ring of a torus goes on in its direction."""
    down, right = there[0] - here[0], there[1] - here[1]
    if down == 0:
        return "NOC0_EAST" if right == 1 or right < -1 else "NOC1_WEST"
    return "NOC0_SOUTH" if down == 1 or down < -1 else "NOC1_NORTH"
