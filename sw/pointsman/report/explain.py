"""Explanation of a program, for ``pointsman explain``: its tree with subsets, extents, traffic, and concurrent operators.

Takes a Program; gives plain values (`explain_json`), and text made of these (`explain_text`). Leaves targets alone: no
implementation is chosen and no phase is closed here.

*Extent*: the smallest box around the nodes of an instance, and the union of these for operators and groups (Metcalf
1997, §6.1.2); on networks other than mesh or torus, all nodes. *Traffic*: m · c · the counts of the loops around
(A.3), in words of each writing node. *Together*: operators of different children of a parallel group may be in use at
the same time; children with disjoint extents are independent of each other (§6.1.3): any children of a parallel group,
consecutive children of a sequential group.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from operator import or_
from typing import Any

import numpy as np

from pointsman.network import Topology
from pointsman.plan.structure.extents import Extents, apart, meeting, members
from pointsman.program.program import Group, Operator, Program, Runtime, Value

DEEPEST = 120
"""Column after which groups in the text are indented no further."""
MOST_SHOWN = 6
"""Subsets of an operator, and labels of a list, that the text shows."""


def explain_json(program: Program) -> dict[str, Any]:
    """The program as plain values."""
    topology = program.topology
    subsets = _Subsets(topology)
    root: list[dict[str, Any]] = []
    order: list[tuple[dict[str, Any], Group | Operator]] = []
    stack: list[tuple[Group | Operator, list[dict[str, Any]], int]] = [(program.root, root, 1)]
    while stack:
        part, siblings, rounds = stack.pop()
        if isinstance(part, Operator):
            entry = _operator(part, rounds, subsets)
        else:
            if part.kind == "loop":
                rounds *= max(1, part.count)
            entry = {"kind": part.kind, "position": str(part.position or "")}
            if part.kind == "loop":
                entry |= {"label": part.label, "count": part.count, "functions": [f"{part.label}_load"]}
            entry["children"] = []
            stack.extend((child, entry["children"], rounds) for child in reversed(part.children))
        siblings.append(entry)
        order.append((entry, part))
    extents: dict[int, int] = {}
    together: list[dict[str, Any]] = []
    for entry, part in reversed(order):  # children before their group
        if isinstance(part, Operator):
            extents[id(entry)], entry["extent"], entry["nodes"] = subsets.extent(part)
            continue
        children = entry["children"]
        of_children = [extents.pop(id(child)) for child in children]
        extent = reduce(or_, of_children, 0)
        entry["traffic"] = sum(child["traffic"] for child in children)
        found = _together(part, children, of_children)
        if found is not None:
            together.append(found)
        extents[id(entry)] = extent
        entry["extent"] = _described(extent, topology)
    operators = [part for _, part in order if isinstance(part, Operator)]
    return {
        "file": program.file,
        "network": {"kind": topology.kind, "size": list(topology.size), "nodes": topology.nodes},
        "mode": program.mode,
        "schedlen": program.schedlen,
        "parameters": dict(program.parameters),
        "operators": len(operators),
        "instances": sum(len(operator.instances) for operator in operators),
        "subsets": [list(nodes) for nodes in subsets.all],
        "tree": root[0],
        "together": together[::-1],
    }


class _Subsets:
    """Subsets of a program and the extents that follow from them. Operators mostly share them, and they are long."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.all: list[tuple[int, ...]] = []
        self.numbers: dict[tuple[int, ...], int] = {}
        self.known: dict[int, int] = {}
        self.extents = Extents(topology)
        self.described: dict[frozenset[int], tuple[int, dict[str, Any], int]] = {}

    def number(self, nodes: tuple[int, ...]) -> int:
        """Number of a subset, from 0."""
        if id(nodes) not in self.known:  # the program keeps them all alive
            if nodes not in self.numbers:
                self.numbers[nodes] = len(self.all)
                self.all.append(nodes)
            self.known[id(nodes)] = self.numbers[nodes]
        return self.known[id(nodes)]

    def extent(self, operator: Operator) -> tuple[int, dict[str, Any], int]:
        """An operator's extent as a bit set, the same described as plain values, and the number of nodes that take part."""
        own = frozenset(self.number(instance.nodes) for instance in operator.instances)
        if own not in self.described:
            extent = self.extents.of_operator(operator)
            nodes = len({node for number in own for node in self.all[number]})
            self.described[own] = extent, _described(extent, self.topology), nodes
        return self.described[own]


