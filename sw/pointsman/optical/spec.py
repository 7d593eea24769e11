"""The file that ``pointsman optical`` reads: a network, its channels, how each mode works, and the traffic.

docs/optical.md shows the form. Every number is checked here or where it is used; messages name the key.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import msgspec

from pointsman.artifacts.json_file import read_json
from pointsman.errors import PointsmanError
from pointsman.network import Topology, graph, mesh, torus

from .compiled import Registers
from .fabric import Fabric, fabric
from .reservation import MOST_CHANNELS, Scheme
from .traces import read_trace
from .traffic import MOST_SLOTS, Traffic, listed, together, uniform

MODES = ("reserve", "multihop", "compiled")
MIXED = "mixed"
"""Mode of traffic of which a part is known beforehand and compiled, beside the others."""
MOST_DEGREE = 1 << 20
MOST_SEED = 1 << 32


class _Network(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["torus", "mesh", "graph"]
    size: int | list[int]
    links: list[tuple[int, int]] | None = None


class _Reservation(msgspec.Struct, forbid_unknown_fields=True):
    direction: Literal["forward", "backward"] = "backward"
    hold: int = 0
    cset: int | Literal["all"] = 1
    conservative: bool = False
    control_slots: tuple[int, int] = (1, 1)
    retry: int = 5
    set_at: Literal["res", "ack"] = "res"
    probe: int | None = None
    requests: int | Literal["all"] = "all"


class _Links(msgspec.Struct, forbid_unknown_fields=True):
    links: list[tuple[int, int]]


class _Compiled(msgspec.Struct, forbid_unknown_fields=True):
    registers: int | None = None
    load_slots: int = 0
    overlap: bool = False


class _Traffic(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["uniform"] | None = None
    rate: float | None = None
    slots: int | None = None
    messages: list[tuple[int, int, int, int]] | None = None
    demand: list[list[int]] | None = None
    phases: list[list[tuple[int, int, int]]] | None = None
    trace: str | None = None
    slot_words: int | None = None


class _Dynamic(msgspec.Struct, forbid_unknown_fields=True):
    traffic: _Traffic
    by: Literal["reserve", "multihop"] = "reserve"
    channels: int | None = None


class _File(msgspec.Struct, forbid_unknown_fields=True):
    network: _Network
    traffic: _Traffic
    degree: int = 1
    routing: Literal["xy", "adaptive"] = "xy"
    reservation: _Reservation = msgspec.field(default_factory=_Reservation)
    logical: Literal["torus", "hypercube", "allxy", "all-to-all"] | _Links | None = None
    switch_slots: int = 1
    compiled: _Compiled = msgspec.field(default_factory=_Compiled)
    dynamic: _Dynamic | None = None
    slots: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class Dynamic:
    """Messages that are not known beforehand, and what is kept for them beside compiled connections.

    Parameters
    ----------
    known : int
        Messages that are known; the others of the phase are not.
    by : "reserve" or "multihop"
        How they are carried.
    channels : int
        Channels that are kept for reservations; of a logical topology, as many as it needs.
    """

    known: int
    by: Literal["reserve", "multihop"]
    channels: int


@dataclass(frozen=True)
class Spec:
    """What is to be simulated.

    Parameters
    ----------
    fabric : Fabric
    degree : int
        Channels of each link, for reservations, and for a logical topology of the user's own links.
    scheme : Scheme
    logical : str or tuple of links
    switch : int
        Slots for routing a packet at a node.
    registers : Registers
    phases : tuple of Traffic
        Messages; a phase begins when the one before is delivered.
    dynamic : Dynamic or None
        Messages that are not known beforehand, the last of the only phase.
    rate : float or None
        Packets per node and slot, of uniform traffic.
    slots : int or None
        Length of the run; None: until all is delivered.
    seed : int
    """

    fabric: Fabric
    degree: int
    scheme: Scheme
    logical: str | tuple[tuple[int, int], ...]
    switch: int
    registers: Registers
    phases: tuple[Traffic, ...]
    dynamic: Dynamic | None
    rate: float | None
    slots: int | None
    seed: int


def read_spec(path: Path) -> Spec:
    """Read SPEC.json.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the place of the first fault.
    """
    return read_json(path, "specification", _File, lambda file: _spec(file, path.parent), page="docs/optical.md")


def spec_from(content: Mapping[str, Any], folder: Path) -> Spec:
    """A specification from plain values; traces are in ``folder``.

    Raises
    ------
    PointsmanError
        If it is wrong; the message has the place of the first fault.
    """
    return _spec(check_form(content), folder)


def check_form(content: Mapping[str, Any]) -> _File:
    """Check names and kinds of values, but not yet what they mean.

    Raises
    ------
    PointsmanError
        With the place of the first fault.
    """
    try:
        return msgspec.convert(content, _File)
    except msgspec.ValidationError as error:
        raise PointsmanError(str(error), hint="docs/optical.md shows the form") from None


def _spec(file: _File, folder: Path) -> Spec:
    if not 1 <= file.degree <= MOST_DEGREE:
        raise PointsmanError(f"degree: there must be at least 1 channel, not {file.degree}")
    if not 0 <= file.seed < MOST_SEED:
        raise PointsmanError(f"seed: it must be 0 to 2^32 - 1, not {file.seed}")
    if file.slots is not None and not 1 <= file.slots < MOST_SLOTS:
        raise PointsmanError(f"slots: a run must have at least 1 slot, and at most {MOST_SLOTS - 1}, not {file.slots}")
    wanted = file.reservation
    scheme = Scheme(
        wanted.direction,
        wanted.hold,
        None if wanted.cset == "all" else wanted.cset,
        wanted.conservative,
        wanted.control_slots,
        wanted.retry,
        wanted.set_at,
        wanted.probe,
        None if wanted.requests == "all" else wanted.requests,
    )
    net = fabric(_topology(file.network), file.routing)
    own: str | tuple[tuple[int, int], ...]
    if isinstance(file.logical, _Links):
        own = tuple(file.logical.links)
    elif file.logical is None:
        own = "torus" if file.network.kind == "torus" else net.links
    else:
        own = file.logical
    registers = Registers(file.compiled.registers, file.compiled.load_slots, file.compiled.overlap)
    place = _Place("traffic", net.nodes, file.slots, file.seed, folder)
    phases = _phases(file.traffic, place)
    rates = [_rate(file.traffic)]
    dynamic = None
    if file.dynamic is not None:
        if len(phases) != 1:
            raise PointsmanError(
                'dynamic: traffic that is not known beforehand may stand beside one phase, not beside "phases"'
            )
        if file.dynamic.traffic.phases is not None:
            raise PointsmanError('dynamic.traffic: traffic that is not known beforehand must have no "phases"')
        channels = file.degree if file.dynamic.channels is None else file.dynamic.channels
        if file.dynamic.by == "reserve" and not 1 <= channels <= MOST_CHANNELS:
            raise PointsmanError(
                f"dynamic.channels: there must be 1 to {MOST_CHANNELS} for reservations, not {channels}"
            )
        if file.dynamic.by == "multihop" and file.dynamic.channels is not None:
            raise PointsmanError(
                "dynamic.channels: multihop takes as many channels as its logical topology needs", hint="leave it out"
            )
        # Other random messages than those of the known traffic.
        beside = _phases(file.dynamic.traffic, replace(place, key="dynamic.traffic", seed=file.seed + MOST_SEED))[0]
        dynamic = Dynamic(len(phases[0]), file.dynamic.by, channels)
        phases = (together(phases[0], beside),)
        rates.append(_rate(file.dynamic.traffic))
    rate = None if None in rates else sum(one for one in rates if one is not None)
    return Spec(
        net, file.degree, scheme, own, file.switch_slots, registers, phases, dynamic, rate, file.slots, file.seed
    )


def _rate(traffic: _Traffic) -> float | None:
    """Packets per node and slot, of uniform traffic."""
    if traffic.kind is None:
        return None
    assert traffic.rate is not None
    assert traffic.slots is not None
    return traffic.rate * traffic.slots


def _topology(wanted: _Network) -> Topology:
    size = wanted.size if isinstance(wanted.size, list) else [wanted.size]
    if wanted.kind == "graph":
        if wanted.links is None or len(size) != 1:
            raise PointsmanError('network: a graph must have a number of nodes as "size", and "links"')
        return graph(size[0], wanted.links)
    if wanted.links is not None:
        raise PointsmanError(f"network.links: they are for a graph, not for a {wanted.kind}")
    return (torus if wanted.kind == "torus" else mesh)(*size)


@dataclass(frozen=True)
class _Place:
    """Where traffic stands in a file, and what else there is to know for it."""

    key: str
    nodes: int
    slots: int | None
    seed: int
    folder: Path


def _phases(wanted: _Traffic, place: _Place) -> tuple[Traffic, ...]:
    key, nodes = place.key, place.nodes
    kinds = ("kind", "messages", "demand", "phases", "trace")
    given = [name for name in kinds if getattr(wanted, name) is not None]
    if len(given) != 1:
        raise PointsmanError(f'{key}: there must be one of "kind", "messages", "demand", "phases" and "trace"')
    if wanted.kind is None and (wanted.rate is not None or wanted.slots is not None):
        raise PointsmanError(f'{key}: "rate" and "slots" are for traffic of a kind')
    if wanted.trace is None and wanted.slot_words is not None:
        raise PointsmanError(f'{key}: "slot_words" is for a trace')
    if wanted.messages is not None:
        return (listed(wanted.messages, nodes, key=f"{key}.messages"),)
    if wanted.demand is not None:
        return (_of_demand(wanted.demand, place),)
    if wanted.trace is not None:
        path = place.folder / wanted.trace
        read = read_trace(path, slot_words=1 if wanted.slot_words is None else wanted.slot_words)
        return (listed(read, nodes, key=f"{path}: messages"),)
    if wanted.phases is not None:
        if place.slots is not None:
            raise PointsmanError('slots: with "phases" a run is as long as they take')
        return tuple(
            listed([(0, *message) for message in phase], nodes, key=f"{key}.phases[{number}]")
            for number, phase in enumerate(wanted.phases)
        )
    if wanted.rate is None or wanted.slots is None:
        raise PointsmanError(f'{key}: uniform traffic must have a "rate" and "slots", the length of messages')
    if place.slots is None:
        raise PointsmanError("slots: with uniform traffic there must be a length of the run")
    if not math.isfinite(wanted.rate):
        raise PointsmanError(f"{key}.rate: it must be a number, not {wanted.rate}")
    return (uniform(nodes, wanted.rate, wanted.slots, place.slots, place.seed),)


def _of_demand(demand: list[list[int]], place: _Place) -> Traffic:
    """A message for each entry of a matrix, all of them ready at once."""
    key, nodes = f"{place.key}.demand", place.nodes
    if len(demand) != nodes or any(len(row) != nodes for row in demand):
        raise PointsmanError(f"{key}: there must be {nodes} rows of {nodes} numbers of packets")
    for u, row in enumerate(demand):
        for v, packets in enumerate(row):
            if packets < 0 or (u == v and packets):
                rule = "must not be negative" if packets < 0 else "to the node itself must be 0"
                raise PointsmanError(f"{key}[{u}][{v}]: a demand {rule}, but is {packets}")
            if packets >= MOST_SLOTS:
                raise PointsmanError(
                    f"{key}[{u}][{v}]: a run has at most {MOST_SLOTS} slots, too few for {packets} packets"
                )
    return listed(
        [(0, u, v, packets) for u, row in enumerate(demand) for v, packets in enumerate(row) if packets], nodes
    )
