"""Words passed from hop to hop in the routers towards a destination that may be chosen at run time.

Each stream is a single hop between neighbours of a *plan* (`pointsman.operators.trees.hops`): a snake through the subset, a
reduction tree, or the links of the mesh. Where a node passes words on, incoming hops deliver into the register from which the
outgoing hop takes its words: no processor has a part in it, and the node's own words join there. At the destination
incoming hops deliver to its processor instead: that is all that a load function has to rewrite (Metcalf 1997, §4.1.1,
"Run-Time Specification", and B.1, where the thesis would have liked it so: "a better solution is to use simple streams, and
rewrite the stream to deliver to the destination as necessary").
"""

from __future__ import annotations

from collections.abc import Mapping

from pointsman.artifacts.images.images import LaneImage
from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Metric
from pointsman.operators.api.operands import (
    is_dynamic,
    message_stream,
    operand,
    runtime_operands,
    runtime_values,
    stream_name,
    taking_part,
)
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.hops import NextHops, dimension_hops, link_hops, snake_hops, tree_hops
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .synchronised import Synchronised, shifted

HOP = 6.0
"""Cycles that a word takes per hop, through a register, measured on the cycle model with the usual periods."""


class HopByHop(Synchronised):
    """Words go from any node (a collect), or from a source (a stream), to the destination, on a plan of hops.

    Parameters
    ----------
    name, kind : str
        Name of the implementation, and the kind of operator that it does.
    next_hops : NextHops
        The plan, a function of nodes, destination and network: for each node but the destination, the next node on the way to
        it; None if the plan does not serve these nodes.
    """

    def __init__(self, name: str, kind: str, next_hops: NextHops) -> None:
        self.name = name
        self.kinds = (kind,)
        self.next_hops = next_hops

    def fits(self, operator: Operator, context: Context) -> bool:
        """Can this plan serve the operator?"""
        # Of a :distributed destination the load functions tell each other in their barrier, all of them together; a
        # :dynamic end only one node loads.
        if any(is_dynamic(operator, name) for name in runtime_operands(operator)):
            return False
        return all(
            self.next_hops(instance.nodes, destination, context.topology) is not None
            for i, instance in enumerate(operator.instances)
            for destination in self.destinations(operator, i)
        )

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not self.fits(operator, context):
            return None
        far = 0
        for i, instance in enumerate(operator.instances):
            for destination in self.destinations(operator, i):
                far = max(far, _height(self.hops(instance.nodes, destination, context.topology), destination))
        return Metric(words_per_cycle=0.1, latency=HOP * far, reload_words=8 + 4 * far)

    def destinations(self, operator: Operator, instance: int) -> list[int]:
        """Nodes that may be the destination."""
        nodes = operator.instances[instance].nodes
        return list(
            dict.fromkeys(nodes[operand(operator, instance, "destination", v)] for v in runtime_values(operator))
        )

    def hops(self, nodes: tuple[int, ...], destination: int, topology: Topology) -> Mapping[int, int]:
        found = self.next_hops(nodes, destination, topology)
        assert found is not None
        return found

    def ways(self, operator: Operator, instance: int, topology: Topology) -> list[tuple[int, int]]:
        """Every hop (from, to) that some run-time values use, sorted."""
        nodes = operator.instances[instance].nodes
        used: set[tuple[int, int]] = set()
        for value in runtime_values(operator):
            destination = nodes[operand(operator, instance, "destination", value)]
            hops = self.hops(nodes, destination, topology)
            for start in self.starts(operator, instance, value):
                while start != destination:
                    used.add((start, hops[start]))
                    start = hops[start]
        return sorted(used)

    def starts(self, operator: Operator, instance: int, value: tuple[int, ...]) -> list[int]:
        """Nodes that may write when the run-time values are ``value``: the source of a stream, or all that take part."""
        nodes = operator.instances[instance].nodes
        if operator.kind == "stream":
            return [nodes[operand(operator, instance, "source", value)]]
        return [nodes[k] for k in taking_part(operator, instance)]

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i in range(len(operator.instances)):
            for a, b in self.ways(operator, i, context.topology):
                # Also of a single value: the first load sets the VFSMs at the destination.
                streams.append(message_stream(operator, i, context, a, (b,), f"{a}-{b}", rewritten=True))
        return [*streams, *self.meeting_streams(operator, context)]

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        """The VFSMs by which incoming hops deliver into a register of ``node``."""
        found: list[VfsmSetting] = []
        for name in wiring.names_at(node):
            if name.startswith(f"{operator.label}[") and "meet-" not in name:
                found += [s for s in wiring.settings(name, node) if s.vfsm.destination.kind == "deliver"]
        return tuple(found)

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        nodes = operator.instances[instance].nodes
        topology = wiring.routed.topology
        destination = nodes[operand(operator, instance, "destination", values)]
        arrival = self._arrival(operator, wiring, node)
        standing = []
        for setting in self.gen_router(operator, wiring, node):
            if node == destination:
                assert arrival is not None
                standing.append(setting.write_register(arrival))
                continue
            name = stream_name(operator, instance, f"{node}-{self.hops(nodes, destination, topology)[node]}")
            onward = wiring.registers(name, node, "inject") if name in wiring.index else None
            # A hop that these values do not use stays as routed: no words come on it.
            standing.append(setting.write_register(onward[0]) if onward else setting)
        return tuple(standing)

    def _arrival(self, operator: Operator, wiring: Wiring, node: int) -> int | None:
        """The register that the processor of ``node`` reads if it is the destination: that of its first incoming hop."""
        settings = self.gen_router(operator, wiring, node)
        if not settings:
            return None
        first = settings[0]
        return wiring.register(node, first.stream, first.chain, "deliver")

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        meeting = self.meeting_lanes(operator, wiring, instance, node)
        destination = nodes[operand(operator, instance, "destination", values)]
        collects = operator.kind == "collect"
        void = nodes.index(node) not in taking_part(operator, instance)
        if operator.kind == "stream" and node == destination == self.starts(operator, instance, values)[0]:
            return RoleDraft("both", meeting, local=True)
        if node == destination:
            arrival = self._arrival(operator, wiring, node)
            own: list[LaneImage] = []
            if arrival is not None and any(start != node for start in self.starts(operator, instance, values)):
                own.append(LaneImage(False, (arrival,), data="in"))
            # Words that the destination of a collect sends to itself stay in its processor.
            return RoleDraft("both" if collects else "read", (*meeting, *shifted(own, len(meeting))), void=void)
        if node in self.starts(operator, instance, values):
            topology = wiring.routed.topology
            name = stream_name(operator, instance, f"{node}-{self.hops(nodes, destination, topology)[node]}")
            return RoleDraft("write", (*meeting, wiring.write_lane(name, node)))
        return RoleDraft("write" if collects else "none", meeting, void=void)


def _height(hops: Mapping[int, int], destination: int) -> int:
    """Number of hops from the farthest node to ``destination``."""
    depth = {destination: 0}
    for start in hops:
        way = []
        node = start
        while node not in depth:
            way.append(node)
            node = hops[node]
        for above, at in enumerate(reversed(way), 1):
            depth[at] = depth[node] + above
    return max(depth.values())


HOP_BY_HOP: tuple[HopByHop, ...] = (
    HopByHop("str_collect_runtime", "collect", snake_hops),
    HopByHop("str_collect_tree", "collect", tree_hops),
    HopByHop("str_collect_dim", "collect", dimension_hops),
    # The thesis loads a schedule for each destination; here a single schedule serves all, and load functions join its streams.
    HopByHop("sch_collect_dense", "collect", link_hops),
)
STREAMS_HOP_BY_HOP: tuple[HopByHop, ...] = (
    HopByHop("str_stream_runtime", "stream", snake_hops),
    HopByHop("str_stream_tree", "stream", tree_hops),
)
