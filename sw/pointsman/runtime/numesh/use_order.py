"""Do nodes use operators that share streams in the same order?

Words of such operators follow each other through the same registers (`pointsman.plan.sharing`), so a node that uses two of them
the other way round would take words of the one for words of the other. A program in which both stand in a sequence says in which
order they are used; an application that does otherwise at some node is told so when it does. The nodes of a simulation are
compared with each other: each use with what the first node used that came so far. Takes uses; leaves alone: words.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakKeyDictionary

from pointsman.artifacts.images.images import Images
from pointsman.runtime.api.substrate import CycleClock

What = Literal["write", "read", "func"]


@dataclass
class UseOrder:
    """The orders in which the nodes of a run use operators that share streams."""

    nodes: set[int] = field(default_factory=set)
    orders: defaultdict[tuple[int, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    """By set of operators (the first of them) and instance, the operators in the order of their uses, each once as long as no
    other comes in between."""
    places: dict[tuple[int, int, int, What], int] = field(default_factory=dict)
    """By set, instance, node and what it does, the place in ``orders`` of its last use."""

    instances: dict[tuple[int, int], int | None] = field(default_factory=dict)
    """By operator and node, the instance that the node is in; None if it is in several, of which it may take any first."""

    def differs(self, images: Images, operator: int, node: int, what: What) -> int | None:
        """Note that a node uses an operator; the operator that another node has used in this place, if that is another one."""
        instance = self._instance(images, operator, node)
        if instance is None:
            return None
        shared = images.shares.get(operator, operator), instance
        order, key = self.orders[shared], (*shared, node, what)
        place = self.places.get(key, -1)
        if place >= 0 and order[place] == operator:
            return None
        self.places[key] = place = place + 1
        if place == len(order):
            order.append(operator)
        return order[place] if order[place] != operator else None

    def _instance(self, images: Images, operator: int, node: int) -> int | None:
        key = operator, node
        if key not in self.instances:
            program = images.operators[operator].program
            inside = [] if program is None else [i for i, one in enumerate(program.instances) if node in one.nodes]
            self.instances[key] = inside[0] if len(inside) == 1 else None
        return self.instances[key]


_of_clock: WeakKeyDictionary[CycleClock, UseOrder] = WeakKeyDictionary()


def use_order(clock: CycleClock, node: int) -> UseOrder:
    """What the nodes of a run have in common, which ``node`` joins; a node that is there already begins another run."""
    found = _of_clock.get(clock)
    if found is None or node in found.nodes:
        found = _of_clock[clock] = UseOrder()
    found.nodes.add(node)
    return found
