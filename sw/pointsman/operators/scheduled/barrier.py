"""The barrier by processors: words up a tree, then a multicast down (Metcalf 1997, A.1 and B.1: str_barrier_tree)."""

from __future__ import annotations

from functools import lru_cache

from pointsman.artifacts.images.images import LaneImage
from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import keep_in, stream_name
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import ReductionTree, TreeNode, shallow_tree
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream, Turn

from .reduce import MOST_CHILDREN


class StrBarrierTree(Implementation):
    """A word from each node up a tree, then a word down a multicast that the root also reads (str_barrier_tree).

    The words up are the reduction without a function of ``repl_allreduce``; the broadcast down is processor-bound,
    as §5.2.3 asks: a node that has read the word has no more traffic of the barrier in its router, because the
    delivery is the last leg of each fork and all words up were read before the root wrote.

    ``shallow``: on a tree of few levels, whose nodes have many children at any distance, in place of one of neighbours: quicker,
    with more registers and moves of routers.
    """

    name = "str_barrier_tree"
    kinds = ("barrier",)
    processor_bound = True

    def __init__(self, prefix: str = "", *, shallow: bool = False, part: bool = False) -> None:
        self.shallow = shallow
        self.part = part
        """Is it part of another operator or of a phase's end? Its slots are then whichever the others leave."""
        self.prefix = prefix
        """Put before the names of its streams, where the barrier is part of another operator."""

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        trees = [self.tree(instance.nodes, context) for instance in operator.instances]
        longest = max(tree.word_cycles(context.topology, back=True) for tree in trees)
        return Metric(words_per_cycle=0.1, latency=longest)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            if len(instance.nodes) == 1:
                continue
            inside = keep_in(instance, context)
            tree = self.tree(instance.nodes, context)
            for here in tree.nodes.values():
                if here.parent is not None:
                    streams.append(
                        Stream(
                            stream_name(operator, i, f"{self.prefix}up{here.node}"),
                            here.node,
                            (here.parent,),
                            max_words=1,
                            turn=None if self.part else Turn(operator.label, tree.levels[here.node]),
                            group=f"{operator.label} {self.prefix}up",
                            keep_in=inside,
                        )
                    )
            streams.append(
                Stream(
                    stream_name(operator, i, f"{self.prefix}down"),
                    tree.root,
                    tuple(instance.nodes),
                    max_words=1,
                    turn=None if self.part else Turn(operator.label, tree.levels[tree.root]),
                    group=f"{operator.label} {self.prefix}down",
                    keep_in=inside,
                )
            )
        return streams

    def tree(self, nodes: tuple[int, ...], context: Context) -> ReductionTree:
        """The tree of an instance, whose order does not matter."""
        if self.shallow:
            ordered = tuple(sorted(nodes))  # neighbours mostly have numbers in a row
            found = shallow_tree(ordered, context.topology, start=None, most=MOST_CHILDREN)
            if found is not None:
                return found
        return tree_of_neighbours(nodes, context.topology)

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        if len(nodes) == 1:
            return RoleDraft("func", local=True)
        down = stream_name(operator, instance, f"{self.prefix}down")
        lanes: list[LaneImage] = []

        def move(step: int, write: bool, name: str) -> None:
            registers = wiring.registers(name, node, "inject" if write else "deliver")
            lanes.append(LaneImage(write, registers, words=1, data="token", step=step))

        for up in wiring.arriving(stream_name(operator, instance, f"{self.prefix}up"), node):
            move(0, False, up)
        own = stream_name(operator, instance, f"{self.prefix}up{node}")
        move(1, True, own if own in wiring.index else down)
        move(2, False, down)
        return RoleDraft("func", tuple(lanes))


@lru_cache(maxsize=256)
def tree_of_neighbours(nodes: tuple[int, ...], topology: Topology) -> ReductionTree:
    """Breadth first from a centre over the links among ``nodes``.

    Nodes that cannot be reached that way hang below the root. A centre is a node whose farthest node is nearest; the
    lowest such node is taken.
    """
    members = frozenset(nodes)
    near = {
        node: [other for _, (other, _) in sorted(topology.at_port[node].items()) if other in members] for node in nodes
    }

    def search(root: int) -> tuple[int, dict[int, int]]:
        parents: dict[int, int] = {}
        depth = {root: 0}
        queue = [root]
        for node in queue:
            for other in near[node]:
                if other not in depth:
                    depth[other] = depth[node] + 1
                    parents[other] = node
                    queue.append(other)
        return max(depth.values()) if len(depth) == len(members) else len(members), parents

    # A hundred candidates are plenty: the tree only has to be short, not optimal.
    step = max(1, len(nodes) // 100)
    root = min(sorted(nodes)[::step], key=lambda node: (search(node)[0], node))
    _, parents = search(root)
    found = ReductionTree(root, {node: TreeNode(node, k, None) for k, node in enumerate(nodes)})
    for node in nodes:
        if node != root:
            found.nodes[node].parent = parents.get(node, root)
            found.nodes[parents.get(node, root)].after.append(node)
    return found
