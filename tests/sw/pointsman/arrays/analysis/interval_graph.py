"""The interval flow graph of an array program and requests that are propagated through it, as in Yuan 1998, §5.1 and §5.2.2.

The analysis walks through the tree instead; the tests compare what both find. Levels are corrected: what is inside a loop has one
more than its header.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import networkx as nx

from pointsman.arrays.analysis.dependence import touches
from pointsman.arrays.analysis.descriptors import Descriptor, apart, hull
from pointsman.arrays.tree.affine import Range, Scope
from pointsman.arrays.tree.statements import ArrayProgram, Assign, Branch, DoLoop, Redistribute, Statement

Killed = tuple[Statement, tuple[Range, ...]]
"""An assignment or redistribution, expanded over the loops of these ranges."""


@dataclass(eq=False)
class Node:
    """``role``: entry, statement (of a loop its header, of a branch its condition), join, split or end."""

    role: str
    level: int
    loops: tuple[DoLoop, ...]
    statement: Statement | None = None


@dataclass
class IntervalGraph:
    """Nodes and edges, in the order of the text; ``back`` edges go from the tail of a loop's body to its header."""

    program: ArrayProgram
    nodes: list[Node] = field(default_factory=list)
    edges: list[tuple[Node, Node]] = field(default_factory=list)
    of: dict[Statement, Node] = field(default_factory=dict)
    back: set[tuple[Node, Node]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.entry = self._node("entry", ())
        last = self._list(self.program.body, self.entry, ())
        self.edges.append((last, self._node("end", ())))
        self.split()

    def _node(self, role: str, loops: tuple[DoLoop, ...], statement: Statement | None = None) -> Node:
        self.nodes.append(Node(role, len(loops), loops, statement))
        return self.nodes[-1]

    def _list(self, body: Sequence[Statement], before: Node, loops: tuple[DoLoop, ...]) -> Node:
        for statement in body:
            node = self.of[statement] = self._node("statement", loops, statement)
            self.edges.append((before, node))
            before = node
            if isinstance(statement, DoLoop):
                tail = self._list(statement.body, node, (*loops, statement))
                self.edges.append((tail, node))
                self.back.add((tail, node))
            elif isinstance(statement, Branch):
                ends = [self._list(side, node, loops) for side in (statement.then, statement.otherwise)]
                before = self._node("join", loops)
                self.edges += [(end, before) for end in ends]
        return before

    def split(self) -> None:
        """Put a node on every critical edge: from a node with several successors to one with several predecessors."""
        for edge in self.critical():
            start, end = edge
            middle = self._node("split", max(start.loops, end.loops, key=len))
            at = self.edges.index(edge)
            self.edges[at : at + 1] = [(start, middle), (middle, end)]
            if edge in self.back:
                self.back.remove(edge)
                self.back.add((middle, end))

    def critical(self) -> list[tuple[Node, Node]]:
        graph = self.digraph()
        return [(a, b) for a, b in self.edges if graph.out_degree(a) > 1 and graph.in_degree(b) > 1]

    def digraph(self) -> nx.MultiDiGraph:
        graph = nx.MultiDiGraph()
        graph.add_nodes_from(self.nodes)
        graph.add_edges_from(self.edges)
        return graph

    def successors(self, node: Node, level: int) -> list[Node]:
        """Of a node within an interval of a level; the entry edge into the body of a loop at this level is none of them."""
        return [b for a, b in self.edges if a is node and b.level <= level and (a, b) not in self.back]

    # Figure 5.3

    def summary(self, loop: DoLoop) -> set[Killed]:
        """What an interval kills, from the tail of its body to its header, expanded over its iterations."""
        header = self.of[loop]
        level = header.level + 1
        inside = [node for node in self.nodes if node.level == level and loop in node.loops]
        order = nx.DiGraph([(a, b) for a, b in self.edges if a in inside and b in inside and (a, b) not in self.back])
        order.add_nodes_from(inside)
        into: dict[Node, set[Killed]] = {}
        for node in reversed(list(nx.topological_sort(order))):
            out = set().union(*(into[other] for other in order.successors(node)))
            into[node] = out | self.killed(node)
        first = set().union(*(into[b] for a, b in self.edges if a is header and b in inside))
        return {(statement, (loop.range, *ranges)) for statement, ranges in first}

    def killed(self, node: Node) -> set[Killed]:
        """What a node kills; the header of a loop what its interval does."""
        if isinstance(node.statement, DoLoop):
            return self.summary(node.statement)
        return {(node.statement, ())} if isinstance(node.statement, Assign | Redistribute) else set()

    def kills(self, node: Node, one: Descriptor, scope: Scope) -> bool:
        """Is some of a descriptor killed in a node?"""
        for statement, ranges in self.killed(node):
            if isinstance(statement, Redistribute):
                if touches(self.program, one, {statement.template}):
                    return True
            elif isinstance(statement, Assign) and statement.target.array == one.array:
                region, anywhere = statement.target.region(self.program.arrays)
                if not apart(one, hull(region, (*ranges, *statement.indices, *anywhere)), scope):
                    return True
        return False

    # Rules 1 and 2, as message scheduling uses them: a request ends where some of it is killed, and at its interval's header

    def passed(self, one: Descriptor, before: Statement, scope: Scope) -> set[Node]:
        """The nodes that a request passes on its way up from a statement."""
        start = self.of[before]
        level = start.level
        asked: dict[Node, int] = {}
        through: set[Node] = set()
        waiting = list(self.upward(start, level))
        while waiting:
            node = waiting.pop()
            asked[node] = asked.get(node, 0) + 1
            # A node acts when all its successors have requested.
            if asked[node] == len(self.successors(node, level)) and not self.kills(node, one, scope):
                through.add(node)
                waiting += self.upward(node, level)
        return through

    def upward(self, node: Node, level: int) -> Iterator[Node]:
        """Where a request goes on: not into bodies of loops, and not past the header of its own interval."""
        return (a for a, b in self.edges if b is node and a.level == level and (a, b) not in self.back)
