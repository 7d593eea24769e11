"""Communication of Poseidon, a scheduler of networks with time-division multiplexing: XML, a ``channel`` between two routers.

A channel sends ``bandwidth`` packets of ``phits`` words in a period. If the file has the platform, too, routers "(x,y)" have
their nodes in a mesh or torus of its width; its links and routers are passed over, as the network is told to
``pointsman place``.

Older files, of which Poseidon's repository has most, have ``<topology>`` with a ``<graph>`` for the platform, ``<channels>`` for
the communication and "arbitrary", or no type, for "custom"; ``response`` is misspelt in those that its generators wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO
from xml.parsers import expat

from pointsman.artifacts.flows.demands import check_counts, flows_of
from pointsman.artifacts.flows.flows import FlowSet, Task
from pointsman.artifacts.xml_pieces import CHUNK, parse_pieces
from pointsman.errors import PointsmanError

MOST = 1 << 20
"""Most packets, phits, or routers in a row or column."""
MOST_LEVELS = 64
"""Of elements inside each other."""
MOST_ROUTERS = 400
"""Most routers of an exchange of all with all."""
ATTRIBUTES = {
    "platform": {"width", "height"},
    "communication": {"type", "comType", "phits", "bandwidth"},
    "channel": {"from", "to", "bandwidth", "phits", "response", "repsonse"},
    "topology": {"width", "height"},
    "channels": {"type"},
}
NUMBER = re.compile(r"[0-9]{1,7}")
PLACE = re.compile(r"\s*\(\s*(\d{1,7})\s*,\s*(\d{1,7})\s*\)\s*")
DECLARATION = re.compile(rb"\s*<\?xml[^>]*\?>")
"""Poseidon's own files begin with ``<?xmlversion="1.0" …?>``, which is no XML, and have two outermost elements."""

Place = tuple[int, int]


class _Reader:
    """Takes elements as they come."""

    def __init__(self) -> None:
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.open: list[str] = []
        self.size: Place | None = None
        self.found: dict[tuple[Place, Place], float] = {}
        self.usual = {"bandwidth": 1, "phits": 1}
        self.to_all = False
        self.seen = False

    def wrong(self, text: str, hint: str | None = None) -> PointsmanError:
        return PointsmanError(f"line {self.parser.CurrentLineNumber}: {text}", hint=hint)

    def start(self, tag: str, given: dict[str, str]) -> None:
        self.open.append(tag)
        if len(self.open) > MOST_LEVELS:
            raise self.wrong(f"nested too deeply: more than {MOST_LEVELS} levels")
        inside = self.open[1:-1]
        if len(self.open) == 1 or inside[:1] in (["platform"], ["topology"]):
            return  # the element put round the file, and what the network is made of
        known = ATTRIBUTES.get(tag)
        if known is None or inside not in ([["communication"], ["channels"]] if tag == "channel" else [[]]):
            where = f"in <{inside[-1]}>" if inside else "outermost"
            raise self.wrong(f"<{tag}> is not known {where}; known are <platform>, and <communication> with <channel>")
        if not given.keys() <= known:
            unknown = sorted(given.keys() - known)
            hint = "give the way back a channel of its own" if unknown[0] == "response-delay" else None
            raise self.wrong(f"{unknown[0]} is not known; known are {', '.join(sorted(known - {'repsonse'}))}", hint)
        if tag in ("platform", "topology"):
            self.size = self.number(given, "width"), self.number(given, "height")
        elif tag == "communication":
            self.communication(given.get("type", given.get("comType")), given)
        elif tag == "channels":
            kind = given.get("type", "arbitrary")
            self.communication("custom" if kind == "arbitrary" else kind, given)
        else:
            self.channel(given)

    def end(self, _tag: str) -> None:
        self.open.pop()

    def communication(self, kind: str | None, given: dict[str, str]) -> None:
        if self.seen:
            raise self.wrong("a file must have one <communication>")
        self.seen = True
        if kind not in ("custom", "all2all"):
            raise self.wrong(f"a communication must have the type custom or all2all, not {kind!r}")
        self.to_all = kind == "all2all"
        self.usual = {key: self.number(given, key) if key in given else 1 for key in ("bandwidth", "phits")}

    def channel(self, given: dict[str, str]) -> None:
        if any(given.get(name, "false") != "false" for name in ("response", "repsonse")):
            raise self.wrong("channels with responses are not read", "give the way back a channel of its own")
        if self.to_all:
            raise self.wrong("a communication of the type all2all has no channels of its own")
        source, end = (self.place(given, key) for key in ("from", "to"))
        if source == end:
            raise self.wrong(f"a channel must go to another router, not from {given['from']} to itself")
        amount = 1.0
        for key, usual in self.usual.items():
            amount *= self.number(given, key) if key in given else usual
        self.found[source, end] = self.found.get((source, end), 0.0) + amount
        check_counts(self.wrong, len(self.found))

    def number(self, given: dict[str, str], key: str) -> int:
        text = given.get(key, "")
        if not NUMBER.fullmatch(text) or not 1 <= int(text) <= MOST:
            raise self.wrong(f"{key} must be a whole number of 1 to {MOST}, not {text[:40]!r}")
        return int(text)

    def place(self, given: dict[str, str], key: str) -> Place:
        found = PLACE.fullmatch(given.get(key, ""))
        if found is None:
            raise self.wrong(f"{key} must be a router such as (0,1), not {given.get(key, '')[:40]!r}")
        x, y = int(found[1]), int(found[2])
        if self.size is not None and not (x < self.size[0] and y < self.size[1]):
            raise self.wrong(f"{key}: there is no router ({x},{y}) in {self.size[0]}x{self.size[1]}")
        return x, y

    def flows(self) -> FlowSet:
        if not self.seen:
            raise self.wrong("a file must have a <communication>", "a platform alone has no flows")
        if self.to_all:
            if self.size is None:
                raise self.wrong("an exchange of all with all needs the <platform> before it")
            width, height = self.size
            if width * height > MOST_ROUTERS:
                raise self.wrong(f"an exchange of all with all must have at most {MOST_ROUTERS} routers")
            routers = [(x, y) for y in range(height) for x in range(width)]
            amount = float(self.usual["bandwidth"] * self.usual["phits"])
            self.found = {(a, b): amount for a in routers for b in routers if a != b}
        numbers: dict[Place, int] = {}
        for ends in self.found:
            for place in ends:
                numbers.setdefault(place, len(numbers))
        tasks = [Task(f"({x},{y})", None if self.size is None else y * self.size[0] + x) for x, y in numbers]
        return flows_of(tasks, {(numbers[a], (numbers[b],)): amount for (a, b), amount in self.found.items()})


def from_poseidon(file: BinaryIO) -> FlowSet:
    """Read a communication, with or without its platform, piece by piece.

    Raises
    ------
    PointsmanError
        Naming the line that is wrong.
    """
    reader = _Reader()
    parse_pieces(reader.parser, _in_one_element(file))
    return reader.flows()


def _in_one_element(file: BinaryIO) -> Iterator[bytes]:
    """The file without its declaration, in an element."""
    data = file.read(CHUNK)
    declared = DECLARATION.match(data)
    at = declared.end() if declared else 0
    yield b"<poseidon>" + b"\n" * data.count(b"\n", 0, at)  # lines are those of the file
    data = data[at:]
    while data:
        yield data
        data = file.read(CHUNK)
    yield b"</poseidon>"
