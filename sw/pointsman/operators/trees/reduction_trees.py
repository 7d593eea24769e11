"""Trees for combining or collecting messages: trees that keep the order of the subset, and trees of shortest paths (Metcalf
1997, B.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, wraps

from numesh.codes import ACCESS_TO_ACCESS
from pointsman.network import Topology
from pointsman.routing.streams import read_after

ANY = 1 << 30
"""No limit of children or distance."""
LONGEST_RUN = 8
"""Positions of a run of a shallow tree, at most."""
_Runs = list[tuple[tuple[int, ...], int]]
"""Positions of the runs of a level, each with the one that the others hang below."""


@dataclass
class TreeNode:
    """A node of a reduction tree.

    ``before`` are the children whose subtrees come before the node in the order of the subset, ``after`` those behind it,
    both in that order. ``valid``: the node has a message of its own; otherwise it only passes messages on.
    """

    node: int
    position: int
    parent: int | None
    """The parent's node; None at the root."""
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    valid: bool = True

    @property
    def children(self) -> list[int]:
        return [*self.before, *self.after]


@dataclass
class ReductionTree:
    """A tree over nodes of a subset; all but those of `dimension_tree` keep its order (`in_order`)."""

    root: int
    nodes: dict[int, TreeNode]

    def in_order(self) -> list[int]:
        """All nodes: at each node first the subtrees before it, then the node, then the subtrees after it."""
        order: list[int] = []
        stack: list[tuple[int, bool]] = [(self.root, False)]
        while stack:
            node, own = stack.pop()
            if own:
                order.append(node)
                continue
            here = self.nodes[node]
            stack += [(child, False) for child in reversed(here.after)]
            stack.append((node, True))
            stack += [(child, False) for child in reversed(here.before)]
        return order

    @cached_property
    def preceded(self) -> frozenset[int]:
        """Nodes whose subtrees have some valid node before them in the order of the subset."""
        found = set()
        stack = [(self.root, False)]
        while stack:
            node, before = stack.pop()
            here = self.nodes[node]
            if before:
                found.add(node)
            for child in here.before:
                stack.append((child, before))
                before = True  # every child has a valid node in its subtree: `build_tree` leaves out the others
            before = before or here.valid
            for child in here.after:
                stack.append((child, before))
                before = True
        return frozenset(found)

    @cached_property
    def levels(self) -> dict[int, int]:
        """By node, the levels of its subtree; 1 for a leaf."""
        order = [self.root]
        for node in order:
            order += self.nodes[node].children
        found: dict[int, int] = {}
        for node in reversed(order):
            found[node] = 1 + max((found[child] for child in self.nodes[node].children), default=0)
        return found

    def word_cycles(self, topology: Topology, *, back: bool) -> int:
        """Cycles until a word of each node has come up the tree to the root, and then gone ``back`` to all, if slots are free."""
        ways = distances(list(self.nodes), topology)
        back_again = ACCESS_TO_ACCESS + 1 + max(ways(self.root, node) for node in self.nodes)
        return self.written(topology)[self.root] + back * back_again

    def written(self, topology: Topology) -> dict[int, int]:
        """By node, the cycle in which it has read a word of each child and writes one of its own, if all slots are free."""
        ways = distances(list(self.nodes), topology)
        wrote: dict[int, int] = {}
        for node in sorted(self.nodes, key=lambda node: self.levels[node]):
            children = self.nodes[node].children
            wrote[node] = read_after(wrote[child] + ACCESS_TO_ACCESS + ways(child, node) for child in children)
        return wrote

    @property
    def links(self) -> tuple[tuple[int, int], ...]:
        """From parents to children, those nearer to the root first."""
        order = [self.root]
        for node in order:
            order += self.nodes[node].children
        return tuple((parent, node) for node in order if (parent := self.nodes[node].parent) is not None)

    @property
    def depth(self) -> int:
        """Links from the root to the farthest node."""
        return self.levels[self.root] - 1


