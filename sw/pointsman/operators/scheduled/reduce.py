"""Reduce, allreduce and prefix (Metcalf 1997, A.1 and B.1): messages combined by processors along a tree.

The predefined functions combine item by item: an item is sent on as soon as it is combined, so the tree takes the time of a
message plus the latency of a single item. With an application's own functions a processor combines whole messages.

Item by item, what a long message takes is set by the accesses of the busiest processor, a cycle each: it reads a word of each
child and writes one to its parent. So trees of several shapes (`TreeShape`) are candidates. With n nodes, each index of a vector
takes n - 1 writes and as many reads until one node has it, so 2 - 2/n accesses a processor on average, and 3 - 2/n when all
nodes are to have it; a chain takes 2 and 3. What a short message takes is set by the levels of the tree, at each of which its
words wait for their slots.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Container
from enum import Enum
from functools import lru_cache
from typing import Any

from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import (
    function_name,
    is_constant,
    item_by_item,
    keep_in,
    message_stream,
    operand,
    stream_name,
    taking_part,
)
from pointsman.operators.api.role_script import RoleScript
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.multicast_trees import Links, multicast_tree
from pointsman.operators.trees.reduction_trees import (
    ReductionTree,
    build_tree,
    centre,
    chain_tree,
    dimension_tree,
    shallow_tree,
)
from pointsman.operators.trees.two_trees import two_trees
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream, Turn

HOP = 4.0
"""Cycles per level of the tree, besides the time of the whole message, measured on the cycle model."""

HOP_BY_ITEM = 9.0
"""Cycles per level of the tree, as HOP, where items go on singly: words more often wait for their slots."""


LEGS = 2
"""Moves of a router for each word of an allreduce on its way down, beside a chain, whose words take as many on their way up."""

ROOTS = 16
"""Places of the root that are tried for a narrow tree."""

WAITING = 1.2
"""Cycles of a short message on a shallow tree, over those without waiting for slots, about."""

MOST_CHILDREN = 12
"""Children of a node of a shallow tree, at most: of 16 registers two belong to pipelines, and two are for its own words."""

SHORT = 4
"""Words of the longest message for which a shallow tree is tried: its processors read those of their many children in turn."""


class TreeShape(Enum):
    """Which tree: ``NEAR`` has short ways (Metcalf 1997, B.2), from a node in the middle where the root is free; ``NARROW`` the
    root with which such a tree has the fewest accesses at its busiest node, and then the fewest levels; ``CHAIN`` two chains
    that meet; ``SHALLOW`` few levels, whatever the ways. ``FIRST`` and ``SECOND``: of two trees, the leaves of the one inside the
    other (`pointsman.operators.trees.two_trees`)."""

    NEAR = "near"
    NARROW = "narrow"
    CHAIN = "chain"
    SHALLOW = "shallow"
    FIRST = "first"
    SECOND = "second"


TWO = TreeShape.FIRST, TreeShape.SECOND


class _OnTree(Implementation, ABC):
    """Base class: a tree over each instance, streams along its edges, and the steps of each node's processor."""

    traceable = False
    tree_shape = TreeShape.NEAR

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        """The tree of an instance, in the order of the subset, so that the function needs to be associative only."""
        nodes = operator.instances[instance].nodes
        root = self.root(operator, instance, topology)
        valid = taking_part(operator, instance)
        if self.tree_shape is TreeShape.CHAIN:
            return chain_tree(nodes, root, valid)
        if self.tree_shape is TreeShape.SHALLOW:
            start = root if operator.kind == "reduce" else None
            shallow = shallow_tree(nodes, topology, start=start, valid=valid, most=MOST_CHILDREN)
            if shallow is not None:
                return shallow
        if self.tree_shape in TWO:
            start = root if operator.kind == "reduce" else None
            both = two_trees(nodes, topology, None if operator.valid is None else valid, start=start)
            return both[TWO.index(self.tree_shape)]
        found = build_tree(nodes, topology, start=root, valid=valid)
        assert found is not None  # without limits there always is a tree
        return found

    def root(self, operator: Operator, instance: int, topology: Topology) -> int:
        """Position of the tree's root in the instance."""
        return centre(operator.instances[instance].nodes, topology)

    @abstractmethod
    def steps(
        self, script: RoleScript, operator: Operator, wiring: Wiring, instance: int, tree: ReductionTree, node: int
    ) -> None:
        """Add to ``script`` the steps of ``node``'s processor in a call."""

    def goes_by_item(self, operator: Operator) -> bool:
        """Is each item sent on as soon as it is combined, before the whole message has come?"""
        return item_by_item(operator)

    def item(self, operator: Operator) -> int:
        """Words that a processor combines at once."""
        return operator.type.words if self.goes_by_item(operator) else operator.m

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        tree = self.tree(operator, instance, wiring.routed.topology)
        if (resting := idle(operator, instance, tree, node)) is not None:
            return resting
        void = node not in _taking_part(operator, instance)
        script = RoleScript()
        self.steps(script, operator, wiring, instance, tree, node)
        result = node == tree.root if operator.kind == "reduce" else not void
        return script.role(by_item=self.goes_by_item(operator), result=result, void=void)

    def up_streams(self, operator: Operator, context: Context) -> list[Stream]:
        return self.tree_streams(operator, context, lambda tree: tree.nodes, up=True)

    def tree_streams(
        self, operator: Operator, context: Context, below: Callable[[ReductionTree], Container[int]], *, up: bool
    ) -> list[Stream]:
        """A stream between each node of ``below`` and its parent, up or down the tree."""
        way = "up" if up else "down"
        # On a chain every processor is busy all the time, and with a single register at each end it would miss slots.
        more: dict[str, Any] = {"chains": 2, "all_chains": True} if self.tree_shape is TreeShape.CHAIN else {}
        streams = []
        for i in range(len(operator.instances)):
            tree = self.tree(operator, i, context.topology)
            chosen = below(tree)
            levels = tree.levels
            for here in tree.nodes.values():
                if here.parent is None or here.node not in chosen:
                    continue
                source, destination = (here.node, here.parent) if up else (here.parent, here.node)
                streams.append(
                    message_stream(
                        operator,
                        i,
                        context,
                        source,
                        (destination,),
                        f"{way}{here.node}",
                        group=f"{operator.label} {way}",
                        turn=Turn(
                            operator.label,
                            levels[here.node] if up else 2 * levels[tree.root] - levels[here.node],
                            self.item(operator),
                        ),
                        **more,
                    )
                )
        return streams

    def gather_up(
        self, script: RoleScript, operator: Operator, wiring: Wiring, instance: int, tree: ReductionTree, node: int
    ) -> str:
        """Add steps that read the children's messages, combine them with the node's own, and send the outcome to the parent
        (unless ``node`` is the root). Gives the outcome's name."""
        here = tree.nodes[node]
        up = (
            wiring.registers(stream_name(operator, instance, f"up{node}"), node, "inject")
            if here.parent is not None
            else ()
        )
        children = [(stream_name(operator, instance, f"up{child}"), f"t{k}") for k, child in enumerate(here.children)]
        if self.tree_shape in TWO and wiring.parts_in_pace(operator.label, node) is not None:
            children.sort(key=lambda one: wiring.first_word(one[0], node))
        for name, message in children:
            script.move(False, wiring.registers(name, node, "deliver"), message)
        if not here.valid and len(here.children) == 1 and up:
            script.move(True, up, "t0", after=0)  # opaque: word by word
            return "t0"
        outcome = script.fold(items_of(tree, node), "in")
        if up:
            script.wait()
            script.move(True, up, outcome)
        return outcome

    def accesses(self, operator: Operator, context: Context) -> int:
        """Words that the busiest processor reads and writes for each word of a message on the way up."""
        return max(1, *(accesses_of(self.tree(operator, i, context.topology)) for i in range(len(operator.instances))))

    def shallow_metric(self, operator: Operator, context: Context) -> Metric:
        """Whole messages on a shallow tree: at each level a processor reads those of its children one after the other."""
        words = (self.accesses(operator, context) + 1) * max(1, self.depth(operator, context))
        trees = [self.tree(operator, i, context.topology) for i in range(len(operator.instances))]
        first = max(tree.word_cycles(context.topology, back=operator.kind == "allreduce") for tree in trees)
        return Metric(words_per_cycle=1 / words, latency=max(0.0, WAITING * first - words))

    def depth(self, operator: Operator, context: Context) -> int:
        return max(self.tree(operator, i, context.topology).depth for i in range(len(operator.instances)))


