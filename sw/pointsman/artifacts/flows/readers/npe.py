"""Traffic of tt-npe: workloads with phases of transfers, and NoC traces with an event a line. Coordinates become tasks "x,y".

Bytes that go from place to place are added up; a read brings bytes from the place that is read. Barriers, semaphores and zones
move no messages and are passed over, as is the time at which a transfer begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

import msgspec

from pointsman.artifacts.flows.demands import flows_of
from pointsman.artifacts.flows.flows import FlowSet, Task
from pointsman.errors import PointsmanError

MAX_RECTANGLE = 4096
"""Most destinations of a multicast."""


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


class _Phase(msgspec.Struct):
    transfers: list[_Transfer]


class _Workload(msgspec.Struct):
    phases: list[_Phase]


class _Amounts:
    """Bytes by source and destinations, in the order in which they are met."""

    def __init__(self) -> None:
        self.tasks: dict[tuple[int, int], int] = {}
        self.found: dict[tuple[int, tuple[int, ...]], float] = {}

    def add(self, source: tuple[int, int], ends: Iterable[tuple[int, int]], amount: float) -> None:
        others = [self._task(end) for end in ends if end != source]
        if not others or not amount:
            return  # within a node
        key = self._task(source), tuple(dict.fromkeys(others))
        self.found[key] = self.found.get(key, 0.0) + amount

    def _task(self, place: tuple[int, int]) -> int:
        return self.tasks.setdefault(place, len(self.tasks))

    def flows(self) -> FlowSet:
        return flows_of([Task(f"{x},{y}") for x, y in self.tasks], self.found)


def from_npe_workload(text: bytes) -> FlowSet:
    """A workload: ``{"phases": [{"transfers": [...]}]}``.

    Raises
    ------
    PointsmanError
        Naming the transfer that is wrong.
    """
    try:
        workload = msgspec.json.decode(text, type=_Workload)
    except (msgspec.ValidationError, msgspec.DecodeError, RecursionError) as error:
        raise PointsmanError(str(error) or "nested too deeply") from None
    amounts = _Amounts()
    for p, phase in enumerate(workload.phases):
        for t, one in enumerate(phase.transfers):
            where = f"phases[{p}].transfers[{t}]"
            if one.dst_x is not None and one.dst_y is not None:
                ends = [(one.dst_x, one.dst_y)]
            else:
                corners = (one.mcast_start_x, one.mcast_start_y, one.mcast_end_x, one.mcast_end_y)
                ends = _rectangle(corners, where)
            amount = one.packet_size * one.num_packets
            if not (isfinite(amount) and amount >= 0):
                raise PointsmanError(
                    f"{where}: bytes must be 0 or more, not {one.packet_size:g} times {one.num_packets:g}"
                )
            amounts.add((one.src_x, one.src_y), ends, amount)
    return amounts.flows()


def from_npe_trace(lines: Iterable[str]) -> FlowSet:
    """A NoC trace: a JSON list with an event a line, read line by line.

    Raises
    ------
    PointsmanError
        Naming the line that is wrong.
    """
    amounts = _Amounts()
    for number, line in enumerate(lines, 1):
        text = line.strip().strip(",").removeprefix("[").removesuffix("]").strip().strip(",")
        if not text:
            continue
        try:
            event = msgspec.json.decode(text)
        except msgspec.DecodeError as error:
            raise PointsmanError(f"line {number}: an event must stand on a line of its own: {error}") from None
        if not isinstance(event, dict):
            raise PointsmanError(f"line {number}: an event must be an object, not {text[:40]!r}")
        _event(amounts, event, f"line {number}")
    return amounts.flows()


def _event(amounts: _Amounts, event: dict[str, Any], where: str) -> None:
    if "zone" in event:
        return
    kind = event.get("type")
    if not isinstance(kind, str):
        raise PointsmanError(f"{where}: an event must have a type")
    if "fabric_send" in event or kind.startswith("FABRIC"):
        raise PointsmanError(f"{where}: events between chips are not known here")
    amount = event.get("num_bytes", 0)
    if "BARRIER" in kind or kind.startswith("SEMAPHORE") or "FLUSH" in kind or not amount:
        return
    if not kind.startswith(("READ", "WRITE")):
        raise PointsmanError(
            f"{where}: an event of type {kind[:40]!r} is not known; known are reads, writes, barriers and semaphores"
        )
    if not isinstance(amount, int | float) or not (isfinite(amount) and amount > 0):
        raise PointsmanError(f"{where}: num_bytes must be 0 or more, not {str(amount)[:20]}")
    here = _place(event, "sx", "sy", where)
    if "MULTICAST" in kind:
        corners = tuple(event.get(key) for key in ("mcast_start_x", "mcast_start_y", "mcast_end_x", "mcast_end_y"))
        amounts.add(here, _rectangle(corners, where), amount)
        return
    there = _place(event, "dx", "dy", where)
    source, end = (there, here) if kind.startswith("READ") else (here, there)
    amounts.add(source, [end], amount)


def _place(event: dict[str, Any], x: str, y: str, where: str) -> tuple[int, int]:
    at = event.get(x), event.get(y)
    if not all(type(one) is int and 0 <= one < 1 << 16 for one in at):
        raise PointsmanError(
            f"{where}: {x} and {y} must be coordinates from 0 on, not {str(at[0])[:20]} and {str(at[1])[:20]}"
        )
    return at  # type: ignore[return-value]


def _rectangle(corners: Any, where: str) -> list[tuple[int, int]]:
    if not all(type(one) is int and 0 <= one < 1 << 16 for one in corners):
        raise PointsmanError(f"{where}: a transfer must have a destination, or the corners of a multicast")
    x0, y0, x1, y1 = corners
    wide, high = abs(x1 - x0) + 1, abs(y1 - y0) + 1
    if wide * high > MAX_RECTANGLE:
        raise PointsmanError(f"{where}: a multicast must go to at most {MAX_RECTANGLE} places, not {wide * high}")
    return [(min(x0, x1) + k % wide, min(y0, y1) + k // wide) for k in range(wide * high)]
