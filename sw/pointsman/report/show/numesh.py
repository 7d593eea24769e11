"""Document of a program for the mesh of scheduled routers: its timetables as streams, VFSMs and loads of links.

Takes images, and what the planner decided if it is known. ``measured`` adds a run.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from numesh.codes import FIRST_FREE_VFSM, FIRST_READ, Codes
from pointsman.artifacts.images.images import Images, NodeImage, OperatorImage

from .document import Document, Node, Operator, Phase, Stream
from .network import net_of
from .ways import Ways


def numesh_document(
    images: Images, *, decision: Mapping[str, Any] | None = None, source: Sequence[str] = ()
) -> Document:
    """Document of a compiled program.

    Parameters
    ----------
    decision : mapping, optional
        What the planner decided, from `pointsman.report.decision.decision_json`.
    source : sequence of str
        Lines of the COP text.
    """
    net = net_of(images.topology, images.shape.as_dict())
    ways = Ways(images, {pair: number for number, pair in enumerate(net.links)})
    streams = [
        Stream(
            promise.stream,
            promise.operator,
            promise.phase,
            promise.source,
            promise.register,
            list(promise.destinations),
            promise.words,
            ways.of(promise),
            list(promise.values),
        )
        for promise in images.promises
    ]
    why = dict(decision or {})
    alone, chosen = _alternatives(why)
    return Document(
        title=f"{images.name} on a {images.topology.described}, {images.period} slots",
        target="numesh",
        network=net,
        period=images.period,
        first=FIRST_READ % images.period,
        operators=[_operator(images, i, one, alone, chosen) for i, one in enumerate(images.operators)],
        phases=_phases(images, streams, why),
        streams=streams,
        nodes=[_node(images, number, node, ways, streams) for number, node in enumerate(images.nodes)],
        why=finite(why),
        source=list(source),
        notes=list(images.notes),
    )


def finite(value: Any) -> Any:
    """Plain values with None in the place of infinite numbers, which JSON does not have."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(one) for one in value]
    return value


def _alternatives(why: Mapping[str, Any]) -> tuple[dict[str, list[tuple[str, float | None]]], dict[str, str]]:
    """By label, the ways to do an operator with their cycles alone; and the name of the chosen way."""
    alone: dict[str, list[tuple[str, float | None]]] = {}
    chosen: dict[str, str] = {}
    for phase in why.get("phases", ()):
        for operator in phase["operators"]:
            chosen[operator["label"]] = operator["implementation"]
            alone[operator["label"]] = [(one["implementation"], one["alone"]) for one in operator["alternatives"]]
    return alone, chosen


def _operator(
    images: Images,
    index: int,
    one: OperatorImage,
    alone: Mapping[str, list[tuple[str, float | None]]],
    chosen: Mapping[str, str],
) -> Operator:
    others = alone.get(one.label, [])
    return Operator(
        label=one.label,
        kind=one.kind,
        implementation=one.implementation,
        source=one.source,
        words=one.m,
        bandwidth=one.bandwidth,
        instances=[list(nodes) for nodes in one.instances] or [sorted(images.members[index])],
        values=[_state(one, state) for state in range(one.states)],
        predicted=dict(others).get(chosen.get(one.label, "")),
        alternatives=others,
    )


def _state(operator: OperatorImage, state: int) -> str:
    value, stage = divmod(state, operator.stages)
    said = " ".join(f"{name} {number}" for name, number in zip(operator.runtime, operator.values[value], strict=False))
    return f"{said} stage {stage}".strip() if operator.stages > 1 else said or "always"


def _phases(images: Images, streams: Sequence[Stream], why: Mapping[str, Any]) -> list[Phase]:
    decided = {phase["name"]: phase for phase in why.get("phases", ())}
    return [
        Phase(
            name=phase.name,
            operators=list(phase.operators),
            technique=phase.technique,
            reason=phase.reason,
            predicted=decided[phase.name]["cycles"] if phase.name in decided else None,
            limits=_limits(images, index, streams),
        )
        for index, phase in enumerate(images.phases)
    ]


