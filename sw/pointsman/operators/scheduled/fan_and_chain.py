"""Messages to or from several nodes in turn: spread, gather, seqread, seqwrite (Metcalf 1997, A.1, B.1 and §1.2.3).

In the router: streams lie from link to link of a chain of nodes. In a gather each node sends its own message down the
chain and then has its router take what comes from the node behind it, so that the messages arrive in order; in a spread
each takes the first message that comes and then has its router pass the rest on. What changes is where the stream that
leaves the node takes its words: from the register of its processor, or from that in which the chain arrives.

Across the network: a stream for each node, and the single end serves them in turn.
"""

from __future__ import annotations

from itertools import pairwise

from pointsman.artifacts.images.images import LaneImage
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.operands import is_constant, message_stream, operand, stream_name, taking_part
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

from .synchronised import Synchronised, shifted

READS = ("gather", "seqread")
WRITES = ("spread", "seqwrite")
MOST_STAGES = 64
"""Longest chain: every stage of every node is proven."""


def ends(operator: Operator, instance: int) -> tuple[int, list[int]]:
    """The node at the single end, and the others in the order of their messages."""
    nodes = operator.instances[instance].nodes
    one = nodes[operand(operator, instance, "destination" if operator.kind in READS else "source", ())]
    if operator.kind in ("gather", "spread"):
        others = [nodes[k] for k in taking_part(operator, instance) if nodes[k] != one]
    else:
        chain = operator.instances[instance].operand("sources" if operator.kind == "seqread" else "destinations")
        assert isinstance(chain, tuple)
        members = taking_part(operator, instance)
        others = [nodes[k] for k in chain if k in members]
    return one, others


def constant(operator: Operator) -> bool:
    """Is the single end known?"""
    return is_constant(operator, "destination" if operator.kind in READS else "source")


class StrChain(Synchronised):
    """One message each for or from a chain of nodes, joined in the router as they finish: from the last source to the one before,
    and so on to the destination (str_seqread), or from the source to the first destination, and so on to the last (str_seqwrite).

    Gathers and spreads go the same way (§1.2.3); the thesis names no implementations of these (str_gather_chain,
    str_spread_chain).
    """

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kinds = (kind,)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not constant(operator):
            return None
        longest = max(len(ends(operator, i)[1]) for i in range(len(operator.instances)))
        if longest > MOST_STAGES:
            return None
        return Metric(words_per_cycle=0.21 / max(1, longest), latency=4.0 * longest, reload_words=8)

    def stages(self, operator: Operator) -> int:
        return 1 + max(len(ends(operator, i)[1]) for i in range(len(operator.instances)))

    def links(self, operator: Operator, instance: int) -> list[tuple[int, int]]:
        """(from, to) of each stream of the chain."""
        one, others = ends(operator, instance)
        way = [one, *others]
        pairs = list(pairwise(way))
        return [(b, a) for a, b in pairs] if operator.kind in READS else pairs

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            message_stream(operator, i, context, a, (b,), f"{a}-{b}", rewritten=True)
            for i in range(len(operator.instances))
            for a, b in self.links(operator, i)
        ] + self.meeting_streams(operator, context)

    def _neighbours(
        self, operator: Operator, wiring: Wiring, instance: int, node: int
    ) -> tuple[str | None, str | None]:
        """Names of the streams that come in and go out."""
        come = go = None
        for a, b in self.links(operator, instance):
            name = stream_name(operator, instance, f"{a}-{b}")
            if b == node:
                come = name
            if a == node:
                go = name
        return come, go

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        """Where the stream that goes out begins, if one comes in as well."""
        instance = next(i for i, one in enumerate(operator.instances) if node in one.nodes)
        come, go = self._neighbours(operator, wiring, instance, node)
        if come is None or go is None:
            return ()
        return tuple(s for s in wiring.settings(go, node) if s.vfsm.source.kind == "inject")

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        meeting = self.meeting_lanes(operator, wiring, instance, node)
        one, others = ends(operator, instance)
        come, go = self._neighbours(operator, wiring, instance, node)
        reads = operator.kind in READS
        void = operator.instances[instance].nodes.index(node) not in taking_part(operator, instance)
        if node not in (one, *others):
            named = operator.kind in ("gather", "spread")
            return RoleDraft(("write" if reads else "read") if named else "none", meeting, void=void)
        at = len(others) if node == one else others.index(node)
        later = None
        if come is not None and go is not None:
            waiting = wiring.registers(come, node, "deliver")[0]
            later = tuple(setting.read_register(waiting) for setting in self.gen_router(operator, wiring, node))
        if node == one:
            name = come if reads else go
            turns = max(1, len(others))
            lanes = [] if name is None else [_lane(wiring, name, node, reads, turn) for turn in range(turns)]
            return RoleDraft(
                "read" if reads else "write", (*meeting, *shifted(lanes, len(meeting))), turns=turns, stage=at
            )
        name = go if reads else come
        assert name is not None
        lanes = [_lane(wiring, name, node, not reads)]
        return RoleDraft("write" if reads else "read", (*meeting, *lanes), later=later, stage=at)


def _lane(wiring: Wiring, name: str, node: int, reads: bool, turn: int = 0) -> LaneImage:
    return wiring.read_lane(name, node, turn=turn) if reads else wiring.write_lane(name, node, turn=turn)


class StrFan(Implementation):
    """A stream between the single end and each other node, served in turn."""

    traceable = False

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kinds = (kind,)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if not constant(operator):
            return None
        most = max(len(ends(operator, i)[1]) for i in range(len(operator.instances)))
        if most + context.shape.pipelines > context.shape.registers:
            return None
        far = max(len(i.nodes) for i in operator.instances) ** 0.5
        return Metric(words_per_cycle=0.45 / max(1, most), latency=4.0 * far)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i in range(len(operator.instances)):
            one, others = ends(operator, i)
            for other in others:
                a, b = (other, one) if operator.kind in READS else (one, other)
                streams.append(message_stream(operator, i, context, a, (b,), f"{a}-{b}"))
        return streams

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        one, others = ends(operator, instance)
        reads = operator.kind in READS
        void = operator.instances[instance].nodes.index(node) not in taking_part(operator, instance)
        if node == one:
            lanes = []
            for turn, other in enumerate(others):
                name = stream_name(operator, instance, f"{other}-{one}" if reads else f"{one}-{other}")
                lanes.append(_lane(wiring, name, node, reads, turn))
            return RoleDraft("read" if reads else "write", tuple(lanes), turns=max(1, len(others)), void=void)
        if node not in others:
            named = operator.kind in ("gather", "spread")
            return RoleDraft(("write" if reads else "read") if named else "none", void=void)
        name = stream_name(operator, instance, f"{node}-{one}" if reads else f"{one}-{node}")
        return RoleDraft("write" if reads else "read", (_lane(wiring, name, node, not reads),), void=void)


CHAINS: tuple[Implementation, ...] = (
    StrChain("str_seqread", "seqread"),
    StrChain("str_seqwrite", "seqwrite"),
    StrChain("str_gather_chain", "gather"),
    StrChain("str_spread_chain", "spread"),
    StrFan("str_gather", "gather"),
    StrFan("str_spread", "spread"),
    StrFan("str_seqread_fan", "seqread"),
    StrFan("str_seqwrite_fan", "seqwrite"),
)