def _once(build: Callable[..., ReductionTree | None]) -> Callable[..., ReductionTree | None]:
    """Cache ``build``: all parts of an implementation ask for the same tree, at every node and for every value."""
    kept = lru_cache(maxsize=1024)(build)

    @wraps(build)
    def asked(
        subset: Sequence[int], topology: Topology, *, valid: Collection[int] | None = None, **how: int | None
    ) -> ReductionTree | None:
        return kept(tuple(subset), topology, valid=None if valid is None else tuple(valid), **how)

    return asked


@_once
def build_tree(
    subset: Sequence[int],
    topology: Topology,
    *,
    start: int,
    valid: Collection[int] | None = None,
    max_children: int = ANY,
    max_distance: int = ANY,
) -> ReductionTree | None:
    """A reduction tree over ``subset`` that keeps its order.

    From the start node it walks backwards and forwards through the subset and hangs each new node below the nearest node
    of the tree that keeps the order, on a tie that farthest from the root (Metcalf 1997, B.2). A node that comes
    in front of all others can hang below any node on the left edge of the tree whose own children before it are complete,
    as its first child; a node behind all others below any node on the right edge, as its last child.

    Complexity: O(n · edge) distances, where the edges are seldom longer than the network is wide.

    Parameters
    ----------
    subset : sequence of int
        Nodes in their order.
    start : int
        Position of the root.
    valid : collection of int or None
        Positions with a message of their own; None: all. Others without a valid node below them are left out.
    max_children, max_distance : int
        Limits of each node.

    Returns
    -------
    ReductionTree or None
        None if there is no such tree, or no valid node.
    """
    ways = distances(subset, topology)
    wanted = set(range(len(subset)) if valid is None else valid)
    nodes = {subset[start]: TreeNode(subset[start], start, None, valid=start in wanted)}
    level = {subset[start]: 0}
    left, right = [subset[start]], [subset[start]]  # the edges, from the root down

    def attach(position: int, edge: list[int], first: bool) -> bool:
        node = subset[position]
        able = [
            other for other in edge if len(nodes[other].children) < max_children and ways(other, node) <= max_distance
        ]
        if not able:
            return False
        parent = min(able, key=lambda other: (ways(other, node), -level[other], other))
        nodes[node] = TreeNode(node, position, parent, valid=position in wanted)
        level[node] = level[parent] + 1
        (nodes[parent].before if first else nodes[parent].after).insert(0 if first else len(nodes[parent].after), node)
        del edge[edge.index(parent) + 1 :]
        edge.append(node)
        return True

    for step in range(1, len(subset)):
        for position, edge, first in ((start - step, left, True), (start + step, right, False)):
            if 0 <= position < len(subset) and not attach(position, edge, first):
                return None
    tree = ReductionTree(subset[start], nodes)
    _prune(tree)
    return tree if any(here.valid for here in nodes.values()) else None


def chain_tree(subset: Sequence[int], start: int, valid: Collection[int] | None = None) -> ReductionTree:
    """Two chains that meet at ``start``, in the order of ``subset``: from its first position forwards and from its last
    backwards. No tree has fewer accesses of its busiest processor, and none is deeper. Positions that are not ``valid`` (None:
    all are) are left out, but for the start."""
    wanted = set(range(len(subset)) if valid is None else valid)
    root = subset[start]
    tree = ReductionTree(root, {root: TreeNode(root, start, None, valid=start in wanted)})
    for positions, before in ((range(start - 1, -1, -1), True), (range(start + 1, len(subset)), False)):
        parent = root
        for position in positions:
            if position in wanted:
                node = subset[position]
                tree.nodes[node] = TreeNode(node, position, parent)
                here = tree.nodes[parent]
                (here.before if before else here.after).append(node)
                parent = node
    return tree


