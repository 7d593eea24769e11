"""A function's dataflow graph: nodes in regions.

A region is what runs as a whole, once each time it is entered: a function's body, a branch, a loop's test, body or result.
It has an entry, which comes first, and an end, which waits for everything else in it. A node that answers later (`ANSWERS`)
gives its value when a message or a branch brings it; all others give theirs at once. Values that a region takes from outside
are there when it is entered, since the node that enters it waits for them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .tree import (
    Array,
    Call,
    Conditional,
    Expression,
    Fetch,
    Function,
    Let,
    Loop,
    Name,
    Number,
    Operation,
    Store,
)

ANSWERS = ("fetch", "array", "frame", "call", "if", "loop")
"""Kinds of nodes whose value comes later."""
ENDS = ("free", "halt", "leave", "test", "again")
"""Kinds of nodes that end a region: of a function, of main, of a branch or a loop's result, of a loop's test, of its body."""


@dataclass(eq=False)
class GraphNode:
    """An operation.

    Attributes
    ----------
    kind : str
        "entry", "compute", "put", "return", or one of `ANSWERS` or `ENDS`.
    name : str
        The TAM instruction that computes; the function that is called.
    operands : list
        Numbers, slots by name, or nodes.
    waits : list of GraphNode
        Nodes of the same region that come before it, beside its operands.
    inner : list of Region
        Branches; or test, body and result of a loop.
    variables : list of str
        Slots of a loop's variables.
    slot : str
        Where its value is kept if other threads need it.
    pinned : bool
        Is the value used in a region inside?
    """

    kind: str
    region: Region
    number: int
    name: str = ""
    operands: list[Operand] = field(default_factory=list)
    waits: list[GraphNode] = field(default_factory=list)
    inner: list[Region] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    pinned: bool = False

    @property
    def slot(self) -> str:
        return f"v{self.number}"

    def before(self) -> list[GraphNode]:
        """The nodes of its region that come directly before it."""
        own = [one for one in self.operands if isinstance(one, GraphNode) and one.region is self.region]
        found = list(dict.fromkeys((*own, *self.waits)))
        return found or ([] if self.kind == "entry" else [self.region.nodes[0]])


Operand = int | float | str | GraphNode


@dataclass(eq=False)
class Region:
    """Nodes in an order in which each comes after those that it needs: entry first, end last. ``owner``: the node that
    enters it, None for a function's body."""

    owner: GraphNode | None
    nodes: list[GraphNode] = field(default_factory=list)

    @property
    def end(self) -> GraphNode:
        return self.nodes[-1]


class FunctionGraph:
    """The graph of a function.

    Attributes
    ----------
    function : Function
    parameters : list of str
        Their slots.
    slots : list of str
        All slots that hold variables; nodes have slots beside them.
    regions : list of Region
        The body first.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.count = 0
        self.slots: list[str] = []
        self.regions: list[Region] = []
        self.parameters = [self.variable(name) for name in function.parameters]
        body = self.region(None)
        value = self.value(function.body, body, dict(zip(function.parameters, self.parameters, strict=True)))
        if function.name == "main":
            self.node("halt", body, [value])
        else:
            self.node("return", body, [value])
            self.node("free", body, [])
        self._leave_out_unused()
        for region in self.regions:
            needed = {before for node in region.nodes for before in node.before()}
            region.end.waits += [one for one in region.nodes[:-1] if one not in needed]

    def variable(self, name: str) -> str:
        """A slot for a variable of this name."""
        self.count += 1
        plain = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name)
        self.slots.append(f"s{self.count}_{plain}")
        return self.slots[-1]

    def region(self, owner: GraphNode | None) -> Region:
        made = Region(owner)
        self.regions.append(made)
        self.node("entry", made, [])
        if owner is not None:
            owner.inner.append(made)
        return made

    def node(self, kind: str, region: Region, operands: Sequence[Operand], name: str = "") -> GraphNode:
        self.count += 1
        made = GraphNode(kind, region, self.count, name, [self.used(one, region) for one in operands])
        region.nodes.append(made)
        return made

    def used(self, value: Operand, region: Region) -> Operand:
        """See to it that a value of a region around this one is there when this one is entered."""
        if isinstance(value, GraphNode) and value.region is not region:
            value.pinned = True
            owner = region.owner
            while owner is not None and owner.region is not value.region:
                owner = owner.region.owner
            assert owner is not None
            owner.waits.append(value)
        return value

    # -- expressions -----------------------------------------------------------------------------------------

    def value(self, one: Expression, region: Region, names: Mapping[str, Operand]) -> Operand:
        """The nodes of an expression; gives where its value is."""
        match one:
            case Number():
                return one.value
            case Name():
                return names.get(one.name, one.name)
            case Operation():
                return self.node(
                    "compute", region, [self.value(part, region, names) for part in one.operands], one.name
                )
            case Let():
                known = dict(names)
                for name, part in one.bindings:
                    known[name] = self.value(part, region, known)
                return self.value(one.body, region, known)
            case Conditional():
                return self.choice(one, region, names)
            case Loop():
                return self.loop(one, region, names)
            case Call():
                where = self.where(one.where, region, names)
                given = [self.value(part, region, names) for part in one.arguments]
                frame = self.node("frame", region, [where], one.function)
                return self.node("call", region, [frame, *given], one.function)
            case Array():
                size = self.value(one.size, region, names)
                return self.node("array", region, [size, self.where(one.where, region, names)])
            case Fetch():
                return self.node(
                    "fetch", region, [self.value(one.array, region, names), self.value(one.index, region, names)]
                )
            case Store():
                parts = [self.value(part, region, names) for part in (one.array, one.index, one.value)]
                self.node("put", region, parts)
                return parts[2]
        return [self.value(part, region, names) for part in one.items][-1]

    def where(self, one: Expression | None, region: Region, names: Mapping[str, Operand]) -> Operand:
        """The number of a node."""
        if one is None:
            return "me"
        found = self.value(one, region, names)
        return found if found in ("me", 0) else self.node("compute", region, [found, "nodes"], "mod")

    def choice(self, one: Conditional, region: Region, names: Mapping[str, Operand]) -> GraphNode:
        test = self.value(one.test, region, names)
        made = self.node("if", region, [test])
        for branch in (one.yes, one.no):
            inside = self.region(made)
            self.node("leave", inside, [self.value(branch, inside, names)])
        return made

    def loop(self, one: Loop, region: Region, names: Mapping[str, Operand]) -> GraphNode:
        made = self.node("loop", region, [self.value(part, region, names) for part in one.first])
        made.variables = [self.variable(name) for name in one.names]
        known = {**names, **dict(zip(one.names, made.variables, strict=True))}
        for kind, parts in (("test", (one.test,)), ("again", one.following), ("leave", (one.result,))):
            inside = self.region(made)
            self.node(kind, inside, [self.value(part, inside, known) for part in parts])
        return made

    def _leave_out_unused(self) -> None:
        """Leave out what is computed for nobody."""
        nodes = [node for region in self.regions for node in region.nodes]
        uses = Counter(before for node in nodes for before in node.before())
        for node in sorted(nodes, key=lambda one: -one.number):
            if node.kind == "compute" and not uses[node]:
                node.region.nodes.remove(node)
                uses.subtract(node.before())
