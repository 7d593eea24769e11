"""Documents of what ``pointsman optical --json`` has written: who had which channel when, packets at routers, delays.

Rows are those of the file (``pointsman.optical.timeline``), so the size of a page is bounded; curves and distributions are
made from all messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from math import prod
from typing import Any, Literal

import msgspec
import numpy as np

from pointsman.errors import PointsmanError
from pointsman.network import Topology, graph, mesh, torus
from pointsman.network.topology import MAX_NODES
from pointsman.optical.fabric import Fabric, fabric

from .document import Carried, Document
from .network import net_of

MODES = ("reserve", "multihop", "compiled", "mixed")
SLICES = 300
"""Equal slices of the run for the messages that are under way."""
BINS = 60
QUANTILES = 200
FIGURES = (
    "delivered",
    "throughput",
    "set_up",
    "retries",
    "control_hops",
    "switch_settings",
    "packet_hops",
    "loads",
    "bound",
)
_MOST = 1 << 60


class _Network(msgspec.Struct):
    kind: Literal["torus", "mesh", "graph"]
    size: int | list[int]
    links: list[tuple[int, int]] = []


class _Spread(msgspec.Struct):
    mean: float | None
    p50: float | None
    p99: float | None


class _Mode(msgspec.Struct):
    """What the document needs of a mode; other keys are passed over."""

    network: _Network
    degree: int
    slots: int
    latency: _Spread
    delay: _Spread
    messages: list[tuple[int, int, int, int, int | None, int | None]]
    held: list[tuple[int | None, int | None, int, int, int, int | None, int | None]] = []
    hops: list[tuple[int, int, int, int, int, int, int]] = []
    held_until: int = 0
    hops_until: int = 0


def is_optical(plain: object) -> bool:
    """Whether a JSON value has the form of what ``pointsman optical`` writes."""
    return (
        isinstance(plain, dict)
        and bool(plain)
        and all(name in MODES and isinstance(one, dict) and "messages" in one for name, one in plain.items())
    )


def optical_document(plain: Mapping[str, Any], name: str) -> Document:
    """Document of a traffic that was reserved, hopped or was compiled.

    Raises
    ------
    PointsmanError
        If a key is missing, a value is of another kind, or a number names nothing.
    """
    try:
        modes = {mode: msgspec.convert(one, _Mode) for mode, one in plain.items()}
    except msgspec.ValidationError as error:
        raise PointsmanError(
            f"these are no results of pointsman optical: {error}", hint="pointsman optical SPEC.json --json FILE"
        ) from None
    first = next(iter(modes.values())).network
    if any(one.network != first for one in modes.values()):
        raise PointsmanError("these are no results of pointsman optical: their networks are not the same")
    net = net_of(_topology(first))
    for mode, one in modes.items():
        _check(mode, one, net.nodes)
    size = "x".join(map(str, net.size))
    ways = fabric(_topology(first)) if any(one.hops for one in modes.values()) else None
    return Document(
        title=f"{name}: {', '.join(modes)} on a {size} {net.kind}",
        target="optical",
        network=net,
        optical=[_carried(mode, one, plain[mode], ways) for mode, one in modes.items()],
    )


def _topology(network: _Network) -> Topology:
    size = network.size if isinstance(network.size, list) else [network.size]
    if any(extent < 1 for extent in size) or prod(size) > MAX_NODES:
        raise PointsmanError(f"these are no results of pointsman optical: there is no network of size {size}")
    if network.kind == "graph":
        return graph(size[0], network.links)
    return (torus if network.kind == "torus" else mesh)(*size)


def _check(mode: str, one: _Mode, nodes: int) -> None:
    def wrong(what: str, row: object) -> PointsmanError:
        return PointsmanError(f"these are no results of pointsman optical: {mode}.{what} has {row}")

    for row in one.messages:
        if not (_is_node(row[1], nodes) and _is_node(row[2], nodes) and _are_times(row[0], row[3], *row[4:])):
            raise wrong("messages", list(row))
    for held in one.held:
        ends = [end for end in held[:2] if end is not None]
        known = ends and all(_is_node(end, nodes) for end in ends) and 0 <= held[3] < len(one.messages)
        if not (known and _are_times(*held[2:3], *held[4:])):
            raise wrong("held", list(held))
    for hop in one.hops:
        known = all(_is_node(end, nodes) for end in hop[:2]) and 0 <= hop[3] < len(one.messages)
        if not (known and _are_times(hop[2], *hop[4:])):
            raise wrong("hops", list(hop))
    if not _are_times(one.slots, one.degree, one.held_until, one.hops_until):
        raise wrong("slots", one.slots)


def _is_node(value: int, nodes: int) -> bool:
    return 0 <= value < nodes


def _are_times(*values: int | None) -> bool:
    return all(value is None or 0 <= value < _MOST for value in values)


def _carried(mode: str, one: _Mode, plain: Mapping[str, Any], ways: Fabric | None) -> Carried:
    ends: dict[tuple[int, int], int] = {}

    def place(u: int | None, v: int | None) -> int:
        return ends.setdefault((-1 if u is None else u, -1 if v is None else v), len(ends))

    held = [
        (place(u, v), channel, message, locked, _or(made), _or(freed))
        for u, v, channel, message, locked, made, freed in one.held
    ]
    hops = [(place(u, v), channel, message, *times) for u, v, channel, message, *times in one.hops]
    named = sorted({row[2] for row in held} | {row[2] for row in hops})
    ready = np.array([row[0] for row in one.messages], np.int64)
    done = np.array([_or(row[5]) for row in one.messages], np.int64)
    delays = np.sort((done - ready)[done >= 0])
    return Carried(
        name=mode,
        degree=one.degree,
        slots=one.slots,
        ends=list(ends),
        ways=_ways(ways, ends) if ways is not None and one.hops else [],
        held=held,
        held_until=one.held_until,
        hops=hops,  # type: ignore[arg-type]
        hops_until=one.hops_until,
        messages=[
            (number, *row[:4], _or(row[4]), _or(row[5]))
            for number in named
            for row in one.messages[number : number + 1]
        ],
        under_way=_under_way(ready, done, one.slots),
        quantiles=[int(delays[min(len(delays) - 1, len(delays) * i // QUANTILES)]) for i in range(QUANTILES + 1)]
        if len(delays)
        else [],
        histogram=_histogram(delays),
        figures=_figures(one, plain),
    )


def _ways(ways: Fabric, ends: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Numbers of the links of the first way between nodes; none to or from a node itself."""
    number = {pair: index for index, pair in enumerate(ways.links)}
    return [[number[hop] for hop in pairwise(ways.way(u, v))] if min(u, v) >= 0 else [] for u, v in ends]


