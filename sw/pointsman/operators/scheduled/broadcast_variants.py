"""More broadcasts: with the source reading back, up and down a tree, a path per source (Metcalf 1997, §4.1.1 and B.1)."""

from __future__ import annotations

from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import (
    is_constant,
    is_dynamic,
    is_partial,
    message_stream,
    operand,
    runtime_values,
    stream_name,
    taking_part,
)
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import ReductionTree, build_tree, centre
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream


def _source(operator: Operator, instance: int, values: tuple[int, ...]) -> int:
    return operator.instances[instance].nodes[operand(operator, instance, "source", values)]


def _members(operator: Operator, instance: int) -> list[int]:
    nodes = operator.instances[instance].nodes
    return [nodes[k] for k in taking_part(operator, instance)]


class StrBcastBind(Implementation):
    """A multicast that the source itself reads too; the source is known at compile time (str_bcast_bind)."""

    name = "str_bcast_bind"
    kinds = ("broadcast",)
    processor_bound = True

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "source"):
            return None
        return Metric(words_per_cycle=0.42, latency=max(len(i.nodes) for i in operator.instances) ** 0.5 * 2)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            message_stream(
                operator,
                i,
                context,
                _source(operator, i, ()),
                tuple(_members(operator, i)),
                chains=2,
                message=operator.m,
            )
            for i, instance in enumerate(operator.instances)
            if len(_members(operator, i)) > 1
        ]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        name = stream_name(operator, instance)
        members = _members(operator, instance)
        source = node == _source(operator, instance, values)
        if node not in members or len(members) == 1:
            return RoleDraft("write" if source else "read", void=node not in members)
        read = wiring.read_lane(name, node, data="token" if source else "in")
        if not source:
            return RoleDraft("read", (read,))
        return RoleDraft("write", (wiring.write_lane(name, node), read))


class StrBcastTree(Implementation):
    """Words go up a tree to its root and from there to all nodes, joined in the routers (str_bcast_tree).

    A stream leads from each node to its parent and delivers into the register from which the parent's own stream reads; at the
    root, into the register of a multicast to all nodes. When a source has read its own words back, they have passed the root,
    so words of the next source come behind them; no VFSM is ever rewritten. So a node need not know who the source is, only
    whether it is the source itself (``:distributed``).
    """

    name = "str_bcast_tree"
    kinds = ("broadcast",)
    processor_bound = True
    traceable = False

    def tree(self, operator: Operator, instance: int, topology: Topology) -> ReductionTree:
        nodes = operator.instances[instance].nodes
        found = build_tree(nodes, topology, start=centre(nodes, topology), valid=taking_part(operator, instance))
        assert found is not None
        return found

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if is_dynamic(operator, "source"):
            return None
        depth = max(self.tree(operator, i, context.topology).depth for i in range(len(operator.instances)))
        return Metric(words_per_cycle=0.14, latency=8.0 * depth + 6)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i in range(len(operator.instances)):
            members = _members(operator, i)
            if len(members) == 1:
                continue
            tree = self.tree(operator, i, context.topology)
            down = stream_name(operator, i, "down")
            passed = self._passed(operator, i, tree)
            for here in tree.nodes.values():
                if here.parent is not None and here.node in passed:
                    into = down if here.parent == tree.root else stream_name(operator, i, f"up{here.parent}")
                    streams.append(
                        message_stream(operator, i, context, here.node, (here.parent,), f"up{here.node}", into=into)
                    )
            streams.append(message_stream(operator, i, context, tree.root, tuple(members), "down"))
        return streams

    @staticmethod
    def _passed(operator: Operator, instance: int, tree: ReductionTree) -> set[int]:
        """Nodes below the root that words of some possible source pass on their way up."""
        found: set[int] = set()
        for values in runtime_values(operator):
            node: int | None = _source(operator, instance, values)
            while node is not None and node not in found:
                found.add(node)
                node = tree.nodes[node].parent
        return found

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        members = _members(operator, instance)
        source = node == _source(operator, instance, values)
        if node not in members or len(members) == 1:
            return RoleDraft("write" if source else "read", void=node not in members)
        tree = self.tree(operator, instance, wiring.routed.topology)
        down = stream_name(operator, instance, "down")
        read = wiring.read_lane(down, node, data="token" if source else "in")
        if not source:
            return RoleDraft("read", (read,))
        out = down if node == tree.root else stream_name(operator, instance, f"up{node}")
        return RoleDraft("write", (wiring.write_lane(out, node), read))


class ParBcast(Implementation):
    """A multicast for each possible source, only one of them in use at a time (par_bcast, our name; §4.1.1, "Multiple Path
    Allocation"). For few sources."""

    name = "par_bcast"
    kinds = ("broadcast",)
    traceable = False

    def sources(self, operator: Operator, instance: int) -> list[int]:
        return list(dict.fromkeys(_source(operator, instance, value) for value in runtime_values(operator)))

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if is_constant(operator, "source") or is_partial(operator, "source"):
            return None
        most = max(len(self.sources(operator, i)) for i in range(len(operator.instances)))
        if most + context.shape.pipelines + 1 > context.shape.registers:
            return None
        far = max(len(i.nodes) for i in operator.instances) ** 0.5
        return Metric(words_per_cycle=min(0.5, 0.6 / most), latency=4.0 * far)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            message_stream(
                operator,
                i,
                context,
                source,
                tuple(node for node in _members(operator, i) if node != source),
                str(source),
            )
            for i, instance in enumerate(operator.instances)
            for source in self.sources(operator, i)
            if len(_members(operator, i)) > 1
        ]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        members = _members(operator, instance)
        source = _source(operator, instance, values)
        name = stream_name(operator, instance, str(source))
        if node not in members or len(members) == 1:
            return RoleDraft("write" if node == source else "read", void=node not in members)
        if node == source:
            return RoleDraft("write", (wiring.write_lane(name, node),))
        return RoleDraft("read", (wiring.read_lane(name, node),))