def _operator(operator: Operator, rounds: int, subsets: _Subsets) -> dict[str, Any]:
    return {
        "kind": operator.kind,
        "label": operator.label,
        "position": str(operator.position or ""),
        "class": operator.flow,
        "functions": list(operator.functions),
        "type": str(operator.type),
        "m": operator.m,
        "c": operator.c,
        "rounds": rounds,
        "traffic": operator.m * operator.c * rounds,
        "pipelined": operator.pipelined,
        "b": operator.b,
        "impl": operator.impl,
        "valid": None if operator.valid is None else list(operator.valid),
        "instances": [
            {"subset": subsets.number(i.nodes), "operands": {name: _value(value) for name, value in i.operands}}
            for i in operator.instances
        ],
    }


def _value(value: Value) -> Any:
    if isinstance(value, Runtime):
        return {
            "runtime": True,
            "values": None if value.values is None else list(value.values),
            "distributed": value.distributed,
            "dynamic": value.dynamic,
            "block": value.block,
        }
    return list(value) if isinstance(value, tuple) else value


def _described(extent: int, topology: Topology) -> dict[str, Any]:
    """Number of nodes; and if they fill a box, its lowest and highest coordinate in each dimension, x first."""
    count = extent.bit_count()
    box = None
    if topology.kind in ("mesh", "torus") and count:
        places = np.unravel_index(np.array(members(extent)), topology.size[::-1])[::-1]  # x is the last axis
        bounds = [[int(axis.min()), int(axis.max())] for axis in places]
        if prod(high - low + 1 for low, high in bounds) == count:
            box = bounds
    return {"nodes": count, "box": box}


def _together(part: Group, children: Sequence[dict[str, Any]], extents: Sequence[int]) -> dict[str, Any] | None:
    """Children of a group that may run at the same time; None if there are none."""
    if len(children) < 2:
        return None
    if part.kind == "parallel":
        runs = [list(range(len(children)))]
        sets = [[_labels([child])] for child in children]
    else:
        runs = [run for run in apart(extents) if len(run) > 1]
        sets = []
        if not runs:
            return None
    independent = [
        [_labels(children[run[i]] for i in component) for component in components]
        for run in runs
        if len(components := meeting([extents[i] for i in run])) > 1
    ]
    return {
        "position": str(part.position or ""),
        "group": part.kind,
        "why": "parallel" if part.kind == "parallel" else "disjoint",
        "sets": [[_labels([children[i]]) for i in runs[0]]] if sets else independent,
        "independent": independent,
    }


def _labels(entries: Iterable[dict[str, Any]]) -> list[str]:
    """Labels of all operators in some parts."""
    found = []
    stack = list(entries)[::-1]
    while stack:
        entry = stack.pop()
        if "children" in entry:
            stack.extend(reversed(entry["children"]))
        else:
            found.append(entry["label"])
    return found


def explain_text(plain: dict[str, Any]) -> str:
    """The values of `explain_json` as text."""
    network = plain["network"]
    size = f"{'x'.join(map(str, network['size']))} " if len(network["size"]) > 1 else ""
    lines = [
        f"{plain['file']} on a {size}{network['kind']}: {_count(network['nodes'], 'node')}, "
        f"{_count(plain['operators'], 'operator')}, {_count(plain['instances'], 'instance')}"
    ]
    if plain["parameters"]:
        lines.append("parameters: " + ", ".join(f"{name} = {value}" for name, value in plain["parameters"].items()))
    if plain["schedlen"] is not None:
        lines.append(f"schedule length: {plain['schedlen']}")
    lines.append("")
    whole = list(range(network["nodes"]))
    places = ["all nodes" if subset == whole else _nodes(subset) for subset in plain["subsets"]]
    stack: list[tuple[dict[str, Any], str, str]] = [(plain["tree"], "", "")]
    while stack:
        entry, first, rest = stack.pop()
        children = entry.get("children", [])
        below = rest + ("│  " if children else "   ")
        lines.append(f"{first}{_head(entry)}")
        lines += [(below + line).rstrip() for line in _details(entry, network, places)]
        for number, child in reversed(list(enumerate(children))):
            is_last = number == len(children) - 1
            rest = rest[:DEEPEST]
            stack.append((child, rest + ("└─ " if is_last else "├─ "), rest + ("   " if is_last else "│  ")))
    lines.append("")
    together = plain["together"]
    if not together:
        lines.append("no operators may run together: all are in sequence")
    for entry in together:
        group = f"{entry['group']} at {_line(entry['position'])}"
        if entry["why"] == "parallel":
            lines.append(f"may be in use at the same time ({group}):")
            lines += [f"  {_sets(sets)}" for sets in entry["sets"]]
        if entry["independent"]:
            lines.append(f"are independent, because their extents are disjoint ({group}):")
            lines += [f"  {_sets(sets)}" for sets in entry["independent"]]
    return "\n".join(lines)


