"""The document of ``pointsman show``: plain values that every view is drawn from, for all targets. docs/show.md describes it.

Times are cycles from the release of reset, slots are modulo the period. Numbers of links, phases, operators and streams are
places in the document's lists. Rows that come in thousands are short lists of numbers instead of objects; each says its order.
"""

from __future__ import annotations

from typing import Any

import msgspec

FORMAT = "pointsman-show"
VERSION = 1
"""Raised whenever a reader of an older document would misunderstand a newer one."""

Step = tuple[int, int, int]
"""A link that a word crosses: (link, cycles after the start slot, step before it in the same way, or -1)."""
Arrival = tuple[int, int, int]
"""A delivery: (place in the stream's destinations, cycles after the start slot at which the word can be read, last step or
-1)."""


class Net(msgspec.Struct):
    """The network. ``places``: where each node is drawn, x to the right and y down, neighbours one apart. ``links``:
    directed links (from, to); the two directions of a pair are two links. ``ports``: number of nodes of a switch, where there
    are no links to draw."""

    kind: str
    size: list[int]
    nodes: int
    places: list[tuple[float, float]]
    links: list[tuple[int, int]] = []
    dead: list[int] = []
    shape: dict[str, Any] = {}


class Operator(msgspec.Struct):
    """An operator of the program. ``source``: file:line:column. ``instances``: nodes of each instance. ``values``: names
    of the states that streams refer to: run-time values, and stages. ``predicted``: cycles alone, for its implementation."""

    label: str
    kind: str
    implementation: str
    source: str = ""
    words: int = 0
    bandwidth: float | None = None
    instances: list[list[int]] = []
    values: list[str] = []
    predicted: float | None = None
    measured: dict[str, float] = {}
    alternatives: list[tuple[str, float | None]] = []


class Phase(msgspec.Struct):
    """A phase. ``predicted``: cycles of the whole program spent in it; ``measured``: cycles by category, mean over the
    nodes; ``limits``: shares of the period that the busiest resources are taken, each (what, share, words to explain it)."""

    name: str
    operators: list[int] = []
    technique: str = ""
    reason: str = ""
    predicted: float | None = None
    measured: dict[str, float] = {}
    limits: list[tuple[str, float, str]] = []


class Way(msgspec.Struct, array_like=True):
    """How a word goes that starts in slot ``start``."""

    start: int
    steps: list[Step]
    arrivals: list[Arrival]


class Stream(msgspec.Struct):
    """Words from one place to others in a phase. ``operator`` and ``phase``: -1 for none. ``values``: states of the operator in
    which the stream runs. ``register``: where the source writes. ``destinations``: (node, register). ``words``: a period.
    ``ways``: a way for each word of a period."""

    name: str
    operator: int
    phase: int
    source: int
    register: int
    destinations: list[tuple[int, int]]
    words: int
    ways: list[Way]
    values: list[int] = []


Word = tuple[int, int, list[tuple[int, int, int]]]
"""A measured word: (stream, cycle of its write, [(place in the stream's destinations, cycle of the read, cycle that the
timetable predicts)])."""
Span = tuple[int, int, int, int, int, list[int]]
"""An activity of a processor: (node, start, end, place in ``Run.activities``, phase or -1, cycles by category)."""


class Run(msgspec.Struct):
    """What was measured. ``load[link]``: words that crossed the link in each of the equal ``slices`` of time; ``words``:
    measured words, ``words_all`` of them before some were left out to keep the document small. ``categories``: names of the
    kinds of cycles; ``per_node``: cycles of each node in each of them. ``asked``: of a switch, (source, destination, first
    write, first read, last read, words, whether the connection was preloaded, hit) a burst of words."""

    engine: str
    correct: bool
    answer: str
    cycles: int
    categories: list[str]
    per_node: list[list[int]]
    slice_cycles: float = 1.0
    load: list[list[int]] = []
    words: list[Word] = []
    words_all: int = 0
    activities: list[str] = []
    spans: list[Span] = []
    bursts: list[tuple[int, int, int, int, int, int, int, int]] = []


class Node(msgspec.Struct):
    """What a node holds. ``vfsms``: (phase, pipeline, number, kind of move, source, destination, slots, operator or -1).
    ``registers``: (phase, register, "write" or "read", stream). ``residency``: (phase, block of the schedule memory, VFSMs
    that it has to itself, VFSMs that it shares with other phases)."""

    vfsms: list[tuple[int, int, int, str, str, str, list[int], int]] = []
    registers: list[tuple[int, int, str, int]] = []
    residency: list[tuple[int, int, int, int]] = []


