"""What a run recorded, put into the document of its program: activities of processors, words from write to read, loads of links.

Takes a record with events and spans of activities, and a document whose streams say which registers are joined. A read is
matched with the earliest write of the same word on a stream that leads to it. Which links a word crossed in which cycle
follows from the cycle of its write and the timetable; the cycle of its read is measured.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from pointsman.report.run import CATEGORIES

from .document import Document, Run, Stream, Word

SLICES = 240
"""Slices of time in which loads are counted, unless the run has fewer cycles."""
MOST_WORDS = 40_000
"""Measured words that a document keeps at most, counted at each of their destinations."""
MOST_SPANS = 60_000
"""Activities that a document keeps; the shortest are left out first."""


class Activity(Protocol):
    """What a processor did between two cycles. Implemented by `cosim.numesh.activities.Span`."""

    @property
    def node(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def activity(self) -> str: ...
    @property
    def phase(self) -> int: ...
    @property
    def operators(self) -> tuple[str, ...]: ...
    @property
    def cycles(self) -> tuple[int, ...]: ...


class EventRecord(Protocol):
    """A run with its accesses. Implemented by `cosim.record.Record`."""

    @property
    def cycles(self) -> np.ndarray: ...
    @property
    def total_cycles(self) -> int: ...
    @property
    def events(self) -> np.ndarray | None: ...


class ShownRun(Protocol):
    """Results of a run on any machine."""

    @property
    def engine(self) -> str: ...
    @property
    def record(self) -> EventRecord: ...
    @property
    def correct(self) -> bool: ...
    @property
    def answer(self) -> str: ...


def run_of(done: ShownRun, spans: Sequence[Activity]) -> Run:
    """Cycles and activities of a run; words and loads are left empty."""
    record = done.record
    names = list(dict.fromkeys(span.activity for span in spans))
    number = {name: index for index, name in enumerate(names)}
    kept = sorted(spans, key=lambda span: span.start - span.end)[:MOST_SPANS]
    return Run(
        engine=done.engine,
        correct=done.correct,
        answer=done.answer,
        cycles=record.total_cycles,
        categories=list(CATEGORIES),
        per_node=[[int(count) for count in row] for row in record.cycles],
        activities=names,
        spans=[
            (span.node, span.start, span.end, number[span.activity], span.phase, list(span.cycles))
            for span in sorted(kept, key=lambda span: (span.node, span.start))
        ],
    )


def add_run(
    document: Document,
    done: ShownRun,
    spans: Sequence[Activity],
    *,
    by_operator: Mapping[Any, Mapping[str, float]] | None = None,
    by_phase: Mapping[Any, Mapping[str, float]] | None = None,
    most_words: int = MOST_WORDS,
) -> None:
    """Put a run on the mesh of scheduled routers into its document.

    Parameters
    ----------
    by_operator, by_phase : mapping, optional
        Cycles by category of each operator (its label) and phase (its number), mean over the nodes.
    """
    run = document.run = run_of(done, spans)
    for operator in document.operators:
        operator.measured = dict((by_operator or {}).get(operator.label, {}))
    for number, phase in enumerate(document.phases):
        phase.measured = dict((by_phase or {}).get(number, {}))
    if done.record.events is not None:
        timetables = [_Timetable(stream, document.period, document.first) for stream in document.streams]
        phases = _PhasesInTime(spans, document.network.nodes)
        labels = [operator.label for operator in document.operators]
        words = matched_words(document.streams, labels, timetables, done.record.events, phases)
        _add_words(document, run, words, timetables, most_words)


class _PhasesInTime:
    """Which phase runs at a node in a cycle, and which operators it uses."""

    def __init__(self, spans: Sequence[Activity], nodes: int) -> None:
        self.starts: list[list[int]] = [[] for _ in range(nodes)]
        self.spans: list[list[Activity]] = [[] for _ in range(nodes)]
        for span in sorted(spans, key=lambda span: (span.node, span.start)):
            self.starts[span.node].append(span.start)
            self.spans[span.node].append(span)

    def at(self, node: int, time: int) -> int:
        span = self._span(node, time)
        return -1 if span is None else span.phase

    def used(self, node: int, time: int) -> tuple[str, ...]:
        """Labels of the operators that the node uses."""
        span = self._span(node, time)
        return () if span is None else span.operators

    def _span(self, node: int, time: int) -> Activity | None:
        place = bisect_right(self.starts[node], time) - 1
        return self.spans[node][place] if place >= 0 else None


def matched_words(
    streams: Sequence[Stream],
    labels: Sequence[str],
    timetables: Sequence[_Timetable],
    events: np.ndarray,
    phases: _PhasesInTime,
) -> list[Word]:
    """Words by stream and time of their write, each with the reads that were found; predictions are still 0.

    A register may send other streams in other states of its operator. A write belongs to one of them: the first that is seen to
    deliver it. Of operators that share a stream (``labels``: by number of an operator) it belongs to the one that the node uses.
    No word is read before the timetable allows it, nor in another phase, unless its operator continues through both.
    """
    sends: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    of_operator: dict[int, set[int]] = defaultdict(set)
    for index, stream in enumerate(streams):
        sends[stream.phase, stream.source, stream.register].append(index)
        of_operator[stream.operator].add(stream.phase)
    waiting: dict[tuple[int, int, int], list[tuple[int, int, int]]] = defaultdict(list)
    owner: dict[tuple[int, int, int], int] = {}
    """By node, register and cycle of a write, the stream that delivered its word."""
    found: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for time, node, register, write, word in events.tolist():
        if write:
            sent = sends.get((phases.at(node, time), node, register), ())
            if len({streams[index].operator for index in sent}) > 1:
                used = phases.used(node, time)
                sent = [index for index in sent if labels[streams[index].operator] in used]
            for index in sent:
                for place, end in enumerate(streams[index].destinations):
                    waiting[(*end, word)].append((index, time, place))
            continue
        phase = phases.at(node, time)
        candidates, at = waiting.get((node, register, word), []), 0
        while at < len(candidates):
            index, wrote, place = candidates[at]
            stream = streams[index]
            if timetables[index].arrival(wrote, place) > time:
                at += 1
                continue
            del candidates[at]
            if stream.phase != phase and len(of_operator[stream.operator]) == 1:
                continue
            if owner.setdefault((stream.source, stream.register, wrote), index) == index:
                found.setdefault((index, wrote), []).append((place, time, 0))
                break
    return [(index, wrote, reads) for (index, wrote), reads in sorted(found.items(), key=lambda one: one[0][::-1])]


def _add_words(
    document: Document, run: Run, words: Sequence[Word], timetables: Sequence[_Timetable], most: int
) -> None:
    """Put measured words into ``run`` with what the timetable predicts, and count the loads of the links."""
    slices = max(1, min(SLICES, run.cycles))
    run.slice_cycles = max(1, run.cycles) / slices
    load = np.zeros((len(document.network.links), slices), np.int64)
    done: list[Word] = []
    for index, wrote, reads in words:
        way, started = timetables[index].way(wrote)
        if way is None:
            done.append((index, wrote, reads))
            continue
        needed = [False] * len(way.steps)
        expected: dict[int, int] = {}
        got = {place for place, _, _ in reads}
        for place, after, step in way.arrivals:
            expected[place] = started + after
            while place in got and step >= 0 and not needed[step]:
                needed[step] = True
                step = way.steps[step][2]
        for (link, after, _), is_needed in zip(way.steps, needed, strict=True):
            if is_needed:
                load[link, min(slices - 1, int((started + after) / run.slice_cycles))] += 1
        done.append((index, wrote, [(place, time, expected.get(place, 0)) for place, time, _ in reads]))
    run.load = load.tolist()
    run.words_all = len(done)
    run.words = keep_some(done, most)


class _Timetable:
    """When words of a stream set out."""

    def __init__(self, stream: Stream, period: int, first: int) -> None:
        self.ways = sorted(stream.ways, key=lambda way: way.start)
        self.starts = [way.start for way in self.ways]
        self.period, self.first = period, first

    def way(self, wrote: int) -> tuple[Any, int]:
        """The way of a word that is written in cycle ``wrote`` while no other waits, and the cycle of its first slot."""
        if not self.ways:
            return None, 0
        time = wrote + 1
        slot = (time - self.first) % self.period
        place = bisect_left(self.starts, slot)
        if place == len(self.starts):
            return self.ways[0], time + self.period - slot + self.starts[0]
        return self.ways[place], time + self.starts[place] - slot

    def arrival(self, wrote: int, place: int) -> int:
        """First cycle in which such a word can be read at destination ``place``; 0 where no way leads there."""
        way, started = self.way(wrote)
        return next((started + after for end, after, _ in way.arrivals if end == place), 0) if way is not None else 0


def keep_some(words: Sequence[Word], most: int) -> list[Word]:
    """The words, or the first of each stream and each tenth of the run if there are too many."""
    total = sum(1 + len(reads) for _, _, reads in words)
    if total <= most:
        return list(words)
    groups: dict[tuple[int, int], list[Word]] = defaultdict(list)
    last = max(wrote for _, wrote, _ in words) + 1
    for word in words:
        groups[word[0], word[1] * 10 // last].append(word)
    kept: list[Word] = []
    room, depth = most, 0
    while room > 0:
        layer = [group[depth] for group in groups.values() if depth < len(group)]
        if not layer:
            break
        for word in layer:
            room -= 1 + len(word[2])
            if room < 0:
                break
            kept.append(word)
        depth += 1
    return sorted(kept, key=lambda word: (word[1], word[0]))