@_once
def shallow_tree(
    subset: Sequence[int],
    topology: Topology,
    *,
    start: int | None,
    valid: Collection[int] | None = None,
    most: int = ANY,
) -> ReductionTree | None:
    """A tree over ``subset`` that keeps its order, with few levels: runs of positions hang below the one in their middle, runs
    of these below the one in theirs, and so on. Runs are as long at each level as lets a word be on its way for the fewest
    cycles, up the tree and from the root back to all.

    Complexity: O(n) distances for each of some tens to hundreds of choices of lengths.

    Parameters
    ----------
    subset, valid
        As of `build_tree`; positions that are not valid are left out, but for the start.
    start : int or None
        Position of the root; None: whichever is quickest.
    most : int
        Children of a node, at most.

    Returns
    -------
    ReductionTree or None
        None if no such tree has so few children.
    """
    ways = distances(subset, topology)
    wanted = range(len(subset)) if valid is None else valid
    leaves = tuple(sorted({*wanted, *(() if start is None else (start,))}))
    best: tuple[int, list[_Runs]] | None = None

    def read(run: Sequence[int], head: int) -> int:
        """The cycle after ``head`` has read a word of each of the others, one a cycle, which they wrote in cycle 0."""
        return read_after(ACCESS_TO_ACCESS + ways(subset[k], subset[head]) for k in run if k != head)

    def climb(left: tuple[int, ...], cycles: int, runs: list[_Runs]) -> None:
        nonlocal best
        if best is not None and cycles >= best[0]:
            return
        if len(left) == 1:
            back = ACCESS_TO_ACCESS + 1 + max(ways(subset[left[0]], subset[k]) for k in leaves)
            children = Counter(head for level in runs for run, head in level for _ in run[1:])
            if (best is None or cycles + back < best[0]) and max(children.values(), default=0) <= most:
                best = cycles + back, runs
            return
        for length in range(min(LONGEST_RUN, len(left)), 1, -1):
            parts = [left[at : at + length] for at in range(0, len(left), length)]
            level = [(run, start if start in run else run[len(run) // 2]) for run in parts]
            climb(tuple(head for _, head in level), cycles + max(read(*one) for one in level), [*runs, level])

    climb(leaves, 0, [])
    if best is None:
        return None
    nodes = {k: TreeNode(subset[k], k, None, valid=valid is None or k in wanted) for k in leaves}
    top = leaves[0]
    for level in best[1]:
        for run, top in level:
            # Runs of lower levels are nearer to the head: theirs are the inner ones on both sides.
            nodes[top].before[:0] = [subset[k] for k in run if k < top]
            nodes[top].after += [subset[k] for k in run if k > top]
            for k in run:
                if k != top:
                    nodes[k].parent = subset[top]
    return ReductionTree(subset[top], {here.node: here for here in nodes.values()})


def distances(subset: Sequence[int], topology: Topology):  # type: ignore[no-untyped-def]
    """A function that gives the hops between two nodes: from their coordinates, or in a graph by search."""
    if topology.kind == "mesh" and topology.regular:
        places = {node: topology.coordinates(node) for node in subset}

        def along(a: int, b: int) -> int:
            return sum(abs(x - y) for x, y in zip(places[a], places[b], strict=True))

        return along
    known: dict[int, dict[int, int]] = {}

    def searched(a: int, b: int) -> int:
        if a not in known:
            found = {a: 0}
            queue = [a]
            for node in queue:
                for other, _ in topology.at_port[node].values():
                    if other not in found:
                        found[other] = found[node] + 1
                        queue.append(other)
            known[a] = found
        return known[a].get(b, ANY)

    return searched


def halving_tree(subset: Sequence[int], valid: Collection[int] | None = None) -> ReductionTree:
    """A tree over ``subset`` that keeps its order and is as flat as two children per node allow: the children of a node are the
    middles of the parts before and behind it, at any distance. Positions that are not ``valid`` are left out as by
    `build_tree`."""
    wanted = set(range(len(subset)) if valid is None else valid)
    root = len(subset) // 2
    nodes = {subset[root]: TreeNode(subset[root], root, None, valid=root in wanted)}
    waiting = [(root, 0, root, True), (root, root + 1, len(subset), False)]
    while waiting:
        parent, low, high, first = waiting.pop()
        if low >= high:
            continue
        middle = (low + high) // 2
        here = nodes[subset[parent]]
        nodes[subset[middle]] = TreeNode(subset[middle], middle, subset[parent], valid=middle in wanted)
        (here.before if first else here.after).append(subset[middle])
        waiting += [(middle, low, middle, True), (middle, middle + 1, high, False)]
    tree = ReductionTree(subset[root], nodes)
    _prune(tree)
    return tree


def _prune(tree: ReductionTree) -> None:
    """Leave out nodes that are not valid and have no valid node below them; the root stays."""
    order = [tree.root]
    for node in order:
        order += tree.nodes[node].children
    for node in reversed(order):
        here = tree.nodes[node]
        if here.valid or here.children or here.parent is None:
            continue
        parent = tree.nodes[here.parent]
        for children in (parent.before, parent.after):
            if node in children:
                children.remove(node)
        del tree.nodes[node]


def centre(nodes: Sequence[int], topology: Topology) -> int:
    """Position of the node whose farthest node is nearest, the lowest on a tie; of 200 nodes and more only every n // 100th is
    considered."""
    return _centre(tuple(nodes), topology)


@lru_cache(maxsize=1024)
def _centre(nodes: tuple[int, ...], topology: Topology) -> int:
    ways = distances(nodes, topology)
    step = max(1, len(nodes) // 100)
    return min(range(0, len(nodes), step), key=lambda k: (max(ways(nodes[k], other) for other in nodes), k))


def neighbour_tree(nodes: Sequence[int], topology: Topology, root: int, most: int) -> ReductionTree | None:
    """A tree in which each node hangs below a neighbour, with ``most`` neighbours in the tree at most where that can be, and few
    levels. The order of the nodes is not kept. None if they do not hang together.

    Complexity: O(nodes · ports).
    """
    position = {node: k for k, node in enumerate(nodes)}
    beside = {
        node: list(dict.fromkeys(to for to, _ in topology.at_port[node].values() if to in position)) for node in nodes
    }
    tree = ReductionTree(root, {root: TreeNode(root, position[root], None)})

    def hang(node: int, parent: int) -> None:
        tree.nodes[node] = TreeNode(node, position[node], parent)
        tree.nodes[parent].after.append(node)
        queue.append(node)

    queue = [root]
    for node in queue:
        left = most - (node != root)
        for other in [one for one in beside[node] if one not in tree.nodes][:left]:
            hang(other, node)
    # Nodes whose neighbours all have as many as they may.
    for node in queue:
        for other in [one for one in beside[node] if one not in tree.nodes]:
            parents = [one for one in beside[other] if one in tree.nodes]
            hang(other, min(parents, key=lambda one: len(tree.nodes[one].after)))
    return tree if len(tree.nodes) == len(position) else None


def dimension_tree(
    nodes: Sequence[int], topology: Topology, root: int, valid: Collection[int] | None = None
) -> ReductionTree:
    """A tree of shortest paths to ``root`` among connected ``nodes``; each node's parent is at its lowest port that leads nearer
    to the root: in a box dimension by dimension. The order of the nodes is not kept. Positions that are not ``valid`` (None:
    all are) and have no valid node below them are left out.

    Complexity: O(nodes · ports).
    """
    position = {node: k for k, node in enumerate(nodes)}
    distance = {root: 0}
    queue = [root]
    tree = ReductionTree(root, {root: TreeNode(root, position[root], None)})
    for node in queue:
        for other, _ in topology.at_port[node].values():
            if other in position and other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    for node in queue[1:]:
        ways = (other for _, (other, _) in sorted(topology.at_port[node].items()))
        parent = next(other for other in ways if distance.get(other, ANY) < distance[node])
        tree.nodes[node] = TreeNode(node, position[node], parent, valid=valid is None or position[node] in valid)
        tree.nodes[parent].after.append(node)
    _prune(tree)
    return tree
