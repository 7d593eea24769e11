"""A specification run in each mode, and the figures side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError

from .compiled import run_compiled
from .logical import Logical, logical
from .mixed import run_mixed
from .multihop import hop, model_of
from .outcome import NEVER, Outcome
from .reservation import reserve
from .spec import MIXED, MODES, Spec
from .timeline import UNTIL, joined
from .traffic import Traffic

ROWS = (*UNTIL, "messages")
"""Keys of the answer that have a row for each of many things."""


def logical_of(spec: Spec) -> Logical:
    """The logical topology of a specification, assigned.

    Raises
    ------
    PointsmanError
        If the user's own links need more channels than there are.
    """
    if isinstance(spec.logical, str):
        return logical(spec.fabric, spec.logical, seed=spec.seed)
    found = logical(spec.fabric, "links", spec.logical, seed=spec.seed)
    if found.degree > spec.degree and spec.logical != spec.fabric.links:
        raise PointsmanError(
            f"logical.links: they need {found.degree} channels, and there are {spec.degree}",
            hint=f"no assignment needs fewer than {found.bound}" if found.bound > spec.degree else None,
        )
    return found


def run_modes(spec: Spec, modes: Sequence[str] = MODES, made: Logical | None = None) -> dict[str, dict[str, Any]]:
    """Simulate the traffic in each mode. ``made``: the logical topology, if it is there already.

    Where a part of the messages is not known beforehand, *mixed* compiles those that are and leaves channels to the others;
    the other modes carry all in their own way, *compiled* as if all were known. Figures are then given for either class.

    Raises
    ------
    PointsmanError
        As the simulators.
    """
    answer: dict[str, dict[str, Any]] = {}
    if MIXED in modes and spec.dynamic is None:
        raise PointsmanError(
            'mode mixed is for files with "dynamic", traffic that is not known beforehand, and this one has none',
            hint="docs/optical.md shows the form; the other modes need none",
        )
    if made is None and needs_logical(spec, modes):
        made = logical_of(spec)
    for mode in modes:
        if mode == "reserve":
            found = _in_turn(
                spec,
                lambda traffic: reserve(
                    spec.fabric, spec.degree, spec.scheme, traffic, slots=spec.slots, seed=spec.seed
                ),
            )
            answer[mode] = {**found.as_dict(), "degree": spec.degree, "model": _set_up(spec)}
        elif mode == "multihop":
            assert made is not None
            topology = made
            found = _in_turn(spec, partial(_hop, spec, topology))
            answer[mode] = {
                **found.as_dict(latency_is_delay=True),
                "logical": topology.name,
                "degree": topology.degree,
                "bound": topology.bound,
                "model": _hops(spec, topology),
            }
        elif mode == MIXED:
            found = run_mixed(spec, made)
            answer[mode] = {**found.as_dict(), "model": _least(spec)}
        else:
            found = _in_turn(
                spec,
                lambda traffic: run_compiled(spec.fabric, traffic, spec.registers, slots=spec.slots, seed=spec.seed),
            )
            answer[mode] = {**found.as_dict(), "model": _least(spec)}
        if spec.dynamic is not None:
            known = spec.dynamic.known
            answer[mode]["classes"] = {
                "known": found.of_class(slice(known)),
                "dynamic": found.of_class(slice(known, None)),
            }
        answer[mode]["network"] = _network(spec)
        for name in ROWS:
            if name in answer[mode]:
                answer[mode][name] = answer[mode].pop(name)
    return answer


def needs_logical(spec: Spec, modes: Sequence[str]) -> bool:
    """Whether packets hop, all of them or beside compiled connections."""
    return "multihop" in modes or (MIXED in modes and spec.dynamic is not None and spec.dynamic.by == "multihop")


def _network(spec: Spec) -> dict[str, Any]:
    """As in the specification."""
    topology = spec.fabric.topology
    if topology.regular:
        return {"kind": "torus" if topology.kind == "torus" else "mesh", "size": list(topology.size)}
    pairs = sorted({(min(pair), max(pair)) for pair in spec.fabric.links})
    return {"kind": "graph", "size": topology.nodes, "links": [list(pair) for pair in pairs]}


def _hop(spec: Spec, topology: Logical, traffic: Traffic) -> Outcome:
    return hop(topology, spec.switch, traffic, slots=spec.slots)


def _in_turn(spec: Spec, run: Callable[[Traffic], Outcome]) -> Outcome:
    """Phases one after the other, each with its messages ready at its begin."""
    if len(spec.phases) == 1:
        return run(spec.phases[0])
    begin, messages = 0, 0
    parts, lines = [], []
    for phase in spec.phases:
        found = run(phase)
        moved = Traffic(phase.ready + begin, phase.source, phase.destination, phase.slots)
        established, started, done = (
            np.where(column == NEVER, NEVER, column + begin)
            for column in (found.established, found.started, found.done)
        )
        parts.append(Outcome(moved, established, started, done, found.slots, found.retries, found.counts))
        lines.append((found.timeline, begin, messages))
        messages += len(phase)
        begin += found.slots
    columns = ("ready", "source", "destination", "slots")
    none = np.zeros(0, np.int64)
    counts: dict[str, Any] = {}
    for part in parts:
        for name, value in part.counts.items():
            counts[name] = max(counts.get(name, 0), value) if name == "degree" else counts.get(name, 0) + value
    return Outcome(
        Traffic(*(np.concatenate([none, *(getattr(part.traffic, name) for part in parts)]) for name in columns)),
        np.concatenate([none, *(part.established for part in parts)]),
        np.concatenate([none, *(part.started for part in parts)]),
        np.concatenate([none, *(part.done for part in parts)]),
        begin,
        sum(part.retries for part in parts),
        counts,
        joined(lines),
    )


def _set_up(spec: Spec) -> dict[str, float | None]:
    """Slots for setting up a connection that meets nobody, in the mean over the messages."""
    hops = spec.fabric.hops()
    lengths = np.concatenate([hops[phase.source, phase.destination] for phase in spec.phases] or [np.zeros(0)])
    if not len(lengths):
        return {"set_up": None, "latency": None}
    processing, propagation = spec.scheme.control_slots
    mean = float(lengths.mean())
    made = (2 * mean + 1) * processing + 2 * mean * propagation
    return {"set_up": round(made, 6), "latency": round(made + (spec.degree - 1) / 2, 6)}


def _hops(spec: Spec, topology: Logical) -> dict[str, float | None]:
    model = model_of(topology, spec.switch)
    rate = spec.rate or 0.0
    delays = {"delay": model.delay(rate), "delay_as_printed": model.printed_delay(rate)}
    return {
        **{name: None if delay == float("inf") else round(delay, 6) for name, delay in delays.items()},
        "rate": round(rate, 9),
        "router_rate": round(model.router_rate, 9),
        "router_rate_as_printed": round(model.printed_router_rate, 9),
        "path_rate": round(model.path_rate, 9),
        "greatest_rate": round(model.greatest_rate, 9),
    }


def _least(spec: Spec) -> dict[str, int]:
    """Slots that no way of sending takes less than: packets at the busiest port or link, phase by phase."""
    loads = (spec.fabric.loads(phase.source, phase.destination, phase.slots) for phase in spec.phases)
    total = sum(int(load.max(initial=0)) for load in loads)
    return {"busiest": total}