def _limits(images: Images, phase: int, streams: Sequence[Stream]) -> list[tuple[str, float, str]]:
    """The busiest resource of each kind in a phase, as shares of the period; for run-time values, of all values together.

    A link carries a word a slot and a processor moves a word a cycle. Links, slots and VFSMs cannot be taken more than once; the
    slots that registers have together may be more than a processor can use, and it is then the processor that sets the pace.
    """
    period = images.period
    links: dict[int, set[int]] = defaultdict(set)
    pipelines: Counter[tuple[int, int]] = Counter()
    vfsms: Counter[tuple[int, int]] = Counter()
    out: dict[int, Counter[int]] = defaultdict(Counter)
    into: dict[int, Counter[int]] = defaultdict(Counter)
    for stream in streams:
        if stream.phase != phase:
            continue
        out[stream.source][stream.register] = max(out[stream.source][stream.register], stream.words)
        for node, register in stream.destinations:
            into[node][register] = max(into[node][register], stream.words)
        for way in stream.ways:
            for link, after, _ in way.steps:
                links[link].add((way.start + after) % period)
    for number, image in enumerate(images.nodes):
        for part in image.phases:
            if part.phase == phase:
                for row in part.schedule:
                    for pipeline, vfsm in enumerate(row):
                        pipelines[number, pipeline] += vfsm >= FIRST_FREE_VFSM
                for rewrite in part.annotations:
                    vfsms[number, rewrite.pipeline] += 1
    net = net_of(images.topology).links
    found: list[tuple[str, float, str]] = []
    if links:
        link, slots = max(links.items(), key=lambda one: (len(one[1]), -one[0]))
        u, v = net[link]
        found.append(
            ("link", len(slots) / period, f"the link {u} → {v} carries words in {len(slots)} of {period} slots")
        )
    for what, ends in (("port, out", out), ("port, in", into)):
        if ends:
            end, registers = max(ends.items(), key=lambda one: (sum(one[1].values()), -one[0]))
            words = sum(registers.values())
            does = "write" if what == "port, out" else "read"
            text = f"the processor of node {end} has slots for {words} words to {does} in {period} cycles, one a cycle"
            found.append((what, words / period, text))
    if pipelines:
        (number, pipeline), count = max(pipelines.items(), key=lambda one: (one[1], -one[0][0]))
        text = f"pipeline {pipeline} of node {number} moves words in {count} of {period} slots"
        found.append(("slots of a pipeline", count / period, text))
    if vfsms:
        (number, pipeline), count = max(vfsms.items(), key=lambda one: (one[1], -one[0][0]))
        free = images.shape.vfsms - FIRST_FREE_VFSM
        text = f"pipeline {pipeline} of node {number} uses {count} of {free} VFSMs"
        found.append(("VFSMs", count / max(1, free), text))
    return sorted(found, key=lambda one: -one[1])


def _node(images: Images, number: int, node: NodeImage, ways: Ways, streams: Sequence[Stream]) -> Node:
    codes = Codes(images.shape)
    rows = []
    own: dict[tuple[int, int], set[int]] = defaultdict(set)
    for part in node.phases:
        table = ways.table(part.phase, number, (-1, 0))
        assert table is not None
        for (pipeline, vfsm), slots in sorted(table.slots.items()):
            own[pipeline, vfsm].add(part.phase)
            annotation = table.annotations.get((pipeline, vfsm))
            if annotation is None:
                continue
            kind = annotation.type.name + ("+fork" if annotation.forked else "")
            places = codes.name(annotation.source), codes.name(annotation.destination)
            rows.append((part.phase, pipeline, vfsm, kind, *places, slots, table.owner.get((pipeline, vfsm), -1)))
    residency = []
    for part in node.phases:
        here = [key for key, phases in own.items() if part.phase in phases]
        shared = sum(len(own[key]) > 1 for key in here)
        residency.append((part.phase, images.phases[part.phase].block, len(here) - shared, shared))
    registers = [
        (stream.phase, register, what, index)
        for index, stream in enumerate(streams)
        for what, ends in (("write", [(stream.source, stream.register)]), ("read", stream.destinations))
        for at, register in ends
        if at == number
    ]
    return Node(rows, registers, residency)