def _or(value: int | None) -> int:
    return -1 if value is None else value


def _under_way(ready: np.ndarray, done: np.ndarray, slots: int) -> list[int]:
    """Messages that are ready and not there yet, in the middle of each slice."""
    slices = max(1, min(SLICES, slots))
    middle = (np.arange(slices) + 0.5) * slots / slices
    ended = np.sort(done[done >= 0])
    found = np.searchsorted(np.sort(ready), middle, side="right") - np.searchsorted(ended, middle, side="right")
    return [int(count) for count in found]


def _histogram(delays: np.ndarray) -> tuple[float, list[int]]:
    """Width of a bin, and messages in each; the last has all above the 99.5th percentile."""
    if not len(delays):
        return 1.0, []
    most = int(delays[min(len(delays) - 1, len(delays) * 199 // 200)]) + 1
    width = max(1, -(-most // BINS))
    bins = -(-most // width)
    counts = np.bincount(np.minimum(delays // width, bins), minlength=bins + 1)
    return float(width), [int(count) for count in counts]


def _figures(one: _Mode, plain: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"channels": one.degree, "slots": one.slots}
    found |= {name: plain[name] for name in FIGURES if isinstance(plain.get(name), int | float)}
    for name in ("latency", "delay"):
        found |= {f"{name} {key}": value for key, value in msgspec.to_builtins(getattr(one, name)).items()}
    model = plain.get("model")
    if isinstance(model, dict):
        found |= {
            f"model: {name}": value
            for name, value in model.items()
            if isinstance(name, str) and (value is None or isinstance(value, int | float))
        }
    return found
