"""A run as a file of events: JSON lines, or a trace that Chrome and Perfetto show.

In the trace every node is a process with three tracks: its phases, its program's activities, and its words. Perfetto knows no
cycles: a cycle is written as 1 ns, and the tracks say so. A word's way from the processor that writes it to its readers is a
flow, drawn as an arrow.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
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
    sources = _sources(images, record)
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
    sources = _sources(images, record)
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


def _sources(images: Images, record: Record) -> dict[int, int]:
    """For each read event the write event whose word it got, both as indices in ``record.events``.

    The images' promises say which registers can send to a register. A read is matched with the earliest write to these
    that has the same word and that the reader has not been given yet.
    """
    assert record.events is not None
    ways: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for promise in images.promises:
        for end in promise.destinations:
            ways[promise.source, promise.register].add(end)
    waiting: dict[tuple[int, int, int], deque[int]] = defaultdict(deque)
    found: dict[int, int] = {}
    for number, (_, node, register, write, word) in enumerate(record.events.tolist()):
        if write:
            for end in ways.get((node, register), ()):
                waiting[(*end, word)].append(number)
        elif queue := waiting.get((node, register, word)):
            found[number] = queue.popleft()
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
