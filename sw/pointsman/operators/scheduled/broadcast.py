"""Broadcasts: by a multicast, along a snake from any source, and by a flood fill (Metcalf 1997, A.1 and B.1)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from pointsman.artifacts.images.images import LaneImage
from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import (
    box,
    is_constant,
    is_partial,
    keep_in,
    message_stream,
    operand,
    runtime_values,
    stream_name,
    taking_part,
)
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.cycles import cycle_of
from pointsman.operators.trees.flood_fill import flood_parent, mesh_neighbours
from pointsman.operators.trees.multicast_trees import Links, multicast_tree, snake, tree_depth
from pointsman.program.program import Operator
from pointsman.routing.streams import Condition, Stream


class StrBcast(Implementation):
    """A multicast stream for each instance, source known (str_bcast).

    ``legs``: most moves that a word takes at a node; None: the router chooses its tree. A chain of VFSMs takes a word every
    ``legs`` slots, and each of two pipelines has a chain: 2 legs (a snake, with the source anywhere on it) give nearly a word
    per cycle, 3 legs (a tree of two children a node) two words in three cycles on shorter paths. Both chains take the same
    path: processors use the chains in turn, and on paths of different lengths would lose a fifth of the words or more waiting.
    """

    name = "str_bcast"
    kinds = ("broadcast",)
    one_way = True

    def __init__(self, legs: int | None = None) -> None:
        self.legs = legs

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "source"):
            return None
        if self.legs is None:
            return Metric(words_per_cycle=0.41, latency=max(len(i.nodes) for i in operator.instances) ** 0.5 * 2.5 + 12)
        deepest = 0
        for i in range(len(operator.instances)):
            tree = self._tree(operator, i, context)
            if tree is None:
                return None
            deepest = max(deepest, tree_depth(tree))
        return Metric(words_per_cycle=1.9 / self.legs, latency=1.1 * deepest + 8)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            message_stream(
                operator,
                i,
                context,
                instance.nodes[operand(operator, i, "source", ())],
                self._readers(operator, i),
                chains=2,
                message=operator.m,
                tree=self._tree(operator, i, context) if self.legs is not None else None,
            )
            for i, instance in enumerate(operator.instances)
            if self._readers(operator, i)
        ]

    def _tree(self, operator: Operator, instance: int, context: Context) -> Links | None:
        """Links of the multicast; None if `multicast_tree` finds no tree with at most ``self.legs`` moves at a node."""
        assert self.legs is not None
        one = operator.instances[instance]
        source, readers = one.nodes[operand(operator, instance, "source", ())], self._readers(operator, instance)
        inside = keep_in(one, context)
        nodes = tuple(sorted(inside)) if inside is not None else context.topology.working
        return multicast_tree(nodes, source, readers, context.topology, self.legs)

    @staticmethod
    def _readers(operator: Operator, instance: int) -> tuple[int, ...]:
        nodes = operator.instances[instance].nodes
        source = operand(operator, instance, "source", ())
        return tuple(nodes[k] for k in taking_part(operator, instance) if k != source)

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        name = stream_name(operator, instance)
        if node == nodes[operand(operator, instance, "source", ())]:
            # Without readers there is no stream.
            return RoleDraft("write", (wiring.write_lane(name, node),) if name in wiring.index else ())
        if name not in wiring.index or not wiring.has(name, node, "deliver"):
            return RoleDraft("read", void=True)
        return RoleDraft("read", (wiring.read_lane(name, node),))


class StrBcastRound(StrBcast):
    """A multicast round a cycle through all nodes of the instance, always the same way (str_bcast_round, our name).

    All nodes and links of the cycle carry the same whatever the sources, so that broadcasts from many nodes at the same time, as
    in an all-gather, leave few slots unused (`pointsman.routing.phase_router.rounds`). A single broadcast has shorter ways.
    """

    name = "str_bcast_round"
    at_once = True

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not is_constant(operator, "source"):
            return None
        several = [one.nodes for one in operator.instances if len(one.nodes) > 1]
        if any(len(cycle_of(nodes, context.topology)) < len(nodes) for nodes in several):
            return None
        return Metric(words_per_cycle=0.48, latency=max(len(i.nodes) for i in operator.instances) + 8)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        found = []
        for stream in super().streams(operator, context):
            one = next(one for one in operator.instances if stream.source in one.nodes)
            cycle = cycle_of(one.nodes, context.topology)
            at = cycle.index(stream.source)
            way = (*cycle[at:], *cycle[:at])
            last = max(k for k, node in enumerate(way) if node in stream.destinations)
            found.append(replace(stream, chains=1, tree=tuple(pairwise(way[: last + 1]))))
        return found


class StrBcastLinear(Implementation):
    """Two multicasts in opposite directions along a snake through all nodes; the load function makes the source inject into
    both (str_bcast_linear).

    ``left_between_uses``: for short messages without reading back, in phases that are left between any two uses: the end of
    the phase tells that all words have been read.

    At the source the forwarding VFSMs are rewritten to read the interface. With ``bind`` the source also reads its own
    words back, which makes the operator processor-bound for messages of any length; without ``bind`` its deliveries are
    switched off, which frees interface cycles but needs a message longer than the buffers on the way.
    """

    name = "str_bcast_linear"
    kinds = ("broadcast",)

    def __init__(self, *, bind: bool, left_between_uses: bool = False) -> None:
        self.bind = bind
        self.processor_bound = bind
        self.loading = Loading.LEFT_BETWEEN_USES if left_between_uses else Loading.LOCAL
        self.traceable = not left_between_uses

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if is_partial(operator, "source"):
            return None
        if any(snake(instance.nodes, context.topology) is None for instance in operator.instances):
            return None
        length = max(len(i.nodes) for i in operator.instances)
        if not self.bind and (operator.m > length) == (self.loading is Loading.LEFT_BETWEEN_USES):
            return None
        return Metric(
            words_per_cycle=0.25 if self.bind else 0.48,
            latency=length,
            reload_words=0 if len(_sources(operator, 0)) == 1 else 8,
        )

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            path = snake(instance.nodes, context.topology)
            assert path is not None
            sources = _sources(operator, i)
            heads = [at for at, node in enumerate(path) if node in sources]
            choice = stream_name(operator, i, "source")
            # Each direction begins at its first possible source; no words come from before it.
            for what, way in (("up", path[heads[0] :]), ("down", path[heads[-1] :: -1])):
                if len(way) == 1:
                    continue
                streams.append(
                    message_stream(
                        operator,
                        i,
                        context,
                        way[0],
                        way if self.bind else way[1:],
                        what,
                        keep_in=frozenset(path),
                        path=way,
                        injects_anywhere=len(sources) > 1,
                        inject_condition=Condition(choice, True) if len(sources) > 1 else None,
                        deliver_condition=Condition(choice, False) if len(sources) > 1 and not self.bind else None,
                        rewritten=len(sources) > 1,
                        message=operator.m,
                    )
                )
        return streams

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        """The VFSMs by which the chains enter the node, and the deliveries unless the source reads back.

        Deliveries come first: if an entering VFSM read its link again before the deliveries are on, words could pass undelivered.
        """
        if len(runtime_values(operator)) == 1:
            return ()
        entering: list[VfsmSetting] = []
        deliveries: list[VfsmSetting] = []
        for name in wiring.names_at(node):
            if not name.startswith(f"{operator.label}["):
                continue
            here = wiring.settings(name, node)
            if self.bind and here[0].vfsm.source.kind == "inject":
                continue  # the head of the stream always injects, and its deliveries stay on
            if wiring.has(name, node, "inject"):
                entering.append(here[0])
            if not self.bind:
                deliveries += [s for s in here if s.vfsm.destination.kind == "deliver"]
        return (*deliveries, *entering)

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        nodes = operator.instances[instance].nodes
        source = node == nodes[operand(operator, instance, "source", values)]
        standing = []
        for setting in self.gen_router(operator, wiring, node):
            delivers = setting.vfsm.destination.kind == "deliver"
            if source:
                standing.append(setting.off() if delivers else setting.read_interface())
            else:
                # The head of a stream reads the interface as routed; only the source may.
                head = setting.vfsm.source.kind == "inject"
                standing.append(setting.idle() if head else setting)
        return tuple(standing)

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        if len(nodes) == 1:
            return RoleDraft("write")
        up, down = (stream_name(operator, instance, what) for what in ("up", "down"))
        path = snake(nodes, wiring.routed.topology)
        assert path is not None
        at, source = path.index(node), path.index(nodes[operand(operator, instance, "source", values)])
        if at != source:
            name = up if source < at else down
            # A node that is not :valid reads the words too; its run time drops them.
            void = nodes.index(node) not in taking_part(operator, instance)
            return RoleDraft("read", (wiring.read_lane(name, node),), void=void)
        ways = [name for name, last in ((up, len(path) - 1), (down, 0)) if at != last]
        lanes = [wiring.write_lane(name, node) for name in ways]
        if len(lanes) == 2:
            lanes = [LaneImage(True, lane.registers, pair=1 - i, window=4) for i, lane in enumerate(lanes)]
        if self.bind:
            lanes += [wiring.read_lane(name, node, data="token") for name in ways]
        return RoleDraft("write", tuple(lanes))


class StrBcastDense(Implementation):
    """Streams between all neighbours; processors forward what they read (str_bcast_dense).

    The flood fill goes along the last dimension first, x last, so that every node knows from the source alone whom to read from
    and whom to write to (§4.1.1, "Processor Intervention").
    """

    name = "str_bcast_dense"
    kinds = ("broadcast",)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if is_partial(operator, "source"):
            return None
        if not context.topology.regular:
            return None
        if any(box(instance.nodes, context.topology) != frozenset(instance.nodes) for instance in operator.instances):
            return None
        dimensions = max(_dimensions(i.nodes, context.topology) for i in operator.instances)
        far = max(sum(size - 1 for size in _extent(i.nodes, context.topology)) for i in operator.instances)
        return Metric(words_per_cycle=0.48 / max(1, dimensions), latency=7.0 * far)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            members = frozenset(instance.nodes)
            sources = _sources(operator, i)
            for node in instance.nodes:
                for other in mesh_neighbours(node, members, context.topology):
                    if all(flood_parent(other, source, context.topology) != node for source in sources):
                        continue  # no word ever goes that way
                    streams.append(
                        message_stream(
                            operator, i, context, node, (other,), f"{node}-{other}", keep_in=members, path=(node, other)
                        )
                    )
        return streams

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        topology = wiring.routed.topology
        source = nodes[operand(operator, instance, "source", values)]
        children = [
            other
            for other in mesh_neighbours(node, frozenset(nodes), topology)
            if flood_parent(other, source, topology) == node
        ]

        def out(child: int) -> tuple[int, ...]:
            return wiring.registers(stream_name(operator, instance, f"{node}-{child}"), node, "inject")

        if node == source:
            many = len(children) > 1
            return RoleDraft(
                "write",
                tuple(
                    LaneImage(
                        True,
                        out(child),
                        pair=(k + 1) % len(children) if many else None,
                        window=4 if many else None,
                    )
                    for k, child in enumerate(children)
                ),
            )
        parent = flood_parent(node, source, topology)
        read = wiring.registers(stream_name(operator, instance, f"{parent}-{node}"), node, "deliver")
        lanes = [
            LaneImage(
                False,
                read,
                data="in",
                # The window keeps the node's reads at most 4 words ahead of its writes to children.
                pair=1 if children else None,
                window=4 if children else None,
            )
        ]
        for k, child in enumerate(children):
            last = k + 1 == len(children)
            lanes.append(
                LaneImage(
                    True,
                    out(child),
                    data="in",
                    after=0,
                    pair=None if last else k + 2,
                    window=None if last else 4,
                )
            )
        return RoleDraft("read", tuple(lanes), void=nodes.index(node) not in taking_part(operator, instance))


def _sources(operator: Operator, instance: int) -> frozenset[int]:
    """Nodes that may be the source of this instance."""
    nodes = operator.instances[instance].nodes
    return frozenset(nodes[operand(operator, instance, "source", value)] for value in runtime_values(operator))


def _extent(nodes: tuple[int, ...], topology: Topology) -> list[int]:
    places = [topology.coordinates(node) for node in nodes]
    return [max(axis) - min(axis) + 1 for axis in zip(*places, strict=True)]


def _dimensions(nodes: tuple[int, ...], topology: Topology) -> int:
    return sum(size > 1 for size in _extent(nodes, topology))
