"""The barrier by processors: words up a tree, then a multicast down (Metcalf 1997, A.1 and B.1: str_barrier_tree)."""

from __future__ import annotations

from functools import lru_cache

from pointsman.artifacts.images.images import LaneImage
from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import keep_in, stream_name
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream


class StrBarrierTree(Implementation):
    """A word from each node up a tree, then a word down a multicast that the root also reads (str_barrier_tree).

    The words up are the reduction without a function of ``repl_allreduce``; the broadcast down is processor-bound,
    as §5.2.3 asks: a node that has read the word has no more traffic of the barrier in its router, because the
    delivery is the last leg of each fork and all words up were read before the root wrote.
    """

    name = "str_barrier_tree"
    kinds = ("barrier",)
    processor_bound = True

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        """Put before the names of its streams, where the barrier is part of another operator."""

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        return Metric(words_per_cycle=0.1, latency=4.0 * max(len(i.nodes) for i in operator.instances))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            if len(instance.nodes) == 1:
                continue
            inside = keep_in(instance, context)
            root, parents = tree(instance.nodes, context)
            for node in instance.nodes:
                if node != root:
                    streams.append(
                        Stream(
                            stream_name(operator, i, f"{self.prefix}up{node}"),
                            node,
                            (parents[node],),
                            max_words=1,
                            group=f"{operator.label} {self.prefix}up",
                            keep_in=inside,
                        )
                    )
            streams.append(
                Stream(
                    stream_name(operator, i, f"{self.prefix}down"),
                    root,
                    tuple(instance.nodes),
                    max_words=1,
                    group=f"{operator.label} {self.prefix}down",
                    keep_in=inside,
                )
            )
        return streams

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        if len(nodes) == 1:
            return RoleDraft("func", local=True)
        down = stream_name(operator, instance, f"{self.prefix}down")
        lanes: list[LaneImage] = []

        def then(write: bool, name: str) -> None:
            registers = wiring.registers(name, node, "inject" if write else "deliver")
            before = len(lanes) - 1 if lanes else None
            lanes.append(LaneImage(write, registers, words=1, data="token", after=before, after_all=before is not None))

        for up in wiring.arriving(stream_name(operator, instance, f"{self.prefix}up"), node):
            then(False, up)
        own = stream_name(operator, instance, f"{self.prefix}up{node}")
        if own in wiring.index:
            then(True, own)
        else:
            then(True, down)
        then(False, down)
        return RoleDraft("func", tuple(lanes))


def tree(nodes: tuple[int, ...], context: Context) -> tuple[int, dict[int, int]]:
    """Root, and parent of every other node: breadth first from a centre over the links among ``nodes``.

    Nodes that cannot be reached that way hang below the root. A centre is a node whose farthest node is nearest; the
    lowest such node is taken.
    """
    return _tree(tuple(nodes), context.topology)


@lru_cache(maxsize=256)
def _tree(nodes: tuple[int, ...], topology: Topology) -> tuple[int, dict[int, int]]:
    members = frozenset(nodes)

    def search(root: int) -> tuple[int, dict[int, int]]:
        parents: dict[int, int] = {}
        depth = {root: 0}
        queue = [root]
        for node in queue:
            for _, (other, _) in sorted(topology.at_port[node].items()):
                if other in members and other not in depth:
                    depth[other] = depth[node] + 1
                    parents[other] = node
                    queue.append(other)
        return max(depth.values()) if len(depth) == len(members) else len(members), parents

    # A hundred candidates are plenty: the tree only has to be short, not optimal.
    step = max(1, len(nodes) // 100)
    root = min(sorted(nodes)[::step], key=lambda node: (search(node)[0], node))
    _, parents = search(root)
    return root, {node: parents.get(node, root) for node in nodes if node != root}
