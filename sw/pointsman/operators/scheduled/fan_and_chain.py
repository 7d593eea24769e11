"""Messages to or from several nodes in turn: spread, gather, seqread, seqwrite (Metcalf 1997, A.1, B.1 and §1.2.3).

`StrChain`, in the routers: a stream between each two neighbours of a chain of nodes. In a gather each node first sends its own
message and then lets its router forward the messages of the nodes behind it, so messages arrive in order; in a spread each node
reads the first message that comes and then lets its router forward the rest. To switch, the VFSM that begins the outgoing stream
is rewritten: it reads first its processor's register, then the register in which the incoming stream ends.

`StrFan`, across the network: a stream for each node; the source or destination serves them in turn.
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
"""Nodes of the longest chain, as the judge proves every stage of every node."""


def ends(operator: Operator, instance: int) -> tuple[int, list[int]]:
    """The single source or destination, and the other nodes in the order of their messages."""
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
    """Is the single source or destination known at compile time?"""
    return is_constant(operator, "destination" if operator.kind in READS else "source")


class StrChain(Synchronised):
    """A message for or from each node of a chain, whose streams routers join when the node has done its part: from the last
    source through all others to the destination (str_seqread), or from the source through all destinations (str_seqwrite).

    Gathers and spreads use the same chain (§1.2.3; str_gather_chain and str_spread_chain are our names).
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

    def messages(self, operator: Operator) -> int:
        return max(1, self.stages(operator) - 1)

    def links(self, operator: Operator, instance: int) -> list[tuple[int, int]]:
        """(from, to) of each stream of the chain."""
        one, others = ends(operator, instance)
        way = [one, *others]
        pairs = list(pairwise(way))
        return [(b, a) for a, b in pairs] if operator.kind in READS else pairs

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return [
            message_stream(operator, i, context, a, (b,), f"{a}-{b}", self.messages(operator), rewritten=True)
            for i in range(len(operator.instances))
            for a, b in self.links(operator, i)
        ] + self.meeting_streams(operator, context)

    def _neighbours(
        self, operator: Operator, wiring: Wiring, instance: int, node: int
    ) -> tuple[str | None, str | None]:
        """Names of the chain's streams into and out of ``node``; None where the chain begins or ends."""
        come = go = None
        for a, b in self.links(operator, instance):
            name = stream_name(operator, instance, f"{a}-{b}")
            if b == node:
                come = name
            if a == node:
                go = name
        return come, go

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        """The VFSM that begins the stream out of ``node``, if a stream also comes in."""
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
    """A stream between the single source or destination and each other node; it serves them in turn."""

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
                streams.append(message_stream(operator, i, context, a, (b,), f"{a}-{b}", message=operator.m))
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
