"""Messages to or from several nodes in turn, which processors pass on along a tree: spread, gather, seqread, seqwrite.

In a gather each node writes its own message to its parent, then those of its subtree, as it reads them from its children; in a
spread it reads its own, then those of its subtree, and writes them to its children. A node has a register for its parent and one
for each child, however many nodes there are, and no router is rewritten. A message takes two accesses of each processor on its
way, so a word comes every second cycle at most.

A call returns when the messages of the node's subtree have been passed on. So a node must not need, on its way to the operator,
what another one does after it: nodes come to it in the order of the program, not beside others in a parallel group
(``in_order``).
"""

from __future__ import annotations

from pointsman.artifacts.images.images import IoKind, LaneImage
from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import message_stream, stream_name, taking_part
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import ReductionTree, build_tree, neighbour_tree
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .fan_and_chain import READS, constant, ends

HOP = 7.0
"""Cycles per level of the tree, measured on the cycle model."""
NEIGHBOURS = 3
"""Most neighbours of a node in the tree, if that can be: with four, all moves of its router in four slots would be theirs."""
MOST = 64
"""Messages of an operator, as a role has two lanes for each that it passes on."""


class StrPassedOn(Implementation):
    """A tree rooted at the single source or destination, in which the messages of each subtree come one after the other
    (str_gather_tree and the like; our names)."""

    traceable = False
    in_order = True

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kinds = (kind,)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not constant(operator) or self.messages(operator) > MOST:
            return None
        depth = max(self.tree(operator, i, context.topology).depth for i in range(len(operator.instances)))
        return Metric(words_per_cycle=0.5 / (1 + self.messages(operator)), latency=HOP * depth)

    def messages(self, operator: Operator) -> int:
        return max(1, *(len(ends(operator, i)[1]) for i in range(len(operator.instances))))

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        """A tree from neighbour to neighbour if the nodes hang together; else one of short ways."""
        one, others = ends(operator, instance)
        found = neighbour_tree((one, *others), topology, one, NEIGHBOURS) or build_tree(
            (one, *others), topology, start=0
        )
        assert found is not None  # without limits there always is a tree
        return found

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams, messages = [], self.messages(operator)
        for i in range(len(operator.instances)):
            for here in self.tree(operator, i, context.topology).nodes.values():
                if here.parent is not None:
                    a, b = (here.node, here.parent) if operator.kind in READS else (here.parent, here.node)
                    streams.append(
                        message_stream(
                            operator, i, context, a, (b,), _edge(here.node), messages, chains=2, all_chains=True
                        )
                    )
        return streams

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        one, others = ends(operator, instance)
        reads = operator.kind in READS
        void = operator.instances[instance].nodes.index(node) not in taking_part(operator, instance)
        if node not in (one, *others):
            named = operator.kind in ("gather", "spread")
            return RoleDraft(("write" if reads else "read") if named else "none", void=void)
        tree = self.tree(operator, instance, wiring.routed.topology)
        kind: IoKind = "read" if reads == (node == one) else "write"
        here = _subtree(tree, node)
        # By message that passes the node, in their order: the child from whose side it comes, or to whose side it goes.
        sides = [(other, here[other]) for other in (one, *others) if other in here]

        def registers(edge: int) -> tuple[int, ...]:
            end = "deliver" if reads == (edge != node) else "inject"
            return wiring.registers(stream_name(operator, instance, _edge(edge)), node, end)

        if node == one:
            data = "in" if reads else "out"
            lanes = [
                LaneImage(not reads, registers(side), data=data, turn=turn) for turn, (_, side) in enumerate(sides[1:])
            ]
            return RoleDraft(kind, tuple(lanes), turns=max(1, len(others)), void=void)
        lanes = []
        for other, side in sides:
            # Each word of a message is written as soon as it has been read.
            last = len(lanes) - 1 if lanes else None
            if other == node:
                lanes.append(
                    LaneImage(reads, registers(node), data="out" if reads else "in", after=last, after_all=bool(lanes))
                )
            else:
                come, go = (side, node) if reads else (node, side)
                lanes.append(LaneImage(False, registers(come), data="t0", after=last, after_all=bool(lanes)))
                lanes.append(LaneImage(True, registers(go), data="t0", after=len(lanes) - 1))
        return RoleDraft(kind, tuple(lanes), void=void)


def _edge(node: int) -> str:
    """What the stream between a node and its parent is called."""
    return f"edge{node}"


def _subtree(tree: ReductionTree, node: int) -> dict[int, int]:
    """A node and all below it; with each of these the child on whose side it is, and with the node itself the node."""
    found = {node: node}
    for child in tree.nodes[node].children:
        below = [child]
        for one in below:
            found[one] = child
            below += tree.nodes[one].children
    return found


PASSED_ON: tuple[Implementation, ...] = tuple(
    StrPassedOn(f"str_{kind}_tree", kind) for kind in ("gather", "spread", "seqread", "seqwrite")
)
