"""A run as a file of events: JSON lines, or a trace that Chrome and Perfetto show.

In the trace every node is a process with three tracks: its phases, its program's activities, and its words. Perfetto knows no
cycles: a cycle is written as 1 ns, and the tracks say so. A word's way from the processor that writes it to its readers is a
flow, drawn as an arrow.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from cosim.record import Record
from pointsman.artifacts.images.images import Images
from pointsman.runtime import Category

from .activities import Span

_CATEGORIES = [category.name.lower() for category in Category]
UNIT = "1 cycle = 1 ns"
_MICROSECONDS = 1e-3
"""A cycle in the trace's own unit of time."""
PHASES, PROGRAM, WORDS = range(3)
"""Tracks of a node."""


def trace_text(images: Images, record: Record, spans: list[Span], *, lines: bool) -> str:
    """The run as text: JSON lines if ``lines``, otherwise a JSON object in Chrome's format. The record must have events."""
    if lines:
        return "".join(json.dumps(event) + "\n" for event in trace_lines(images, record, spans))
    events = list(chrome_events(images, record, spans))
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"unit": UNIT}}) + "\n"


def trace_lines(images: Images, record: Record, spans: list[Span]) -> Iterator[dict[str, Any]]:
    """An object for each event, in order of time and node.

    ``{"time", "node", "event": "write" | "read", "register", "word", "operator"}``; a read has ``"from"``: node and time of
    the write, where it is known. ``{"time", "end", "node", "event": "activity", "activity", "phase", "cycles"}``.
    """
    events: list[dict[str, Any]] = []
    for span in spans:
        cycles = {name: count for name, count in zip(_CATEGORIES, span.cycles, strict=True) if count}
        events.append(
            {
                "time": span.start,
                "end": span.end,
                "node": span.node,
                "event": "activity",
                "activity": span.activity,
                "phase": _phase(images, span.phase),
                "cycles": cycles,
            }
        )
    assert record.events is not None
    sources = _sources(images, record, spans)
    for number, (time, node, register, write, word) in enumerate(record.events.tolist()):
        event = {"time": time, "node": node, "event": "write" if write else "read", "register": register, "word": word}
        if number in sources:
            made = record.events[sources[number]]
            event["from"] = {"node": int(made["node"]), "time": int(made["time"])}
        events.append(event)
    return iter(sorted(events, key=lambda event: (event["time"], event["node"])))


def chrome_events(images: Images, record: Record, spans: list[Span]) -> Iterator[dict[str, Any]]:
    """Events in Chrome's format."""
    assert record.events is not None
    for node in range(record.nodes):
        place = ", ".join(map(str, images.topology.coordinates(node)))
        yield _meta("process_name", node, 0, f"node {node} ({place})")
        yield {"ph": "M", "name": "process_sort_index", "pid": node, "tid": 0, "args": {"sort_index": node}}
        for track, name in ((PHASES, "phase"), (PROGRAM, "program"), (WORDS, "words")):
            yield _meta("thread_name", node, track, f"{name} ({UNIT})")
    for node, phase, start, end in _phases(spans):
        yield _slice(node, PHASES, _phase(images, phase), "phase", start, end - start, {})
    for span in spans:
        cycles = {name: count for name, count in zip(_CATEGORIES, span.cycles, strict=True) if count}
        yield _slice(span.node, PROGRAM, span.activity, "activity", span.start, span.end - span.start, cycles)
    sources = _sources(images, record, spans)
    readers: dict[int, list[int]] = defaultdict(list)
    for read, write in sources.items():
        readers[write].append(read)
    rows = record.events.tolist()
    for number, (time, node, register, write, word) in enumerate(rows):
        kind = "write" if write else "read"
        yield _slice(node, WORDS, f"{kind} {register}", kind, time, 1, {"register": register, "word": word})
        for read in readers.get(number, ()):
            flow = {"name": "word", "cat": "word", "id": read}
            yield {"ph": "s", "pid": node, "tid": WORDS, "ts": _time(time), **flow}
            yield {"ph": "f", "bp": "e", "pid": rows[read][1], "tid": WORDS, "ts": _time(rows[read][0]), **flow}


