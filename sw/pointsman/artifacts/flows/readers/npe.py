"""Traffic of tt-npe: workloads with phases of transfers, and NoC traces, a list of events. Coordinates become tasks "x,y".

Bytes that go from place to place are added up; a read brings bytes from the place that is read. An event that sets a state moves
nothing: those with the state that follow at the same core move its bytes, from or to its place. Barriers, semaphores and zones
move no messages and are passed over, as is the time at which a transfer begins. Of a trace of several chips, one chip's part is
taken: its own events, and the segments on it of the paths of messages between chips.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

import msgspec

from pointsman.artifacts.flows.demands import check_counts, flows_of
from pointsman.artifacts.flows.flows import FlowSet, Task
from pointsman.artifacts.json_pieces import JsonPieces
from pointsman.errors import PointsmanError

MOST_BYTES = 1 << 53
"""Most of a transfer: numbers up to which sums are exact."""
MAX_RECTANGLE = 4096
"""Most destinations of a multicast."""
CHIP = "--chip takes the part of one chip, such as --chip 0"


class _Transfer(msgspec.Struct):
    packet_size: float
    num_packets: float
    src_x: int
    src_y: int
    dst_x: int | None = None
    dst_y: int | None = None
    mcast_start_x: int | None = None
    mcast_start_y: int | None = None
    mcast_end_x: int | None = None
    mcast_end_y: int | None = None


class _Amounts:
    """Bytes by source and destinations, in the order in which they are met."""

    def __init__(self) -> None:
        self.tasks: dict[tuple[int, int], int] = {}
        self.found: dict[tuple[int, tuple[int, ...]], float] = {}
        self.ends = 0

    def add(self, source: tuple[int, int], ends: Iterable[tuple[int, int]], amount: float) -> None:
        others = [self._task(end) for end in ends if end != source]
        if not others or not amount:
            return  # within a node
        key = self._task(source), tuple(dict.fromkeys(others))
        if key not in self.found:
            self.ends += len(key[1])
            check_counts(PointsmanError, len(self.found) + 1, self.ends)
        self.found[key] = self.found.get(key, 0.0) + amount

    def _task(self, place: tuple[int, int]) -> int:
        return self.tasks.setdefault(place, len(self.tasks))

    def flows(self) -> FlowSet:
        return flows_of([Task(f"{x},{y}") for x, y in self.tasks], self.found)


def from_npe_workload(file: TextIO) -> FlowSet:
    """A workload, ``{"phases": [{"transfers": [...]}]}``, read piece by piece.

    Raises
    ------
    PointsmanError
        Naming the line and the transfer that is wrong.
    """
    amounts = _Amounts()
    pieces = JsonPieces(file)
    seen = False
    for name in pieces.members():
        if name != "phases":
            continue
        if seen:
            raise pieces.wrong("a workload must have its phases once")
        seen = True
        for _ in pieces.elements():
            _phase(pieces, amounts)
    if not seen:
        raise pieces.wrong("a workload must have phases")
    pieces.end()
    return amounts.flows()


def _phase(pieces: JsonPieces, amounts: _Amounts) -> None:
    seen = False
    for name in pieces.members():
        if name != "transfers":
            continue
        seen = True
        for _ in pieces.elements():
            one = pieces.value(_Transfer)
            try:
                _transfer(amounts, one)
            except PointsmanError as error:
                raise pieces.wrong(error.message) from None
    if not seen:
        raise pieces.wrong("a phase must have transfers")


def _transfer(amounts: _Amounts, one: _Transfer) -> None:
    if one.dst_x is not None and one.dst_y is not None:
        ends = [(one.dst_x, one.dst_y)]
    else:
        ends = _rectangle((one.mcast_start_x, one.mcast_start_y, one.mcast_end_x, one.mcast_end_y))
    amount = one.packet_size * one.num_packets
    if not 0 <= amount <= MOST_BYTES:  # nan is neither
        raise PointsmanError(f"bytes must be 0 to {MOST_BYTES}, not {one.packet_size:g} times {one.num_packets:g}")
    amounts.add((one.src_x, one.src_y), ends, amount)


def from_npe_trace(file: TextIO, *, chip: int | None = None) -> FlowSet:
    """A NoC trace, a JSON list of events, read piece by piece; of several chips, the part of that with this number
    (``src_device_id``, and ``device`` in paths).

    Raises
    ------
    PointsmanError
        Naming the line on which the event begins that is wrong.
    """
    trace = _Trace(chip)
    pieces = JsonPieces(file)
    for _ in pieces.elements():
        event = pieces.value(dict[str, Any])
        try:
            trace.event(event)
        except PointsmanError as error:
            raise PointsmanError(f"line {pieces.line}: {error.message}", hint=error.hint) from None
    pieces.end()
    return trace.amounts.flows()


class _Trace:
    def __init__(self, wanted: int | None) -> None:
        self.wanted = wanted
        self.amounts = _Amounts()
        self.states: dict[tuple[tuple[int, int], str, bool], tuple[tuple[int, int], float]] = {}
        """Place and bytes, by the core and processor that set them, for reads or not."""
        self.chip: Any = None

    def event(self, event: dict[str, Any]) -> None:
        if "zone" in event:
            return
        kind = event.get("type")
        if not isinstance(kind, str):
            raise PointsmanError("an event must have a type")
        chip = event.get("src_device_id")
        if "fabric_send" in event or kind.startswith("FABRIC") or event.get("dst_device_id", chip) != chip:
            if self.wanted is None:
                raise PointsmanError("events between chips are not known here", hint=CHIP)
            self._between(event, self.wanted)
            return
        if self.wanted not in (None, chip or 0):
            return
        if "BARRIER" in kind or kind.startswith("SEMAPHORE") or "FLUSH" in kind:
            return
        amount = event.get("num_bytes", 0)
        state = kind.endswith("SET_STATE") or "WITH_STATE" in kind
        if not amount and not state:
            return
        if not kind.startswith(("READ", "WRITE")):
            raise PointsmanError(
                f"an event of type {kind[:40]!r} is not known; known are reads, writes, barriers and semaphores"
            )
        amount = _bytes(event)
        if self.chip is None:
            self.chip = chip
        elif chip is not None and chip != self.chip:
            raise PointsmanError(
                f"events must be of one chip, and here are {str(self.chip)[:9]} and {str(chip)[:9]}", hint=CHIP
            )
        here = _place(event, "sx", "sy")
        if "MULTICAST" in kind:
            corners = tuple(event.get(key) for key in ("mcast_start_x", "mcast_start_y", "mcast_end_x", "mcast_end_y"))
            self.amounts.add(here, _rectangle(corners), amount)
            return
        reads = kind.startswith("READ")
        core = here, str(event.get("proc")), reads
        if kind.endswith("SET_STATE"):
            self.states[core] = _place(event, "dx", "dy"), amount
            return
        if not state:
            there = _place(event, "dx", "dy")
        elif core in self.states:
            there, set_amount = self.states[core]
            amount = set_amount or amount
        else:
            raise PointsmanError(f"there is no event before that sets the state for this {kind[:40]}")
        source, end = (there, here) if reads else (here, there)
        self.amounts.add(source, [end], amount)

    def _between(self, event: dict[str, Any], chip: int) -> None:
        """The segments on a chip of the path of a message between chips, and what is written on it on the way."""
        send = event.get("fabric_send")
        path = send.get("path") if isinstance(send, dict) else None
        if not isinstance(path, list):
            raise PointsmanError(
                "a message between chips must have the path on which it goes, in its fabric_send",
                hint="tt-npe's fabric_post_process.py puts the traces of all chips together, with paths",
            )
        for segment in path:
            if not isinstance(segment, dict) or type(segment.get("device")) is not int:
                raise PointsmanError("a segment of a path must have a device")
            if segment["device"] != chip:
                continue
            start = _place(segment, "segment_start_x", "segment_start_y")
            writes = segment.get("local_writes", ())
            ends = [name for name in ("segment_end", "forward") if f"{name}_x" in segment]
            if not isinstance(writes, list | tuple) or not (ends or writes):
                raise PointsmanError("a segment of a path must have an end, forward or local_writes")
            for name in ends:
                self.amounts.add(start, [_place(segment, f"{name}_x", f"{name}_y")], _bytes(event))
            for one in writes:
                if not isinstance(one, dict):
                    raise PointsmanError("local_writes of a segment must be a list of writes")
                self.amounts.add(start, [_place(one, "dx", "dy")], _bytes(one))


def _bytes(event: dict[str, Any]) -> float:
    amount = event.get("num_bytes", 0)
    if not isinstance(amount, int | float) or not 0 <= amount <= MOST_BYTES:
        raise PointsmanError(f"num_bytes must be 0 to {MOST_BYTES}, not {str(amount)[:20]}")
    return amount


def _place(event: dict[str, Any], x: str, y: str) -> tuple[int, int]:
    at = event.get(x), event.get(y)
    if not all(type(one) is int and 0 <= one < 1 << 16 for one in at):
        raise PointsmanError(f"{x} and {y} must be coordinates from 0 on, not {str(at[0])[:20]} and {str(at[1])[:20]}")
    return at  # type: ignore[return-value]


def _rectangle(corners: Any) -> list[tuple[int, int]]:
    if not all(type(one) is int and 0 <= one < 1 << 16 for one in corners):
        raise PointsmanError("a transfer must have a destination, or the corners of a multicast")
    x0, y0, x1, y1 = corners
    wide, high = abs(x1 - x0) + 1, abs(y1 - y0) + 1
    if wide * high > MAX_RECTANGLE:
        raise PointsmanError(f"a multicast must go to at most {MAX_RECTANGLE} places, not {wide * high}")
    return [(min(x0, x1) + k % wide, min(y0, y1) + k // wide) for k in range(wide * high)]
