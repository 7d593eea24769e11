"""Flows of mlir-aie: ``aie.tile``, ``aie.flow`` and ``aie.packet_flow`` in MLIR text, read line by line.

Tiles become tasks "tile(column, row)". A circuit has a stream of its own, so every flow asks for the same; flows from the same
port of the same tile are a multicast, and each source of a packet flow sends to all its destinations. Operations that move
nothing over the switches are passed over; those that do, and are not flows, are refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from pointsman.artifacts.flows.demands import MAX_FLOWS, check_counts, flows_of
from pointsman.artifacts.flows.flows import FlowSet, Task
from pointsman.errors import PointsmanError

TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
TILE = re.compile(r"(%[\w.$-]+)\s*=\s*(?:aie|AIE)\.tile\s*\(\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)")
FLOW = re.compile(
    r"(?:aie|AIE)\.flow\s*\(\s*(%[\w.$-]+)\s*,\s*\"?(\w+)\"?\s*:\s*(\d{1,4})\s*,\s*(%[\w.$-]+)\s*,\s*\"?\w+\"?\s*:\s*\d{1,4}\s*\)"
)
DEVICE = re.compile(r"\b(?:aie|AIE)\.device\s*\(")
PACKET = re.compile(r"(?:aie|AIE)\.packet_flow\s*\(\s*([\w]+)\s*\)")
PACKET_END = re.compile(r"(?:aie|AIE)\.packet_(source|dest)\s*<\s*(%[\w.$-]+)\s*,\s*\"?(\w+)\"?\s*:\s*(\d{1,4})\s*>")
OTHERS = re.compile(
    r"(?<!#)\b(?:aie|AIE)\.(objectfifo[\w.]*|connect\b|masterset|packet_rules|switchbox|route\b|cascade_flow|flow|packet_\w+)"
)
"""``#aie.packet_info`` is an attribute, of what a tile sends, and no operation."""
HINTS = {
    "objectfifo": "lower the module to aie.flow and aie.packet_flow first",
    "cascade_flow": "a cascade has wires of its own beside the network; take it out to place the flows",
    "flow": "a flow is written aie.flow(%from, DMA : 0, %to, DMA : 0)",
    "packet_flow": "a packet flow is written aie.packet_flow(0) { aie.packet_source<%from, DMA : 0> aie.packet_dest<…> }",
}
ROUTED = "this is how flows are routed; give the module as it was before, with its aie.flow and aie.packet_flow"
BEGUN = re.compile(r"(?:aie|AIE)\.(?:tile|flow|packet_flow)\s*\([^()]*$")
Source = tuple[int, str, str]
Packet = tuple[int, list[Source], list[int]]
"""Line, sources and destinations of a packet flow."""
MOST_LINES = 16
"""Lines that a tile or a flow may take."""


def from_aie(lines: Iterable[str]) -> FlowSet:
    """Read the flows of a module.

    Raises
    ------
    PointsmanError
        Naming the line that is wrong.
    """
    tiles: dict[str, int] = {}
    places: dict[tuple[int, int], int] = {}
    ends: dict[Source, dict[int, None]] = {}
    packet: Packet | None = None
    count = open_braces = number = devices = 0
    of_device: int | None = None

    def tile(name: str, number: int) -> int:
        if name not in tiles:
            raise PointsmanError(f"line {number}: {name[:40]} is no tile that an aie.tile above has made")
        return tiles[name]

    def goes(source: Source, end: int, number: int) -> None:
        nonlocal count, of_device
        if of_device not in (None, devices):
            raise PointsmanError(
                f"line {number}: flows must be those of one aie.device, and there are some of another above",
                hint="devices of a module are configurations that follow each other; give one of them",
            )
        of_device = devices
        to = ends.setdefault(source, {})
        if end not in to:
            count += 1
            check_counts(lambda text: PointsmanError(f"line {number}: {text}"), len(ends), count)
            to[end] = None

    def ends_packet() -> None:
        """The source of a packet may follow its destinations."""
        if packet is not None and packet[2]:
            begun, sources, destinations = packet
            if not sources:
                raise PointsmanError(f"line {begun}: a packet flow must have a source")
            for source in sources:
                for end in destinations:
                    goes(source, end, begun)

    for number, line in _whole(lines):
        if "{" in line or "}" in line:
            code = TEXT.sub("", line).split("//")[0]
            open_braces += code.count("{") - code.count("}")
        if "aie." not in line and "AIE." not in line:
            continue
        text = line.split("//")[0]
        if ".device" in text and DEVICE.search(text):
            ends_packet()
            packet = None
            devices += 1
            tiles = {}
        for made in TILE.finditer(text) if ".tile" in text else ():
            at = int(made[2]), int(made[3])
            tiles[made[1]] = places.setdefault(at, len(places))
            if len(tiles) > MAX_FLOWS:
                raise PointsmanError(f"line {number}: there must be at most {MAX_FLOWS} tiles, and this is one more")
        rest = TILE.sub("", text) if ".tile" in text else text
        for flow in FLOW.finditer(rest) if ".flow" in rest else ():
            source = (tile(flow[1], number), flow[2], flow[3])
            goes(source, tile(flow[4], number), number)
        rest = FLOW.sub("", rest) if ".flow" in rest else rest
        if PACKET.search(rest):
            ends_packet()
            packet = number, [], []
        for end in PACKET_END.finditer(rest):
            at_tile = tile(end[2], number)
            if packet is None:
                raise PointsmanError(f"line {number}: a packet_{end[1]} must stand in an aie.packet_flow")
            if end[1] == "source":
                packet[1].append((at_tile, f"packet {end[3]}", end[4]))
            else:
                packet[2].append(at_tile)
        rest = PACKET_END.sub("", PACKET.sub("", rest))
        if other := OTHERS.search(rest):
            name = other[1]
            hint = HINTS.get(
                name.split(".")[0], HINTS["packet_flow"] if name in ("packet_source", "packet_dest") else ROUTED
            )
            raise PointsmanError(f"line {number}: aie.{name[:40]} is not known here", hint=hint)
    ends_packet()
    if open_braces:
        raise PointsmanError(
            f"line {number}: here the file ends, with {abs(open_braces)} {'{' if open_braces > 0 else '}'} too many"
        )
    amounts: dict[tuple[int, tuple[int, ...]], float] = {}
    for (source_tile, *_), others in ends.items():
        destinations = tuple(one for one in others if one != source_tile)
        if destinations:  # else within a tile
            key = source_tile, destinations
            amounts[key] = amounts.get(key, 0.0) + 1.0
    return flows_of([Task(f"tile({column}, {row})") for column, row in places], amounts)


def _whole(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """The lines with the number of each; one in which a parenthesis of a tile or a flow stays open has those in it that follow,
    up to the one that closes it."""
    kept, begins, count = "", 0, 0
    for number, line in enumerate(lines, 1):
        if not kept and not ("(" in line and _stays_open(line)):
            yield number, line
            continue
        begins, count = (begins, count + 1) if kept else (number, 1)
        kept += line.split("//")[0].rstrip() + " "
        if not _stays_open(kept) or count == MOST_LINES:
            yield begins, kept
            kept = ""
    if kept:
        yield begins, kept


def _stays_open(line: str) -> bool:
    code = line.split("//")[0] if "//" in line else line
    return code.rfind("(") > code.rfind(")") and BEGUN.search(code) is not None
