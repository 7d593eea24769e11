"""All-reduces of short messages by exchanges in rows, then in columns: every node has the outcome, and no word goes back.

The nodes of an instance, in their order, are rows of equal length, one behind the other. Each node sends its message to its row
and combines those of the row, in their order; then it sends that to its column, the nodes at its place in the other rows, and
combines what comes from there. So the order of the subset is kept. On a tree a word passes as many processors on its way up, and
then goes back from the root. Here a router has more words to pass on, and a processor needs a register for each node of its row
and column.
"""

from __future__ import annotations

from functools import lru_cache

from numesh.codes import ACCESS_TO_ACCESS
from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import keep_in, message_stream, stream_name
from pointsman.operators.api.role_script import RoleScript
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import distances
from pointsman.program.program import Instance, Operator
from pointsman.routing.streams import Stream, Turn, accesses, read_after

from .reduce import SHORT, WAITING

WAYS = "row", "column"


class StrAllreduceExchange(Implementation):
    """Exchanges in rows, then in columns (str_allreduce_exchange; our name). Taken where ``:impl`` asks for it: in a loop by
    itself it is quicker than a tree, but beside other operators plans near it were often slower than those near a tree."""

    name = "str_allreduce_exchange"
    kinds = ("allreduce",)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if operator.impl != self.name or operator.valid is not None or operator.m > SHORT:
            return None
        if any(row_length(one.nodes, context.topology) is None for one in operator.instances):
            return None
        most = max(accesses(self.streams(operator, context)).values(), default=0)
        if most > context.shape.registers - context.shape.pipelines:
            return None
        cycles = max(
            _cycles(one.nodes, self._length(one, context.topology), context.topology) for one in operator.instances
        )
        return Metric(words_per_cycle=1 / most, latency=max(0.0, WAITING * cycles - most))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            message_stream(
                operator,
                i,
                context,
                node,
                tuple(one for one in line if one != node),
                f"{way}{node}",
                group=f"{operator.label} {way}",
                keep_in=keep_in(Instance(line, ()), context),
                turn=Turn(operator.label, 1 + level),
            )
            for i, instance in enumerate(operator.instances)
            for node in instance.nodes
            for level, (way, line) in enumerate(zip(WAYS, self._lines(instance, context.topology, node), strict=True))
        ]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        lines = self._lines(operator.instances[instance], wiring.routed.topology, node)
        script = RoleScript()
        own, number = "out", 0
        for way, line in zip(WAYS, lines, strict=True):
            script.wait()
            name = stream_name(operator, instance, f"{way}{node}")
            script.move(True, wiring.registers(name, node, "inject"), own)
            messages = []
            for one in line:
                if one == node:
                    messages.append(own)
                    continue
                name = stream_name(operator, instance, f"{way}{one}")
                script.move(False, wiring.registers(name, node, "deliver"), f"t{number}")
                messages.append(f"t{number}")
                number += 1
            own = script.fold(messages, f"t{number}" if way == WAYS[0] else "in")
            number += 1
        return script.role(by_item=False, result=True, void=False)

    def _length(self, instance: Instance, topology: Topology) -> int:
        length = row_length(instance.nodes, topology)
        assert length is not None  # `metric` refuses others
        return length

    def _lines(self, instance: Instance, topology: Topology, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The row and the column of a node."""
        nodes, length = instance.nodes, self._length(instance, topology)
        place = nodes.index(node)
        first = place - place % length
        return nodes[first : first + length], nodes[place % length :: length]


@lru_cache(maxsize=1024)
def row_length(nodes: tuple[int, ...], topology: Topology) -> int | None:
    """Nodes of a row with which a word is on its way for the fewest cycles; None if there are no two rows of two."""
    lengths = [length for length in range(2, len(nodes) // 2 + 1) if len(nodes) % length == 0]
    return min(lengths, key=lambda length: (_cycles(nodes, length, topology), -length), default=None)


@lru_cache(maxsize=1024)
def _cycles(nodes: tuple[int, ...], length: int, topology: Topology) -> int:
    """Cycles until the last word has been read, if all slots are free."""
    ways = distances(nodes, topology)
    rows = [nodes[k : k + length] for k in range(0, len(nodes), length)]
    return sum(
        max(read_after(ACCESS_TO_ACCESS + ways(a, b) for a in line if a != b) for line in lines for b in line)
        for lines in (rows, list(zip(*rows, strict=True)))
    )