class Table(msgspec.Struct):
    """Connections of a switch that are made together. ``rows[slot]``: (input, output) pairs; ``dynamic``: left to the
    scheduler; ``weights``: how long each row stands."""

    name: str
    rows: list[list[tuple[int, int]]]
    dynamic: list[tuple[int, int]] = []
    weights: list[float] = []


class Carried(msgspec.Struct):
    """A traffic on an optical network, carried in one way. ``ends``: (from, to) of links and connections, -1 for to or from a
    node itself; ``ways``: the links of the network under each. ``held``: (place in ``ends``, channel, message, locked,
    established, freed) in slots, -1 for never; whole up to slot ``held_until``. ``hops``: (place in ``ends``, channel, message,
    slot in which the packet came to the router, was put into the connection's buffer, was sent). ``messages``: those that rows
    name, as (number, ready, source, destination, packets, established, done). ``under_way``: messages in each of equal slices
    of the run. ``quantiles``: of the delays, from none to all of the messages. ``histogram``: width of a bin in slots, messages
    in each bin."""

    name: str
    degree: int
    slots: int
    ends: list[tuple[int, int]] = []
    ways: list[list[int]] = []
    held: list[tuple[int, int, int, int, int, int]] = []
    held_until: int = 0
    hops: list[tuple[int, int, int, int, int, int]] = []
    hops_until: int = 0
    messages: list[tuple[int, int, int, int, int, int, int]] = []
    under_way: list[int] = []
    quantiles: list[int] = []
    histogram: tuple[float, list[int]] = (1.0, [])
    figures: dict[str, Any] = {}


class Phased(msgspec.Struct):
    """Connections in phases on logical channels. ``channels``: of a node; ``clocks``: of each phase; ``routes``: (phase,
    connection, words, nodes of its way, its channel at each of them, start, end)."""

    channels: int
    clocks: list[int]
    routes: list[tuple[int, int, int, list[int], list[int], int, int]]


class Parts(msgspec.Struct):
    """A mesh in parts, seen from above. ``points``: x to the right and y up; ``elements``: (points of an element, its part);
    ``node_of``: network node of each part; ``solid``: they are seen through each other."""

    points: list[tuple[float, float]]
    elements: list[tuple[list[int], int]]
    node_of: list[int]
    solid: bool = False


class Counted(msgspec.Struct):
    """A counter of each node: ``values[node][slice]``, the greatest in the slice."""

    name: str
    values: list[list[int]]


class Active(msgspec.Struct):
    """Active messages between nodes. ``sent[node][slice]`` and ``handled[node][slice]``: messages in equal slices of the run;
    ``under_way[slice]``: sent and not handled yet, at its end. ``pairs``: (from, to, messages). ``quanta``: (node, start, end,
    place in ``blocks``, the code-blocks of the frames that ran), ``quanta_all`` of them before some were left out."""

    slice_cycles: float
    sent: list[list[int]]
    handled: list[list[int]]
    under_way: list[int]
    pairs: list[tuple[int, int, int]] = []
    blocks: list[str] = []
    quanta: list[tuple[int, int, int, int]] = []
    quanta_all: int = 0
    counters: list[Counted] = []


class Document(msgspec.Struct):
    """Everything that the views show.

    Parameters
    ----------
    target : str
        "numesh", "tdm", "packet", "logp", "route", "configure", "optical", "channels", or "run" for the summary of a run alone.
    period : int
        Slots of the period; 0 where nothing repeats.
    first : int
        Cycle, modulo the period, in which the links carry the words of slot 0.
    source : list of str
        Lines of the COP text, if it is there.
    why : dict
        The decision of the planner as ``pointsman explain --decision --json`` writes it, and bounds.
    """

    title: str
    target: str
    network: Net
    period: int = 0
    first: int = 0
    operators: list[Operator] = []
    phases: list[Phase] = []
    streams: list[Stream] = []
    nodes: list[Node] = []
    tables: list[Table] = []
    run: Run | None = None
    optical: list[Carried] = []
    phased: Phased | None = None
    parts: Parts | None = None
    active: Active | None = None
    why: dict[str, Any] = {}
    source: list[str] = []
    notes: list[str] = []
    format: str = FORMAT
    version: int = VERSION


def document_bytes(document: Document) -> bytes:
    """The document as JSON. Infinite numbers become null."""
    return msgspec.json.encode(document)


def read_document(text: bytes) -> Document:
    """A document from JSON.

    Raises
    ------
    msgspec.ValidationError
        If it is no document, or one of another version.
    """
    document = msgspec.json.decode(text, type=Document)
    if document.format != FORMAT or document.version != VERSION:
        raise msgspec.ValidationError(
            f"a document must be {FORMAT} version {VERSION}, not {document.format} {document.version}"
        )
    return document
