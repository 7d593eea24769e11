"""The JSON files that ``pointsman channels`` reads (connections with words) and writes (phases)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import msgspec

from pointsman.artifacts.json_file import read_json
from pointsman.artifacts.network_files import NetworkEntry, graph_entry, sized_entry
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.network import Topology, graph

from .channels import ChannelCosts, ChannelProblem, Demand, PhasedConnections


class _Budget(msgspec.Struct, forbid_unknown_fields=True):
    user: int
    synchronization: int = 0
    spare: int = 0


class _Wish(msgspec.Struct, forbid_unknown_fields=True):
    connection: int
    bandwidth: float | None = None
    latency: int | None = None


class _Costs(msgspec.Struct, forbid_unknown_fields=True):
    word: int = 2
    access: int | None = None
    synchronize: int = 352
    initialize: int = 176
    message: int = 400
    hop: int = 4
    duplex: bool = True


class _File(msgspec.Struct, forbid_unknown_fields=True):
    network: NetworkEntry
    channels: int | _Budget
    connections: list[tuple[int, int, int]]
    phases: int | Literal["fewest"] = "fewest"
    demands: list[_Wish] = []
    order: list[tuple[int, int]] = []
    costs: _Costs = msgspec.field(default_factory=_Costs)


def read_channel_problem(given: Path | Mapping[str, Any]) -> ChannelProblem:
    """Read SPEC.json, or take its values.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the place of the first fault.
    """
    return read_json(given, "file of connections", _File, _problem, page="docs/channels.md")


def write_phases(path: Path, answer: PhasedConnections) -> None:
    """Write OUT.json, a connection a line."""
    write_whole(path, phases_text(answer))


def phases_text(answer: PhasedConnections) -> str:
    """OUT.json as text."""
    content = answer.as_dict()
    phases = []
    for phase in content.pop("phases"):
        rows = ",\n".join("   " + json.dumps(row, separators=(",", ":")) for row in phase.pop("connections"))
        phases.append("  {" + json.dumps(phase)[1:-1] + ', "connections": [' + (f"\n{rows}\n  " if rows else "") + "]}")
    rest = json.dumps(content, indent=1)
    return '{\n "phases": [' + ("\n" + ",\n".join(phases) + "\n " if phases else "") + "]," + rest[1:] + "\n"


def _problem(file: _File) -> ChannelProblem:
    wishes: dict[int, _Wish] = {}
    for index, wish in enumerate(file.demands):
        place = f"demands[{index}]"
        if not 0 <= wish.connection < len(file.connections):
            raise PointsmanError(f"{place}: there is no connection {wish.connection} among {len(file.connections)}")
        if wish.connection in wishes:
            raise PointsmanError(f"{place}: connection {wish.connection} has demands already")
        if wish.bandwidth is not None and not math.isfinite(wish.bandwidth):
            raise PointsmanError(f"{place}: a bandwidth must be a number")
        wishes[wish.connection] = wish
    none = _Wish(0)
    demands = tuple(
        Demand(
            *entry,
            bandwidth=Fraction(str(wishes.get(index, none).bandwidth or 0)),
            latency=wishes.get(index, none).latency,
        )
        for index, entry in enumerate(file.connections)
    )
    return ChannelProblem(
        _topology(file.network),
        _channels(file.channels),
        demands,
        None if file.phases == "fewest" else file.phases,
        tuple(file.order),
        ChannelCosts(**msgspec.structs.asdict(file.costs)),
    )


def _channels(given: int | _Budget) -> int:
    """Channels for connections: what the user's programs have, less those for synchronization and in reserve."""
    if isinstance(given, int):
        return given
    if min(given.synchronization, given.spare) < 0:
        raise PointsmanError("channels: a number of channels must not be negative")
    left = given.user - given.synchronization - given.spare
    if left < 1:
        raise PointsmanError(
            f"channels: {given.user} less {given.synchronization} for synchronization and {given.spare} in reserve leaves "
            "none for connections"
        )
    return left


def _topology(entry: NetworkEntry) -> Topology:
    if entry.kind != "graph":
        return sized_entry(entry, "network")
    nodes, links = graph_entry(entry, "network")
    return graph(nodes, sorted({(min(pair), max(pair)) for pair in links}))
