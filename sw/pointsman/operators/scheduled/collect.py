"""Collects on a tree of streams that join in the routers, and streams from any source on the same tree (Metcalf 1997, B.1)."""

from __future__ import annotations

from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import (
    is_constant,
    message_stream,
    operand,
    runtime_values,
    stream_name,
    taking_part,
)
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import ReductionTree, TreeNode, build_tree, dimension_tree
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .hop_by_hop import HOP, HOP_BY_HOP, STREAMS_HOP_BY_HOP
from .synchronised import Synchronised, shifted


class StrCollect(Implementation):
    """A tree of streams rooted at the destination; at each node the children's words join the node's own stream in the router,
    without the processor (str_collect)."""

    name: str = "str_collect"
    kinds: tuple[str, ...] = ("collect",)
    traceable = False

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        nodes = operator.instances[instance].nodes
        found = build_tree(
            nodes,
            topology,
            start=operand(operator, instance, "destination", ()),
            valid=self.writers(operator, instance),
        )
        assert found is not None
        return found

    def writers(self, operator: Operator, instance: int) -> tuple[int, ...]:
        """Positions of the nodes that may send."""
        return taking_part(operator, instance)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "destination"):
            return None
        depth = max(self.tree(operator, i, context.topology).depth for i in range(len(operator.instances)))
        return Metric(words_per_cycle=0.3, latency=HOP * depth)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i in range(len(operator.instances)):
            tree = self.tree(operator, i, context.topology)
            first = stream_name(operator, i, f"up{tree.nodes[tree.root].children[0]}") if len(tree.nodes) > 1 else ""
            for here in tree.nodes.values():
                if here.parent is None:
                    continue
                name = stream_name(operator, i, f"up{here.node}")
                # Streams into the root share a register; others deliver into the register of their parent's stream.
                into = first if here.parent == tree.root else stream_name(operator, i, f"up{here.parent}")
                into_other = into if into != name else None
                streams.append(
                    message_stream(operator, i, context, here.node, (here.parent,), f"up{here.node}", into=into_other)
                )
        return streams

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        tree = self.tree(operator, instance, wiring.routed.topology)
        nodes = operator.instances[instance].nodes
        void = nodes.index(node) not in taking_part(operator, instance)
        if node == tree.root:
            children = tree.nodes[node].children
            if not children:
                return RoleDraft("both", void=void)
            name = stream_name(operator, instance, f"up{children[0]}")
            return RoleDraft("both", (wiring.read_lane(name, node),), void=void)
        if void:
            return RoleDraft("write", void=True)
        name = stream_name(operator, instance, f"up{node}")
        return RoleDraft("write", (wiring.write_lane(name, node),))


class StrCollectDirect(StrCollect):
    """A stream of its own from each node to the destination, where all of them share a register: no word stops on its way, so
    short messages come soon; but the slots of the destination's links are shared out among the nodes (str_collect_direct)."""

    name = "str_collect_direct"

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        nodes = operator.instances[instance].nodes
        root = nodes[operand(operator, instance, "destination", ())]
        position = {node: k for k, node in enumerate(nodes)}
        writers = [nodes[k] for k in self.writers(operator, instance) if nodes[k] != root]
        leaves = {node: TreeNode(node, position[node], root) for node in writers}
        return ReductionTree(root, {root: TreeNode(root, position[root], None, after=writers), **leaves})

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "destination"):
            return None
        trees = [self.tree(operator, i, context.topology) for i in range(len(operator.instances))]
        # At most half the slots go to one of the streams that share the destination's links.
        most = max(2, *(len(tree.nodes) - 1 for tree in trees))
        return Metric(words_per_cycle=1 / most, latency=2 * HOP)


class StrCollectDimensions(StrCollect):
    """A collect on a `dimension_tree`, for connected subsets: used for each value of the destination in sch_collect_dim
    (`pointsman.operators.scheduled.schedules_per_value`)."""

    name = "sch_collect_dim"

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        nodes = operator.instances[instance].nodes
        root = nodes[operand(operator, instance, "destination", ())]
        return dimension_tree(nodes, topology, root, taking_part(operator, instance))


class StrStreamRtsrc(StrCollect, Synchronised):
    """The tree of `StrCollect`, for a stream whose source is chosen at run time (str_stream_rtsrc). No VFSM is rewritten, but all
    words of a source must have arrived before the next source writes, so load functions have a barrier."""

    name = "str_stream_rtsrc"
    kinds = ("stream",)

    def writers(self, operator: Operator, instance: int) -> tuple[int, ...]:
        values = runtime_values(operator)
        return tuple(dict.fromkeys(operand(operator, instance, "source", value) for value in values))

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if is_constant(operator, "source"):
            return None
        return super().metric(operator, context)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [*super().streams(operator, context), *self.meeting_streams(operator, context)]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        meeting = self.meeting_lanes(operator, wiring, instance, node)
        source = nodes[operand(operator, instance, "source", values)]
        destination = nodes[operand(operator, instance, "destination", values)]
        if node == source == destination:
            return RoleDraft("both", meeting, local=True)
        if node not in (source, destination):
            return RoleDraft("none", meeting)
        draft = super().gen_io(operator, wiring, instance, node, values)
        lanes = list(draft.lanes) if source != destination else []
        return RoleDraft("read" if node == destination else "write", (*meeting, *shifted(lanes, len(meeting))))


COLLECTS: tuple[Implementation, ...] = (StrCollect(), *HOP_BY_HOP, StrStreamRtsrc(), *STREAMS_HOP_BY_HOP)