def accesses_of(tree: ReductionTree) -> int:
    """Accesses of the busiest processor for each word on its way up."""
    return max(len(here.children) + (here.parent is not None) for here in tree.nodes.values())


@lru_cache(maxsize=1024)
def narrow_root(nodes: tuple[int, ...], valid: tuple[int, ...], topology: Topology) -> int:
    """Position of the root with which `build_tree` gives the fewest accesses, then the fewest levels, then the first; of some
    `ROOTS` positions at equal distances."""

    def cost(start: int) -> tuple[int, int, int]:
        tree = build_tree(nodes, topology, start=start, valid=valid)
        assert tree is not None
        return accesses_of(tree), tree.depth, start

    return min(map(cost, valid[:: -(-len(valid) // ROOTS)]))[2]


def items_of(tree: ReductionTree, node: int) -> list[str]:
    """Names of the messages that a node combines, in order: t0, t1, … of its children, and "out", its own if it is valid."""
    here = tree.nodes[node]
    names = [f"t{k}" for k in range(len(here.children))]
    before = len(here.before)
    return [*names[:before], *(["out"] if here.valid else []), *names[before:]]


def surely_by_item(operator: Operator) -> bool:
    """Will items go singly? A function that is given at run time may want whole messages, one node of a chain after the other."""
    return item_by_item(operator) and function_name(operator) is not None


def _taking_part(operator: Operator, instance: int) -> frozenset[int]:
    """Nodes of the instance that are ``:valid``."""
    nodes = operator.instances[instance].nodes
    return frozenset(nodes[k] for k in taking_part(operator, instance))


def idle(operator: Operator, instance: int, tree: ReductionTree, node: int) -> RoleDraft | None:
    """The role of a node that exchanges no words: alone in its instance, or not in the tree; None for other nodes."""
    void = node not in _taking_part(operator, instance)
    if len(operator.instances[instance].nodes) == 1:
        return RoleDraft("func", local=True, void=void)
    return None if node in tree.nodes else RoleDraft("func", void=void, result=False)


class StrReduce(_OnTree):
    """A tree rooted at the destination (str_reduce). Only messages that are combined item by item go along a chain."""

    name = "str_reduce"
    kinds = ("reduce",)

    def __init__(self, tree_shape: TreeShape = TreeShape.NEAR) -> None:
        self.tree_shape = tree_shape

    def root(self, operator: Operator, instance: int, topology: Topology) -> int:
        return operand(operator, instance, "destination", ())

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "destination"):
            return None
        if self.tree_shape is TreeShape.CHAIN and not surely_by_item(operator):
            return None
        if self.tree_shape is TreeShape.SHALLOW and operator.m > SHORT:
            return None
        depth = max(1, self.depth(operator, context))
        if item_by_item(operator):
            return Metric(words_per_cycle=1 / self.accesses(operator, context), latency=HOP_BY_ITEM * depth)
        if self.tree_shape is TreeShape.SHALLOW:
            return self.shallow_metric(operator, context)
        return Metric(words_per_cycle=1 / (2 * depth), latency=HOP * depth)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return self.up_streams(operator, context)

    def steps(
        self, script: RoleScript, operator: Operator, wiring: Wiring, instance: int, tree: ReductionTree, node: int
    ) -> None:
        outcome = self.gather_up(script, operator, wiring, instance, tree, node)
        if node == tree.root and outcome != "in":
            script.combine(outcome, "", "in")


class StrAllreduce(_OnTree):
    """A reduction to a central node and a multicast back, in a single phase (str_allreduce; the thesis only has a reduce
    followed by a broadcast, repl_allreduce). ``by_item``: items are sent on singly; otherwise whole messages."""

    name = "str_allreduce"
    kinds = ("allreduce",)

    def __init__(self, *, by_item: bool, tree_shape: TreeShape = TreeShape.NEAR) -> None:
        self.by_item = by_item
        self.traceable = not by_item
        self.tree_shape = tree_shape

    def root(self, operator: Operator, instance: int, topology: Topology) -> int:
        valid = taking_part(operator, instance)
        if self.tree_shape is TreeShape.CHAIN:
            return valid[len(valid) // 2]
        if self.tree_shape is TreeShape.NARROW:
            return narrow_root(operator.instances[instance].nodes, valid, topology)
        return super().root(operator, instance, topology)

    def goes_by_item(self, operator: Operator) -> bool:
        return self.by_item

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        depth = max(1, self.depth(operator, context))
        if self.by_item:
            if not item_by_item(operator) or (self.tree_shape is TreeShape.CHAIN and not surely_by_item(operator)):
                return None
            # Each node reads the outcome, too: an access more.
            words = max(2, self.accesses(operator, context) + 1)
            return Metric(words_per_cycle=1 / words, latency=HOP_BY_ITEM * depth + 6)
        if self.tree_shape is TreeShape.SHALLOW:
            return self.shallow_metric(operator, context) if operator.m <= SHORT else None
        return Metric(words_per_cycle=1 / (4 * depth), latency=HOP * depth + 6)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = self.up_streams(operator, context)
        for i in range(len(operator.instances)):
            root, listeners = self.down(operator, i, context.topology)
            if listeners:
                streams.append(
                    message_stream(
                        operator,
                        i,
                        context,
                        root,
                        listeners,
                        "down",
                        chains=2,
                        turn=Turn(
                            operator.label,
                            self.tree(operator, i, context.topology).levels[root],
                            self.item(operator),
                        ),
                        all_chains=self.tree_shape is TreeShape.CHAIN,
                        group=f"{operator.label} down",
                        tree=self.down_links(operator, i, context),
                    )
                )
        return streams

    def down_links(self, operator: Operator, instance: int, context: Context) -> Links | None:
        """Links of the multicast. Beside a chain moves of routers are scarce: with two at a node, if there is a snake. Of two
        trees in a box along one dimension after the other: their roots are in the first and the last column of a mesh, so where
        words of the one turn off into rows, those of the other come to the ends of theirs."""
        if self.tree_shape not in (TreeShape.CHAIN, *TWO):
            return None
        root, listeners = self.down(operator, instance, context.topology)
        nodes = self.inside(operator, instance, context)
        if self.tree_shape is TreeShape.CHAIN:
            return multicast_tree(nodes, root, listeners, context.topology, LEGS)
        valid = [k for k, node in enumerate(nodes) if node in listeners]
        return dimension_tree(nodes, context.topology, root, valid).links

    def inside(self, operator: Operator, instance: int, context: Context) -> tuple[int, ...]:
        """The nodes that the multicast may use."""
        inside = keep_in(operator.instances[instance], context)
        return tuple(sorted(inside)) if inside is not None else context.topology.working

    def down(self, operator: Operator, instance: int, topology: Topology) -> tuple[int, tuple[int, ...]]:
        tree = self.tree(operator, instance, topology)
        nodes = operator.instances[instance].nodes
        return tree.root, tuple(nodes[k] for k in taking_part(operator, instance) if nodes[k] != tree.root)

    def steps(
        self, script: RoleScript, operator: Operator, wiring: Wiring, instance: int, tree: ReductionTree, node: int
    ) -> None:
        outcome = self.gather_up(script, operator, wiring, instance, tree, node)
        root, listeners = self.down(operator, instance, wiring.routed.topology)
        down = stream_name(operator, instance, "down")
        script.wait()
        if node == root:
            if outcome != "in":
                script.combine(outcome, "", "in")
            if listeners:
                script.move(True, wiring.registers(down, node, "inject"), "in")
        elif node in listeners:
            script.move(False, wiring.registers(down, node, "deliver"), "in")


class StrPrefix(_OnTree):
    """Sums up the tree, prefixes down it, both by processors, in a single phase (str_prefix).

    A node sends its parent the sum of its subtree, and each child the sum of all items before the child's subtree: the sum from
    its own parent, the sums of earlier children, and its own message if it comes before the child. A child with no items before
    its subtree gets no message.
    """

    name = "str_prefix"
    kinds = ("prefix",)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        depth = max(1, self.depth(operator, context))
        if item_by_item(operator):
            # For each word up, a word goes down.
            words = 2 * self.accesses(operator, context)
            return Metric(words_per_cycle=1 / words, latency=2 * HOP_BY_ITEM * depth + 8)
        return Metric(words_per_cycle=1 / (10 * depth), latency=2 * HOP * depth + 8)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        down = self.tree_streams(operator, context, lambda tree: tree.preceded, up=False)
        return [*self.up_streams(operator, context), *down]

    def steps(
        self, script: RoleScript, operator: Operator, wiring: Wiring, instance: int, tree: ReductionTree, node: int
    ) -> None:
        here = tree.nodes[node]
        some = tree.preceded
        count = len(here.children)
        total, before, running = f"t{count}", f"t{count + 1}", f"t{count + 2}"
        for k, child in enumerate(here.children):
            up = stream_name(operator, instance, f"up{child}")
            script.move(False, wiring.registers(up, node, "deliver"), f"t{k}")
        if here.parent is not None:
            outcome = script.fold(items_of(tree, node), total)
            script.wait()
            script.move(True, wiring.registers(stream_name(operator, instance, f"up{node}"), node, "inject"), outcome)
            if node in some:
                down = stream_name(operator, instance, f"down{node}")
                script.wait()
                script.move(False, wiring.registers(down, node, "deliver"), before)
        sofar = before if node in some else ""
        children = iter(enumerate(here.children))
        items = items_of(tree, node)
        for place, item in enumerate(items):
            if item != "out":
                _, child = next(children)
                if sofar:
                    down = stream_name(operator, instance, f"down{child}")
                    script.wait()
                    script.move(True, wiring.registers(down, node, "inject"), sofar)
            if place == len(items) - 1 and item != "out":
                break  # no node needs the sum that includes the last child
            if not sofar:
                sofar = item
            else:
                script.combine(sofar, item, running)
                sofar = running
            if item == "out":
                script.combine(sofar, "", "in")
