"""Words that flood a tree without waiting: the least period in which all can start, and which of them share a parity.

A word of node j that starts in slot s comes to node i in slot s + |ij|. Words of j and k can meet at every
node between these, so starts of nodes that are m links apart may not differ by any of -m, -m + 2, ..., m, modulo the period;
only that k may start m slots after j if k is a leaf, which takes a word in the slot in which it starts its own.

Colour the nodes of the tree by turns. In an even period, words whose start and colour have the same parity are m + 2 slots
apart round the period, and others never meet. In an odd period p a start stands for one slot of the right parity round 2p, so
this is as an even period of twice the length, and all words are of one class. A class of N words is put round its circle in
the order of a walk round the part of the tree that it spans. The walk takes 2 slots a word, and each link twice, but links to
leaves cost nothing: 2N + 2e slots if e of the links join two inner nodes; no order is shorter, since each link is crossed at
least twice. With one class of all words: p = N + e. With two classes, which together span all of the tree but one link at
most, each in half of p: N + e, or N + e - 1 if a link between inner nodes divides the rest evenly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pointsman.artifacts.routes.routes import RouteProblem

from .bridges import bridges_of
from .parity import is_all_gather

FLOODING = (
    "words that cross the same bridges, links without which the network falls apart, meet unless they start apart"
)
Class = dict[int, int]
"""Words of each node that start with one parity."""


@dataclass(frozen=True)
class FloodedTree:
    """A tree with at least one inner node, and the words that start at each node, or come into the tree there.

    Parameters
    ----------
    beside : mapping of node to nodes
        The neighbours of each node.
    words : mapping of node to int
        How many words each node has; at least one.
    """

    beside: Mapping[int, Sequence[int]]
    words: Mapping[int, int]

    def is_inner(self, node: int) -> bool:
        return len(self.beside[node]) > 1

    @cached_property
    def weight(self) -> int:
        """Words, and links between inner nodes."""
        return sum(self.words.values()) + sum(map(self.is_inner, self.beside)) - 1

    @cached_property
    def before(self) -> dict[int, int]:
        """For each node but an inner one, at which it begins, the node before it; in the order of a walk round the tree."""
        root = next(node for node in self.beside if self.is_inner(node))
        found: dict[int, int] = {}
        rest = [root]
        while rest:
            node = rest.pop()
            for other in self.beside[node]:
                if other != found.get(node, -1):
                    found[other] = node
                    rest.append(other)
        return found

    @cached_property
    def weights(self) -> dict[int, int]:
        """Of the part that hangs on each node: its words, and its links between inner nodes."""
        found = dict(self.words)
        for node, before in reversed(self.before.items()):
            found[before] += found[node] + self.is_inner(node)
        return found

    def hanging(self, node: int, beside: int) -> Iterator[int]:
        """The nodes of the part of ``node`` when its link to ``beside`` is cut."""
        rest = [(node, beside)]
        while rest:
            one, behind = rest.pop()
            yield one
            rest += [(other, one) for other in self.beside[one] if other != behind]

    def least_period(self) -> tuple[int, tuple[Class, ...]]:
        """The least period, and the words of its one class (odd) or two classes (even)."""
        weight = self.weight
        if weight % 2:
            for node, before in self.before.items():
                if self.is_inner(node) and 2 * self.weights[node] == weight - 1:
                    return weight - 1, self._parts(node, before)
            return weight, (dict(self.words),)
        for node, before in self.before.items():
            if self.is_inner(node) and 2 * self.weights[node] in (weight, weight - 2):
                return weight, self._parts(node, before)
        for node in self.beside:
            if self.is_inner(node) and (parts := self._divided_at(node)) is not None:
                return weight, parts
        return weight + 1, (dict(self.words),)

    def _parts(self, node: int, before: int) -> tuple[Class, Class]:
        within = set(self.hanging(node, before))
        return self._halves({one: self.words[one] for one in within})

    def _halves(self, chosen: Class) -> tuple[Class, Class]:
        others = {node: count - chosen.get(node, 0) for node, count in self.words.items()}
        return chosen, {node: count for node, count in others.items() if count}

    def _divided_at(self, node: int) -> tuple[Class, Class] | None:
        """Two classes that have ``node`` in common and weigh the same: branches go to one or the other, words of the node and of
        leaves at it one by one."""
        half = self.weight // 2
        branches = [other for other in self.beside[node] if self.is_inner(other)]
        behind = self.before.get(node)
        sizes = [self.weight - self.weights[node] if other == behind else self.weights[other] + 1 for other in branches]
        # Bit n: some of the branches weigh n together.
        reached = [1]
        for size in sizes:
            reached.append(reached[-1] | reached[-1] << size)
        loose = [node, *(other for other in self.beside[node] if not self.is_inner(other))]
        most = sum(self.words[one] for one in loose)
        sums = (reached[-1] & ((1 << half + 1) - 1)) >> max(half - most, 0)
        if not sums:
            return None
        left = sums.bit_length() - 1 + max(half - most, 0)
        single = half - left
        chosen: Class = {}
        for at in reversed(range(len(branches))):
            if not reached[at] >> left & 1:
                left -= sizes[at]
                chosen |= {one: self.words[one] for one in self.hanging(branches[at], node)}
        for one in loose:
            taken = min(single, self.words[one])
            single -= taken
            if taken:
                chosen[one] = taken
        return self._halves(chosen)


def flooding_period(net: RouteProblem, words: int) -> int | None:
    """The least period of an all-gather of ``words`` words a node, by the trees of bridges; None if no node has two bridges.

    Every word crosses all bridges. Those of nodes that are joined to a tree of bridges otherwise come into it at one node, each
    in a slot of its own. That they may start there as if it were a leaf makes the period no longer.
    """
    found = bridges_of(net)
    beside: dict[int, list[int]] = {}
    beyond: dict[tuple[int, int], int] = {}
    count = len(found.order)
    for bridge in found.bridges:
        for node, other, nodes in (
            (bridge.near, bridge.far, len(bridge.beyond)),
            (bridge.far, bridge.near, count - len(bridge.beyond)),
        ):
            beside.setdefault(node, []).append(other)
            beyond[node, other] = nodes
    best: int | None = None
    seen = set[int]()
    for begin in beside:
        if begin in seen or len(beside[begin]) < 2:
            continue
        part = [begin]
        seen.add(begin)
        for node in part:
            fresh = [other for other in beside[node] if other not in seen]
            seen.update(fresh)
            part += fresh
        tree = FloodedTree(
            {node: beside[node] for node in part},
            {node: words * (count - sum(beyond[node, other] for other in beside[node])) for node in part},
        )
        period, _ = tree.least_period()
        best = period if best is None else max(best, period)
    return best


def gathered_period(problem: RouteProblem) -> int | None:
    """`flooding_period` of streams that are an all-gather; None if they are none, or words may wait."""
    if problem.buffers or not is_all_gather(problem):
        return None
    nodes = problem.nodes - len(problem.dead_nodes)
    return flooding_period(problem, sum(stream.words for stream in problem.streams) // nodes)
