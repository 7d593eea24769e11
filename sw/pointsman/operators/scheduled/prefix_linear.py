"""A prefix along chains: each node gets the sum of the items before it from its predecessor (str_prefix_linear, our name, after
the thesis's str_bcast_linear).

The nodes are cut into consecutive blocks in the order of the subset, usually rows of a mesh. Within a block a chain of streams
leads from node to node: each combines the incoming sum with its own item and passes it on. The last node of a block has the sum
of the block; it multicasts the sum of all items so far to all nodes of the next block, each of which combines it with its sum
within the block. The accesses of a processor for each word do not grow with the number of nodes, and where items are combined
singly, words follow each other as fast as processors and slots allow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from math import isqrt

from pointsman.network import Topology
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import item_by_item, message_stream, stream_name, taking_part
from pointsman.operators.api.role_script import RoleScript
from pointsman.operators.api.roles import RoleDraft
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.reduction_trees import distances
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

HOP = 6.0
"""Estimated cycles from processor to processor, besides a cycle for each link."""
Blocks = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Shape:
    """Blocks of nodes; ``latency``: cycles until the last node has its first word; ``accesses`` for a word at the busiest
    processor."""

    blocks: Blocks
    latency: float
    accesses: int


class StrPrefixLinear(Implementation):
    """Chains in blocks, and a multicast from each block to the next. ``blocks``: several blocks; otherwise a single chain."""

    name = "str_prefix_linear"
    kinds = ("prefix",)
    traceable = False

    def __init__(self, *, blocks: bool) -> None:
        self.blocks = blocks

    def shape(self, operator: Operator, instance: int, topology: Topology) -> Shape:
        """The blocks into which the nodes that take part in an instance are cut."""
        nodes = operator.instances[instance].nodes
        members = tuple(nodes[k] for k in taking_part(operator, instance))
        return quickest_blocks(members, topology) if self.blocks else measured((members,), topology)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        shapes = [self.shape(operator, i, context.topology) for i in range(len(operator.instances))]
        if self.blocks and all(len(shape.blocks) < 2 for shape in shapes):
            return None  # a single chain: the variant without ``blocks``
        latency = max(shape.latency for shape in shapes)
        if item_by_item(operator):
            return Metric(words_per_cycle=1 / max(shape.accesses for shape in shapes), latency=latency)
        hops = max(len(shape.blocks) + max(map(len, shape.blocks)) - 2 for shape in shapes)
        return Metric(words_per_cycle=1 / (3 * max(1, hops)), latency=latency)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i in range(len(operator.instances)):
            blocks = self.shape(operator, i, context.topology).blocks
            ends: list[tuple[str, int, tuple[int, ...]]] = [
                (f"after{a}", a, (b,)) for block in blocks for a, b in pairwise(block)
            ]
            ends += [(f"from{block[-1]}", block[-1], following) for block, following in pairwise(blocks)]
            streams += [
                # With blocks, slots run out before registers do: a single chain of VFSMs each.
                message_stream(operator, i, context, source, destinations, what, chains=1 if self.blocks else 2)
                for what, source, destinations in ends
            ]
        return streams

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        blocks = self.shape(operator, instance, wiring.routed.topology).blocks
        if len(operator.instances[instance].nodes) == 1:
            return RoleDraft("func", local=True, void=not blocks[0])
        number = next((k for k, block in enumerate(blocks) if node in block), None)
        if number is None:
            return RoleDraft("func", void=True, result=False)

        def registers(what: str, end: str) -> tuple[int, ...]:
            return wiring.registers(stream_name(operator, instance, what), node, end)

        block = blocks[number]
        at = block.index(node)
        last = at == len(block) - 1
        script = RoleScript()
        sofar = "out"
        if at:
            script.move(False, registers(f"after{block[at - 1]}", "deliver"), "t0")
            script.combine("t0", "out", "t1")
            sofar = "t1"
        if not last:
            script.wait()
            script.move(True, registers(f"after{node}", "inject"), sofar)
        if number:
            script.wait()
            script.move(False, registers(f"from{blocks[number - 1][-1]}", "deliver"), "t2")
            script.combine("t2", sofar, "in")
        else:
            script.combine(sofar, "", "in")
        if last and number < len(blocks) - 1:
            script.wait()
            script.move(True, registers(f"from{node}", "inject"), "in")
        return script.role(by_item=item_by_item(operator), result=True, void=False)


@lru_cache(maxsize=256)
def quickest_blocks(members: tuple[int, ...], topology: Topology) -> Shape:
    """The cut of ``members`` into blocks with the least latency, of these: cut where consecutive members are not neighbours, or
    into blocks of equal length (but the last), for lengths around the square root of the number of members."""
    ways = distances(members, topology)
    apart = [k for k in range(1, len(members)) if ways(members[k - 1], members[k]) > 1]
    cuts = [tuple(apart)]
    root = isqrt(len(members))
    for size in {max(2, root - 1), max(2, root), root + 1, root + 2}:
        cuts.append(tuple(range(size, len(members), size)))
    found = [measured(_cut(members, cut), topology) for cut in dict.fromkeys(cuts) if cut]
    return min(found, key=lambda shape: shape.latency, default=measured((members,), topology))


def _cut(members: tuple[int, ...], places: tuple[int, ...]) -> Blocks:
    return tuple(members[a:b] for a, b in pairwise((0, *places, len(members))))


def measured(blocks: Blocks, topology: Topology) -> Shape:
    """Estimated latency (cycles) and accesses (for a word, of the busiest processor) of these blocks."""
    ways = distances(tuple(node for block in blocks for node in block), topology)
    latency = there = 0.0
    before: int | None = None
    accesses = 1
    for number, block in enumerate(blocks):
        chain = list(accumulate((HOP + ways(a, b) for a, b in pairwise(block)), initial=0.0))
        further = number < len(blocks) - 1
        for at, node in enumerate(block):
            own = chain[at]
            if before is not None:
                own = max(own, there + HOP + ways(before, node))
            latency = max(latency, own)
            last = at == len(block) - 1
            accesses = max(accesses, (at > 0) + (not last) + (before is not None) + (last and further))
        if block:
            there = max(chain[-1], there + HOP + ways(before, block[-1])) if before is not None else chain[-1]
            before = block[-1]
    return Shape(blocks, latency + 4, accesses)


PREFIXES_LINEAR: tuple[Implementation, ...] = (StrPrefixLinear(blocks=True), StrPrefixLinear(blocks=False))
