"""Documents of the time-multiplexed switch: working sets as tables of slots × ports, and the bursts of words that a run sent.

Takes connection tables, a run on them, or what ``pointsman configure`` has written.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.artifacts.tables import ConnectionTables
from pointsman.errors import PointsmanError

from .document import Document, Net, Operator, Phase, Run, Stream, Table, Word
from .measured import MOST_WORDS, Activity, ShownRun, keep_some, run_of
from .network import grid

FUNCTION = re.compile(r"(.+)_(?:load|write|read|func)")
"""Name of an operator's function."""
ON_THE_WAY = 6
"""Cycles that a word takes through the switch besides its wait for a slot: queue, crossbar, buffer."""
MOST_BURSTS = 20_000


def switch_document(tables: ConnectionTables, *, source: Sequence[str] = ()) -> Document:
    """Document of connection tables."""
    frame = tables.slots * tables.shape.slot_cycles
    return Document(
        title=f"{tables.name} on a switch of {tables.ports} ports and {tables.slots} slots, mode {tables.mode}",
        target="tdm",
        network=Net("switch", [tables.ports], tables.ports, grid(tables.ports), shape=dict(tables.shape.as_dict())),
        period=frame,
        operators=[
            Operator(
                label=one.operator.label,
                kind=one.operator.kind,
                implementation=one.way,
                source=str(one.operator.position or ""),
                words=one.operator.m,
                bandwidth=one.bandwidth,
                instances=[list(instance.nodes) for instance in one.operator.instances],
            )
            for one in tables.operators
        ],
        phases=[
            Phase(
                name=phase.name,
                operators=list(phase.operators),
                technique="own rows",
                reason="a processor that enters another set replaces its own rows when its words have left",
                limits=_limits(tables, phase.sets, phase.degree),
            )
            for phase in tables.phases
        ],
        tables=[table for number in range(len(tables.sets)) for table in _tables(tables, number)],
        source=list(source),
        notes=list(tables.notes),
    )


def _limits(tables: ConnectionTables, sets: Sequence[int], degree: int) -> list[tuple[str, float, str]]:
    found = [("slots", degree / tables.slots, f"its connections need {degree} of {tables.slots} slots")]
    taken = max((tables.sets[number].degree for number in sets), default=0)
    if taken:
        found.append(("share of a connection", 1 / taken, f"a connection has a slot in {taken} that are in use"))
    return found


def _tables(tables: ConnectionTables, number: int) -> list[Table]:
    chosen = tables.sets[number]
    rows = [list(part) for part in chosen.configurations]
    rows += [[] for _ in range(tables.slots - len(rows))]
    made = [Table(f"set {number}: {chosen.name}", rows, list(chosen.dynamic))]
    if chosen.in_turn:
        made.append(Table(f"set {number}, in turn", [list(part) for part in chosen.in_turn]))
    return made


def add_switch_run(document: Document, tables: ConnectionTables, done: ShownRun, spans: Sequence[Activity]) -> None:
    """Put a run on the switch into the document of its tables.

    A burst is what a processor sends to a port within an activity. It *hits* if its first word can be read within a frame, and
    the word's way through the switch, from when it was written and its reader had come; its connection was made then.
    """
    run = document.run = run_of(done, spans)
    if done.record.events is None:
        return
    streams: dict[tuple[int, int], int] = {}
    rows: list[Word] = []
    waiting: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    for time, node, register, write, _ in done.record.events.tolist():
        if write and register < tables.ports:
            waiting[node, register].append(time)
        elif not write and tables.ports <= register < 2 * tables.ports:
            pair = register - tables.ports, node
            if waiting[pair]:
                number = streams.setdefault(pair, len(streams))
                rows.append((number, waiting[pair].popleft(), [(0, time, 0)]))
    rows.sort(key=lambda word: (word[1], word[0]))
    document.streams = [
        Stream(f"{u} → {v}", -1, -1, u, v, [(v, tables.ports + u)], sum(word[0] == number for word in rows), [])
        for (u, v), number in streams.items()
    ]
    run.bursts = _bursts(tables, run, document.streams, rows)[:MOST_BURSTS]
    run.words_all = len(rows)
    run.words = keep_some(rows, MOST_WORDS)


def _bursts(
    tables: ConnectionTables, run: Run, streams: Sequence[Stream], words: Sequence[Word]
) -> list[tuple[int, int, int, int, int, int, int, int]]:
    doing = Doing(run)
    sets = {one.operator.label: one.sets for one in tables.operators}
    parts: dict[tuple[int, int], list[Word]] = defaultdict(list)
    for word in words:
        parts[word[0], doing.at(streams[word[0]].source, word[1])].append(word)
    found = []
    for (number, span), group in parts.items():
        u, v = streams[number].source, streams[number].register
        wrote, read, last = group[0][1], group[0][2][0][1], group[-1][2][0][1]
        label = FUNCTION.fullmatch(run.activities[run.spans[span][3]]) if span >= 0 else None
        chosen = sets.get(label[1], ()) if label else ()
        loaded = any((u, v) in part for one in chosen for part in tables.sets[one].configurations)
        there = doing.at(v, read)
        came = max(wrote, run.spans[there][1] if there >= 0 else 0)
        hit = read - came <= tables.slots * tables.shape.slot_cycles + ON_THE_WAY
        found.append((u, v, wrote, read, last, len(group), int(loaded), int(hit)))
    return sorted(found, key=lambda burst: (burst[2], burst[0]))


class Doing:
    """Which activity of a run a node is in at a time, as its place in ``Run.spans``."""

    def __init__(self, run: Run) -> None:
        self.starts: dict[int, list[int]] = defaultdict(list)
        self.places: dict[int, list[int]] = defaultdict(list)
        for place, span in enumerate(run.spans):
            self.starts[span[0]].append(span[1])
            self.places[span[0]].append(place)

    def at(self, node: int, time: int) -> int:
        """Place of the activity; -1 before the first."""
        at = bisect_right(self.starts[node], time) - 1
        return self.places[node][at] if at >= 0 else -1


def configurations_document(plain: Mapping[str, Any], name: str) -> Document:
    """Document of what ``pointsman configure --json`` has written.

    Raises
    ------
    PointsmanError
        If a key is missing or a value is of another kind.
    """
    try:
        rows: list[list[tuple[int, int]]] = []
        weights: list[float] = []
        for one in plain["configurations"]:
            weights += [float(one["duration"])] if isinstance(one, Mapping) else []
            pairs = one["connections"] if isinstance(one, Mapping) else one
            rows.append([(int(pair[0]), int(pair[1])) for pair in pairs])
        ports = 1 + max((max(pair) for row in rows for pair in row), default=0)
        bounds = [dict(bound) for bound in plain.get("bounds", [])]
        algorithm = str(plain.get("algorithm", ""))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise PointsmanError(f"these are no configurations: {type(error).__name__} {error}") from None
    if ports > 4096 or any(min(pair) < 0 for row in rows for pair in row):
        raise PointsmanError("the ports of configurations must be 0 to 4095")
    said = f", by {algorithm}" if algorithm else ""
    table = Table(f"{len(rows)} configurations{said}", rows, weights=weights)
    count = sum(map(len, rows))
    return Document(
        title=f"{name}: {count} connections in {len(rows)} configurations{said}",
        target="configure",
        network=Net("switch", [ports], ports, grid(ports)),
        period=len(rows),
        tables=[table],
        why={"bounds": bounds},
    )