def _head(entry: dict[str, Any]) -> str:
    name = f" '{entry['label']}" if entry.get("label") else ""
    times = f", {_count(entry['count'], 'round')}" if entry["kind"] == "loop" else ""
    return f"{entry['kind']}{name}{times}  ({_line(entry['position'])})"


def _details(entry: dict[str, Any], network: dict[str, Any], places: Sequence[str]) -> list[str]:
    where = f"extent {_extent(entry['extent'], network)}"
    if "children" in entry:
        calls = [", ".join(entry["functions"])] if "functions" in entry else []
        return [*calls, f"{where}; {_count(entry['traffic'], 'word')}"]
    words = f"{entry['m']:,} × {entry['c']:,} × {entry['rounds']:,} = {_count(entry['traffic'], 'word')}"
    extra = [f"type {entry['type']}"]
    extra += ["pipelined"] if entry["pipelined"] else []
    extra += [f"bandwidth at most {entry['b']}"] if entry["b"] != 1.0 else []
    extra += [f"implementation {entry['impl']}"] if entry["impl"] else []
    extra += [f"valid on {_nodes(entry['valid'])}"] if entry["valid"] else []
    return [
        f"{entry['class']}: {', '.join(entry['functions'])}",
        f"{where}; {words}; {', '.join(extra)}",
        *_instances(entry["instances"], places),
    ]


def _instances(instances: Sequence[dict[str, Any]], places: Sequence[str]) -> list[str]:
    """A line for each set of operands with the subsets that have it; for a single subset, a line with all operands."""
    by_operands: dict[str, list[str]] = {}
    for instance in instances:
        operands = ", ".join(f"{name} {_operand(value)}" for name, value in instance["operands"].items())
        by_operands.setdefault(operands, []).append(places[instance["subset"]])
    if len(by_operands) > 1 and len({instance["subset"] for instance in instances}) == 1:
        return [f"on {places[instances[0]['subset']]}: {_short(list(by_operands), ' | ')}"]
    lines = [f"on {_short(on, ' | ')}{': ' if operands else ''}{operands}" for operands, on in by_operands.items()]
    more = len(lines) - MOST_SHOWN
    return lines if more <= 0 else [*lines[:MOST_SHOWN], f"… and {more} more"]


def _operand(value: Any) -> str:
    if isinstance(value, dict):
        words = ["run-time"]
        if value["dynamic"]:
            words.append("dynamic")
        elif value["distributed"]:
            words.append("distributed")
        if value["values"] is not None:
            words.append(f"among {_nodes(value['values'])}")
        if value["block"] != 1:
            words.append(f"changes every {value['block']} rounds")
        return " ".join(words)
    if value is None:
        return "sum"
    return _nodes(value) if isinstance(value, list) else str(value)


def _nodes(nodes: Sequence[int]) -> str:
    """Numbers in order, runs of equal steps put together: 0..3, 0..12 by 4, 1 5 2."""
    pieces: list[str] = []
    at = 0
    while at < len(nodes) and len(pieces) <= MOST_SHOWN:
        end = at + 1
        step = nodes[end] - nodes[at] if end < len(nodes) else 0
        while end < len(nodes) and nodes[end] - nodes[end - 1] == step:
            end += 1
        if end - at > 2 and step:
            pieces.append(f"{nodes[at]}..{nodes[end - 1]}" + ("" if step == 1 else f" by {step}"))
            at = end
        else:
            pieces.append(str(nodes[at]))
            at += 1
    if at < len(nodes):
        pieces.append(f"… ({len(nodes)} in all)")
    return ", ".join(pieces) if any(" by " in piece for piece in pieces) else " ".join(pieces)


def _extent(extent: dict[str, Any], network: dict[str, Any]) -> str:
    if extent["nodes"] == network["nodes"]:
        return "all nodes"
    if extent["box"] is None:
        return _count(extent["nodes"], "node")
    spans = [
        f"{axis} {low}" if low == high else f"{axis} {low}..{high}"
        for axis, (low, high) in zip("xyz", extent["box"], strict=False)
    ]
    return " ".join(spans)


def _sets(sets: Sequence[Sequence[str]]) -> str:
    return _short([_short(list(labels), " ") for labels in sets], " | ")


def _short(words: Sequence[str], separator: str) -> str:
    if len(words) <= MOST_SHOWN:
        return separator.join(words)
    return separator.join([*words[:MOST_SHOWN], f"… and {len(words) - MOST_SHOWN} more"])


def _line(position: str) -> str:
    """Line and column of a position."""
    parts = position.rsplit(":", 2)
    return f"line {parts[1]}" if len(parts) == 3 else "no place"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