def _phases(spans: list[Span]) -> Iterator[tuple[int, int, int, int]]:
    """Node, phase, start, end, as long as a node stays in a phase."""
    current: list[int] | None = None
    for span in sorted(spans, key=lambda span: (span.node, span.start)):
        if current is not None and current[:2] == [span.node, span.phase] and current[3] == span.start:
            current[3] = span.end
            continue
        if current is not None:
            yield current[0], current[1], current[2], current[3]
        current = [span.node, span.phase, span.start, span.end]
    if current is not None:
        yield current[0], current[1], current[2], current[3]


def _sources(images: Images, record: Record, spans: list[Span]) -> dict[int, int]:
    """For each read event the write event whose word it got, both as indices in ``record.events``.

    The images' promises say to which registers words of a register go. A read is matched with an earlier write of the same word
    to a promise that leads there, both in functions of the promise's operator where that is known. Words of a promise
    keep their order, and each goes the way of one promise: when one end has read it, only ends of the same promise
    may. Of writes between which all this leaves a choice, it is the first.
    """
    assert record.events is not None
    events = record.events.tolist()
    calls = _operators(record, spans)
    program = {part: one.program.label for one in images.replaced for part in one.parts}
    labels = [program.get(index, operator.label) for index, operator in enumerate(images.operators)]
    called = set(calls)
    ways: dict[tuple[int, int], list[int]] = defaultdict(list)
    for index, promise in enumerate(images.promises):
        ways[promise.source, promise.register].append(index)
    waiting: dict[tuple[int, int], dict[tuple[int, int], list[int]]] = defaultdict(lambda: defaultdict(list))
    open_ways: dict[int, list[int]] = {}
    found: dict[int, int] = {}

    def fits(event: int, promise: int) -> bool:
        label = labels[images.promises[promise].operator]
        return label not in called or calls[event] in (None, label)

    for number, (time, node, register, write, word) in enumerate(events):
        place = node, register
        if write:
            open_ways[number] = [way for way in ways.get(place, ()) if fits(number, way)]
            for end in {end for way in open_ways[number] for end in images.promises[way].destinations}:
                waiting[end][place].append(number)
            continue
        chosen = None
        for queue in waiting[place].values():
            gone = 0
            while gone < len(queue) and not any(
                place in images.promises[way].destinations for way in open_ways[queue[gone]]
            ):
                gone += 1
            del queue[:gone]
            for at, made in enumerate(queue):
                if events[made][0] >= time or (chosen is not None and made > chosen[0]):
                    break
                ends = [w for w in open_ways[made] if place in images.promises[w].destinations and fits(number, w)]
                if events[made][4] == word and ends:
                    chosen = made, at, queue, ends
                    break
        if chosen is not None:
            made, at, queue, open_ways[made] = chosen
            # What was written before and has not come went elsewhere.
            del queue[: at + 1]
            found[number] = made
    return found


def _operators(record: Record, spans: list[Span]) -> list[str | None]:
    """For each event the operator whose I/O function the node was in; None: none. A load function may change the phase, with
    words of a barrier that goes over streams of other operators."""
    assert record.events is not None
    by_node: dict[int, list[Span]] = defaultdict(list)
    for span in sorted(spans, key=lambda span: (span.node, span.start, span.end)):
        by_node[span.node].append(span)
    starts = {node: [span.start for span in those] for node, those in by_node.items()}
    found: list[str | None] = []
    for time, node in zip(record.events["time"].tolist(), record.events["node"].tolist(), strict=True):
        at = bisect_right(starts.get(node, []), time) - 1
        current = by_node[node][at] if at >= 0 else None
        known = current is not None and time < current.end and not current.activity.endswith("_load")
        found.append(current.operator if current is not None and known else None)
    return found


def _phase(images: Images, phase: int) -> str:
    return images.phases[phase].name if phase >= 0 else "loader"


def _meta(what: str, node: int, track: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "name": what, "pid": node, "tid": track, "args": {"name": name}}


def _slice(
    node: int, track: int, name: str, kind: str, start: int, cycles: int, more: dict[str, Any]
) -> dict[str, Any]:
    place = {"pid": node, "tid": track, "ts": _time(start), "dur": _time(cycles)}
    return {"ph": "X", "name": name, "cat": kind, **place, "args": more}


def _time(cycle: int) -> float:
    return round(cycle * _MICROSECONDS, 3)
