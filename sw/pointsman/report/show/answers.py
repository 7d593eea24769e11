"""Documents of what other commands have written as JSON: routes of ``pointsman route``, results of ``pointsman run``, phases of
``pointsman channels`` and ``pointsman fem``.

Routes do not say what their network is (it can be given), and results of a run have sums but no words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.network import Topology, graph, mesh, torus
from pointsman.network.topology import MAX_NODES
from pointsman.report.run import CATEGORIES

from .document import Arrival, Document, Net, Node, Operator, Parts, Phase, Phased, Run, Step, Stream, Way
from .network import circle, net_of

_MALFORMED = (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError)
_MOST = 1e18
"""Numbers of a run are below this."""
MOST_ELEMENTS = 30_000
"""Elements of a mesh on a page; of more the first."""


def routes_document(plain: Mapping[str, Any], name: str, topology: Topology | None = None) -> Document:
    """Document of what ``pointsman route``, ``pointsman collective`` or ``pointsman place`` has written with ``--json``.

    Parameters
    ----------
    topology : Topology, optional
        The network; otherwise the links that carry words are drawn between nodes on a circle.

    Raises
    ------
    PointsmanError
        If a key is missing, a value is of another kind, or a word goes where the network has no link.
    """
    try:
        period = int(plain["period"])
        words = [[[_move(move) for move in word] for word in stream["words"]] for stream in plain["streams"]]
        shares = [float(stream["bandwidth"]) for stream in plain["streams"]]
        held, least = [], 0
        if isinstance(plain.get("nodes"), int):  # a collective says how many
            least = plain["nodes"]
        else:
            held = [_held(node) for node in plain.get("nodes") or []]
        bounds = [
            {"value": float(b["value"]), "kind": str(b["kind"]), "text": str(b["text"])}
            for b in plain.get("bounds") or []
        ]
        router = str(plain["router"])
    except _MALFORMED as error:
        raise PointsmanError(f"these are no routes: {type(error).__name__} {error}") from None
    if period < 1:
        raise PointsmanError(f"routes must have a period of at least a slot, not {period}")
    pairs = {(u, v) for word in words for one in word for u, _, v in one if u is not None and v is not None and u != v}
    ends = {node for word in words for one in word for u, _, v in one for node in (u, v) if node is not None}
    nodes = max(1 + max(ends, default=0), len(held), least)
    if min(ends, default=0) < 0 or nodes > MAX_NODES:
        raise PointsmanError(f"the nodes of routes must be 0 to {MAX_NODES - 1}")
    net = Net("graph", [nodes], nodes, circle(nodes), sorted(pairs)) if topology is None else net_of(topology)
    if wrong := sorted(pairs - set(net.links)):
        raise PointsmanError(f"words go {wrong[0][0]} → {wrong[0][1]}, and the network has no such link")
    if nodes > net.nodes:
        raise PointsmanError(f"the routes are for {nodes} nodes, the network has {net.nodes}")
    number = {pair: index for index, pair in enumerate(net.links)}
    streams = []
    for index, routed in enumerate(words):
        destinations = list(dict.fromkeys(u for word in routed for u, _, v in word if v is None and u is not None))
        if not routed or not routed[0]:
            continue
        first = next((v for u, _, v in routed[0] if u is None), routed[0][0][0])
        ways = [_way(word, number, {node: place for place, node in enumerate(destinations)}) for word in routed]
        label = f"{first} → {' '.join(map(str, destinations[:4]))}{' …' * (len(destinations) > 4)}"
        streams.append(
            Stream(f"{index}: {label}", -1, 0, int(first or 0), -1, [(n, -1) for n in destinations], len(ways), ways)
        )
    taken = [
        len(
            {
                (way.start + after) % period
                for s in streams
                for way in s.ways
                for link, after, _ in way.steps
                if link == i
            }
        )
        for i in range(len(net.links))
    ]
    full = max(range(len(taken)), key=lambda link: taken[link], default=-1)
    limits = []
    if full >= 0:
        u, v = net.links[full]
        limits = [
            ("link", taken[full] / period, f"the link {u} → {v} carries words in {taken[full]} of {period} slots")
        ]
    slowest = f"; least bandwidth {min(shares):g}" if shares else ""
    return Document(
        title=f"{name}: {len(words)} streams in {period} slots ({router} model){slowest}",
        target="route",
        network=net,
        period=period,
        phases=[Phase("route", limits=limits, reason=str(plain.get("length_reason", "")))],
        streams=streams,
        nodes=held,
        why={"bounds": bounds},
        notes=[str(note) for note in plain.get("notes", [])],
    )


def _move(move: Any) -> tuple[int | None, int, int | None]:
    u, slot, v = move[0], move[1], move[2]
    return (None if u is None else int(u)), int(slot), (None if v is None else int(v))


def _way(
    word: list[tuple[int | None, int, int | None]], number: Mapping[tuple[int, int], int], places: Mapping[int, int]
) -> Way:
    moves = sorted(word, key=lambda move: move[1])
    start = moves[0][1]
    steps: list[Step] = []
    arrivals: list[Arrival] = []
    at: dict[int, int] = {}
    """By node, the step that brought the word."""
    for u, slot, v in moves:
        if u is not None and v is not None and u != v:
            steps.append((number[u, v], slot - start, at.get(u, -1)))
            at[v] = len(steps) - 1
        elif u is not None and v is None:
            arrivals.append((places[u], slot - start + 1, at.get(u, -1)))
    return Way(start, steps, arrivals)


def _held(node: Mapping[str, Any]) -> Node:
    slots: dict[tuple[int, int], list[int]] = defaultdict(list)
    for slot, row in enumerate(node["schedule"]):
        for pipeline, vfsm in enumerate(row):
            slots[pipeline, vfsm].append(slot)
    return Node(
        vfsms=[
            (0, int(pipeline), int(vfsm), str(kind), str(source), str(destination), slots[pipeline, vfsm], -1)
            for pipeline, vfsm, kind, source, destination in node["annotations"]
            if slots[pipeline, vfsm]
        ]
    )


def _times(plain: Mapping[str, Any]) -> dict[str, Any]:
    """Where the time of a run went, as the page draws it; KeyError, TypeError or ValueError if it is malformed."""

    def number(value: Any) -> float | None:
        if value is not None and not -_MOST < float(value) < _MOST:
            raise ValueError(f"{value} is no number of cycles")
        return None if value is None else float(value)

    def reason(value: Any) -> dict[str, Any] | None:
        if value is None:
            return None
        return {"cycles": number(value["cycles"]), "kind": str(value["kind"]), "text": str(value["text"])}

    def entry(one: Mapping[str, Any]) -> dict[str, Any]:
        numbers = {name: number(one[name]) for name in ("predicted", "measured", "under_way", "reached")}
        return {**numbers, "bound": reason(one["bound"]), "pace": reason(one["pace"])}

    operators = {str(label): entry(one) for label, one in plain["operators"].items() if "under_way" in one}
    return {
        "predicted_cycles": number(plain["predicted_cycles"]),
        "operators": operators,
        "phases": [
            {
                "name": str(one["name"]),
                "operators": [str(label) for label in one["operators"] if label in operators],
                **entry(one),
            }
            for one in plain["phases"]
        ],
        "waits": [
            {name: str(one[name]) for name in ("function", "cause")}
            | {name: number(one[name]) for name in ("calls", "words", "cycles")}
            for one in plain["waits"]
        ],
    }


def run_document(plain: Mapping[str, Any], name: str) -> Document:
    """Document of what ``pointsman run --json`` has written: cycles of each node, operators and phases.

    Raises
    ------
    PointsmanError
        If a key is missing or a value is of another kind.
    """
    try:
        kind, size = str(plain["network"]["kind"]), [int(extent) for extent in plain["network"]["size"]]
        cycles = int(plain["total_cycles"])
        rows = [[int(count) for count in plain["per_node"][category]] for category in CATEGORIES]
        per_node = [list(row) for row in zip(*rows, strict=True)]
        operators = [
            Operator(
                str(label),
                "",
                str(one["implementation"]),
                bandwidth=one.get("bandwidth"),
                measured={key: float(value) for key, value in one.get("cycles", {}).items()},
            )
            for label, one in plain["operators"].items()
        ]
        phases = [
            Phase(
                str(one["name"]),
                [
                    i
                    for i, operator in enumerate(operators)
                    if plain["operators"][operator.label].get("phase") == one["name"]
                ],
                str(one.get("technique", "")),
                str(one.get("reason", "")),
                measured={key: float(value) for key, value in one.get("cycles", {}).items()},
            )
            for one in plain.get("phases", [])
        ]
        time = _times(plain) if "waits" in plain else None
        run = Run(
            str(plain["engine"]), bool(plain["correct"]), str(plain["answer"]), cycles, list(CATEGORIES), per_node
        )
    except _MALFORMED as error:
        raise PointsmanError(f"these are no results of a run: {type(error).__name__} {error}") from None
    net = Net(kind, size, len(per_node), circle(len(per_node)))
    if kind in ("mesh", "torus"):
        net = net_of((mesh if kind == "mesh" else torus)(*size))
        if net.nodes != len(per_node):
            raise PointsmanError(f"the results are of {len(per_node)} nodes, a {kind} of this size has {net.nodes}")
    return Document(
        title=f"{name} on a {'x'.join(map(str, size))} {kind}",
        target="run",
        network=net,
        operators=operators,
        phases=phases,
        run=run,
        why={} if time is None else {"time": time},
        notes=["A file of results has no words and no activities: show the application itself to see them."],
    )


def is_phased(plain: object) -> bool:
    """Whether a JSON value has the form of what ``pointsman channels`` or ``pointsman fem`` writes."""
    return isinstance(plain, dict) and (
        {"phases", "predicted", "bounds", "network"} <= plain.keys()
        or {"parts", "exchange", "placement"} <= plain.keys()
    )


def phased_document(plain: Mapping[str, Any], name: str) -> Document:
    """Document of what ``pointsman channels --json`` or ``pointsman fem --json`` has written.

    Raises
    ------
    PointsmanError
        If a key is missing, a value is of another kind, or a way goes where the network has no link.
    """
    try:
        exchange = plain.get("exchange", plain)
        topology = _topology(exchange["network"])
        net, room = net_of(topology), int(exchange["channels"])
        phases = exchange["phases"]
        routes = [
            (
                number,
                int(one["connection"]),
                int(one["words"]),
                [int(node) for node in one["path"]],
                [int(channel) for channel in one["channels"]],
                int(one["start"]),
                int(one["end"]),
            )
            for number, phase in enumerate(phases)
            for one in phase["connections"]
        ]
        clocks = [int(phase["clocks"]) for phase in phases]
        bounds = [
            {"value": float(b["value"]), "kind": str(b["kind"]), "text": str(b["text"])} for b in exchange["bounds"]
        ]
        predicted = int(exchange["predicted"]["clocks"])
        parts, notes = _parts(plain, net.nodes) if "exchange" in plain else (None, [])
    except _MALFORMED as error:
        raise PointsmanError(f"these are no phases of connections: {type(error).__name__} {error}") from None
    links = set(net.links)
    for number, connection, words, path, channels, start, end in routes:
        steps = list(pairwise(path))
        numbers = 0 <= start <= end <= clocks[number] < _MOST and 0 <= words < _MOST and 0 <= connection < _MOST
        if not (
            numbers
            and steps
            and set(steps) <= links
            and len(channels) == len(path)
            and all(0 <= channel < room for channel in channels)
        ):
            raise PointsmanError(
                f"these are no phases of connections: connection {connection} of phase {number} is not possible"
            )
    count = "phase" if len(phases) == 1 else "phases"
    return Document(
        title=f"{name}: {len(routes)} connections in {len(phases)} {count}, {predicted} clocks predicted",
        target="channels",
        network=net,
        phases=[Phase(f"{number}") for number in range(len(phases))],
        phased=Phased(room, clocks, routes),
        parts=parts,
        why={"bounds": bounds},
        notes=notes,
    )


def _topology(network: Mapping[str, Any]) -> Topology:
    """The network of phases; KeyError, TypeError or ValueError if it is malformed."""
    kind, size = str(network["kind"]), [int(extent) for extent in network["size"]]
    nodes = 1
    for extent in size:
        nodes *= extent
    if not 1 <= nodes <= MAX_NODES or min(size) < 1:
        raise ValueError(f"there is no network of size {size}")
    if kind in ("mesh", "torus"):
        return (mesh if kind == "mesh" else torus)(*size)
    return graph(nodes, [(int(u), int(v)) for u, v in network["links"]])


def _parts(plain: Mapping[str, Any], nodes: int) -> tuple[Parts, list[str]]:
    """The mesh of a file of ``pointsman fem``, from above; KeyError, TypeError, ValueError or IndexError if it is malformed."""
    points = [(float(point[0]), float(point[1])) for point in plain["mesh"]["points"]]
    node_of, part_of = [int(node) for node in plain["parts"]["node_of"]], plain["parts"]["part_of"]
    corners = plain["mesh"]["corners"]
    solid = len(plain["mesh"]["points"][0]) == 3
    # The last four corners of a hexahedron are one of its sides.
    elements = [
        ([int(n) for n in (one[-4:] if solid else one)], int(p)) for one, p in zip(corners, part_of, strict=True)
    ]
    right = all(abs(value) < _MOST for point in points for value in point)
    if not (
        right and all(0 <= n < len(points) for one, _ in elements for n in one) and all(0 <= n < nodes for n in node_of)
    ):
        raise ValueError("the mesh has a point that is no number, or corners or nodes that are not there")
    if any(not 0 <= part < len(node_of) for _, part in elements):
        raise ValueError("an element is of a part that is not there")
    notes = (
        [] if len(elements) <= MOST_ELEMENTS else [f"The first {MOST_ELEMENTS} of {len(elements)} elements are drawn."]
    )
    return Parts(points, elements[:MOST_ELEMENTS], node_of, solid), notes
