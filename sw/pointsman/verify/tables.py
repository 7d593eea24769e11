"""The judge of connection tables. It shares nothing with the compiler: it looks at what an operator means, not at how it is done.

What it proves of a table:

1. every configuration is a partial permutation of existing ports, and a set has one for each register of the tables; 2.
no connection stands twice in a set, neither in two registers nor in a register and among the dynamic connections; 3.
the mode is kept: with ``preload`` no connection is dynamic, with ``dynamic`` none stands in a register; 4. every held
connection is dynamic, every connection of every set finds a slot beside those that its own processor holds in this set
and other processors in any set, and dynamic connections can time out; 5. a set called exclusive (loading it cannot be
refused) has no destination in a register that another set gives to another source; 6. every operator can do its work
with the connections of the set that it enters, for each run-time value: there is a connection wherever a message must
go directly, and a way over nodes of the instance wherever nodes may hand it on.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from pointsman.artifacts.tables.tables import ConnectionTables, OperatorTable, Pair, WorkingSet
from pointsman.program.program import Instance, Operator, Runtime

MOST_FINDINGS = 50


def check_tables(tables: ConnectionTables) -> list[str]:
    """Faults of the tables, a line for each; an empty list if the tables are right. Stops after ``MOST_FINDINGS``."""
    findings: list[str] = []
    for line in _all(tables):
        findings.append(line)
        if len(findings) == MOST_FINDINGS:
            findings.append("and perhaps more")
            break
    return findings


def _all(tables: ConnectionTables) -> Iterator[str]:
    if tables.topology.nodes > tables.ports:
        yield f"there are {tables.topology.nodes} nodes and {tables.ports} ports"
    for number, one in enumerate(tables.sets):
        for line in _set(tables, one):
            yield f"set {number} '{one.name}': {line}"
    yield from _exclusive(tables)
    for number, phase in enumerate(tables.phases):
        for index in phase.operators:
            table = tables.operators[index]
            if table.phase != number:
                yield f"operator '{table.operator.label}' is in phase {table.phase}, but phase {number} names it"
            if not set(table.sets) <= set(phase.sets):
                yield f"operator '{table.operator.label}' enters a set that phase '{phase.name}' does not name"
    judge = _Judge(tables)
    for table in tables.operators:
        for line in judge.operator(table):
            yield f"operator '{table.operator.label}': {line}"


def _set(tables: ConnectionTables, one: WorkingSet) -> Iterator[str]:
    if len(one.configurations) != tables.registers:
        yield f"has {len(one.configurations)} configurations for {tables.registers} registers"
    seen: dict[Pair, str] = {}
    places = [(f"register {r}", part) for r, part in enumerate(one.configurations)] + [("dynamic", one.dynamic)]
    for place, part in places:
        for pair in part:
            if not all(0 <= port < tables.ports for port in pair):
                yield f"{place}: {pair[0]}→{pair[1]} joins a port that there is not (0..{tables.ports - 1})"
            if pair in seen:
                yield f"{place}: {pair[0]}→{pair[1]} stands in {seen[pair]} already"
            seen[pair] = place
        if place == "dynamic":
            continue
        for end, what in ((0, "input"), (1, "output")):
            ports = [pair[end] for pair in part]
            for port in sorted({port for port in ports if ports.count(port) > 1}):
                yield f"{place}: {what} port {port} is used {ports.count(port)} times"
    if tables.mode == "preload" and one.dynamic:
        yield f"{len(one.dynamic)} connections are dynamic in mode preload"
    if tables.mode == "dynamic" and any(one.configurations):
        yield "has a configuration in mode dynamic"
    for u, v in one.hold:
        if (u, v) not in one.dynamic:
            yield f"{u}→{v} is held and not dynamic"
    every = {pair for other in tables.sets for pair in other.hold}
    for u, v in sorted(one.pairs) if every else ():
        holding = {(a, b) for a, b in one.hold if a == u and b != v} | {(a, b) for a, b in every if b == v and a != u}
        if len(holding) >= tables.slots:
            yield f"{u}→{v} may wait for ever for {len(holding)} held connections at its ports, there are {tables.slots} slots"
    if one.dynamic and not tables.timeout:
        yield "has dynamic connections and no time-out"


def _exclusive(tables: ConnectionTables) -> Iterator[str]:
    owners: dict[tuple[int, int], dict[int, int]] = {}
    for number, one in enumerate(tables.sets):
        for register, part in enumerate(one.configurations):
            for u, v in part:
                owners.setdefault((register, v), {}).setdefault(u, number)
    for number, one in enumerate(tables.sets):
        if not one.exclusive:
            continue
        for register, part in enumerate(one.configurations):
            for u, v in part:
                for other, where in owners[register, v].items():
                    if other != u:
                        yield (
                            f"set {number} '{one.name}' is called exclusive, but set {where} has {other}→{v} in register "
                            f"{register} where it has {u}→{v}"
                        )


class _Judge:
    """Compares the connections that operators need with those that working sets have."""

    def __init__(self, tables: ConnectionTables) -> None:
        self.tables = tables
        self._reach: dict[tuple[int, tuple[int, ...]], dict[int, set[int]]] = {}

    def operator(self, table: OperatorTable) -> Iterator[str]:
        seen: set[tuple[int, int, int, str]] = set()
        for value, number in zip(table.values, table.sets, strict=True):
            pairs = self.tables.sets[number].pairs
            for instance in table.operator.instances:
                for how, u, v in _needs(table.operator, instance, value):
                    if u == v or (number, u, v, how) in seen:
                        continue
                    seen.add((number, u, v, how))
                    if how == "direct" and (u, v) not in pairs:
                        yield f"needs {u}→{v}, which set {number} does not have{_for(value)}"
                    elif how == "way" and v not in self.reach(number, instance.nodes)[u]:
                        yield f"needs a way from {u} to {v}, which set {number} does not have{_for(value)}"

    def reach(self, number: int, nodes: tuple[int, ...]) -> dict[int, set[int]]:
        """By node, all nodes that its words can reach over connections of set ``number`` between ``nodes``."""
        key = (number, nodes)
        if key not in self._reach:
            inside = set(nodes)
            after: dict[int, list[int]] = {node: [] for node in nodes}
            for u, v in self.tables.sets[number].pairs:
                if u in inside and v in inside:
                    after[u].append(v)
            self._reach[key] = {node: _flood(node, after) for node in nodes}
        return self._reach[key]


def _flood(node: int, after: dict[int, list[int]]) -> set[int]:
    found, stack = {node}, [node]
    while stack:
        for other in after[stack.pop()]:
            if other not in found:
                found.add(other)
                stack.append(other)
    return found


def _for(value: tuple[int, ...]) -> str:
    return f" for run-time value {', '.join(map(str, value))}" if value else ""


Need = tuple[str, int, int]
"""``direct`` or ``way``, from, to."""


def _needs(operator: Operator, instance: Instance, value: tuple[int, ...]) -> Iterator[Need]:
    """The connections or ways that messages of an instance need, by the operator's meaning (Metcalf 1997, A.1)."""
    nodes, size = instance.nodes, len(instance.nodes)
    valid = [nodes[i] for i in (operator.valid if operator.valid is not None else range(size))]
    match operator.kind:
        case "barrier":
            yield from (("way", u, v) for u in nodes for v in nodes)
        case "allreduce":
            yield from (("way", u, v) for u in valid for v in valid)
        case "prefix":
            yield from (("way", u, v) for i, u in enumerate(valid) for v in valid[i:])
        case "broadcast":
            yield from (("way", nodes[s], v) for s in _ends(operator, instance, "source", value) for v in nodes)
        case "reduce":
            yield from (("way", u, nodes[d]) for d in _ends(operator, instance, "destination", value) for u in valid)
        case "cshift" | "eoshift":
            for distance in _ends(operator, instance, "distance", value):
                for i, u in enumerate(nodes):
                    if operator.kind == "cshift" or 0 <= i + distance < size:
                        yield "direct", u, nodes[(i + distance) % size]
        case "permute":
            permutation = instance.operand("permutation")
            if isinstance(permutation, tuple):
                yield from (("direct", u, nodes[p]) for u, p in zip(nodes, permutation, strict=True))
            else:
                yield from (("direct", u, v) for u in nodes for v in nodes)
        case "seqread" | "seqwrite":
            many, one = ("sources", "destination") if operator.kind == "seqread" else ("destinations", "source")
            chain = instance.operand(many)
            assert isinstance(chain, tuple)
            for end, other in product(_ends(operator, instance, one, value), chain):
                pair = (nodes[end], nodes[other])
                yield ("direct", *(pair if operator.kind == "seqwrite" else pair[::-1]))
        case "stream":
            sources = _ends(operator, instance, "source", value)
            for s, d in product(sources, _ends(operator, instance, "destination", value)):
                yield "direct", nodes[s], nodes[d]
        case "spread":
            yield from (("direct", nodes[s], v) for s in _ends(operator, instance, "source", value) for v in nodes)
        case "gather" | "collect":
            yield from (("direct", u, nodes[d]) for d in _ends(operator, instance, "destination", value) for u in nodes)


def _ends(operator: Operator, instance: Instance, name: str, value: tuple[int, ...]) -> range | tuple[int, ...]:
    """Numbers that an operand can have: its constant, its number in ``value``, or, where nodes choose for themselves at
    run time (distributed or dynamic), every number that it allows."""
    given = instance.operand(name)
    if isinstance(given, int):
        return (given,)
    assert isinstance(given, Runtime)
    if given.distributed or given.dynamic:
        # A node's number counts in each instance that it is in, so it is less than the nodes of the smallest.
        smallest = min(len(one.nodes) for one in operator.instances)
        allowed = given.values if given.values is not None else range(smallest)
        return tuple(end for end in allowed if operator.valid is None or end in operator.valid)
    chosen = [
        key
        for key, one in operator.instances[0].operands
        if isinstance(one, Runtime) and key not in ("function", "permutation")
    ]
    return (value[chosen.index(name)],)
