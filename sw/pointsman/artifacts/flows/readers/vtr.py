"""Traffic flows of VTR's placer for FPGAs with a hard network: XML, a ``single_flow`` a flow.

Bandwidths are bytes a second and limits of latency seconds, so the clock and the bytes of a word have to be known. ``src``
and ``dst`` are regular expressions over the names of routers there; here they have to be names, of which escapes are taken off,
``^`` and ``$`` and ``.*`` at an end, and a ``[^\\d]`` that says that a number ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import BinaryIO
from xml.parsers import expat

from pointsman.artifacts.flows.demands import check_counts
from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.xml_pieces import CHUNK, parse_pieces
from pointsman.errors import PointsmanError

MOST = 1e300
"""Numbers are below it."""
KNOWN = {"src", "dst", "bandwidth", "latency_cons", "priority"}


def from_vtr(file: BinaryIO, *, clock: float, word_bytes: int) -> FlowSet:
    """Read a ``.flows`` file piece by piece. ``clock`` in hertz. The priority of a flow is passed over: all are kept or told.

    Raises
    ------
    PointsmanError
        Naming the line that is wrong.
    """
    tasks: dict[str, int] = {}
    flows: list[Flow] = []
    parser = expat.ParserCreate()
    depth = 0

    def wrong(text: str) -> PointsmanError:
        return PointsmanError(f"line {parser.CurrentLineNumber}: {text}")

    def number(given: dict[str, str], key: str) -> Fraction:
        try:
            # Python alone reads "1_000", and digits of other scripts.
            value = float(given[key]) if given[key].isascii() and "_" not in given[key] else 0.0
        except ValueError:
            value = 0.0
        if not 0 < value < MOST:
            raise wrong(f"{key} must be a number above 0, not {given[key][:40]!r}")
        # As written: 3e-8 s at 1e9 Hz are 30 cycles, and not some 4e-15 less, which no word would keep that takes 30.
        return Fraction(given[key])

    def start(tag: str, given: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth == 1:
            if tag != "traffic_flows":
                raise wrong(f"a file of flows must begin with <traffic_flows>, not <{tag}>")
            return
        if tag != "single_flow" or depth > 2:
            raise wrong(f"<{tag}> is not known here; known is <single_flow>")
        unknown = sorted(given.keys() - KNOWN)
        if unknown:
            raise wrong(f"{unknown[0]} is not known; known are {', '.join(sorted(KNOWN))}")
        for key in ("src", "dst", "bandwidth"):
            if key not in given:
                raise wrong(f"a flow must have {key}")
        ends = [_name(given[key], wrong) for key in ("src", "dst")]
        if ends[0] == ends[1]:
            raise wrong(f"a flow must go to another router, not from {ends[0]!r} to itself")
        source, destination = (tasks.setdefault(name, len(tasks)) for name in ends)
        bandwidth = float(number(given, "bandwidth") / word_bytes / Fraction(clock))
        if bandwidth > 1:
            told = f"{given['bandwidth']} bytes a second are {bandwidth:.3g} words a cycle, and a port carries 1"
            raise PointsmanError(
                f"line {parser.CurrentLineNumber}: {told}", hint="a higher --clock, or more --word-bytes"
            )
        check_counts(wrong, len(flows) + 1)
        limit = number(given, "latency_cons") * Fraction(clock) if "latency_cons" in given else None
        if not bandwidth or (limit is not None and not 0 < limit < MOST):
            raise wrong("bandwidth or latency_cons is beyond numbers in words a cycle and cycles")
        flows.append(
            Flow(
                f"{ends[0]} to {ends[1]} ({len(flows)})",
                source,
                (destination,),
                bandwidth,
                None if limit is None else float(limit),
            )
        )

    def end(_tag: str) -> None:
        nonlocal depth
        depth -= 1

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parse_pieces(parser, _without_comments(file))
    return FlowSet(tuple(Task(name) for name in tasks), tuple(flows))


def _without_comments(file: BinaryIO) -> Iterator[bytes]:
    """The file piece by piece, with nothing but the ends of lines of its comments: those of VTR have ``--`` in them, which is no
    XML."""
    kept, inside = b"", False
    while data := file.read(CHUNK):
        kept += data
        while (at := kept.find(b"-->" if inside else b"<!--")) >= 0:
            yield b"\n" * kept.count(b"\n", 0, at) if inside else kept[:at]
            kept, inside = kept[at + (3 if inside else 4) :], not inside
        # What may be the beginning of a mark stays.
        passed, kept = kept[:-3], kept[-3:]
        yield b"\n" * passed.count(b"\n") if inside else passed
    yield b"<!--" if inside else kept


def _name(pattern: str, wrong: Callable[[str], PointsmanError]) -> str:
    name = re.sub(r"^\^?(\.\*)?|(\[\^(\\d|0-9)\])?(\.\*)?((?<!\\)\$)?$", "", pattern)
    if re.search(r"(?<!\\)[*+?\[\](){}|^$]", name) or not name:
        raise wrong(f"{pattern[:60]!r} stands for several routers; flows are between routers with names")
    return re.sub(r"\\(.)", r"\1", name)
