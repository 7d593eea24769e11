"""The barrier in the router (Metcalf 1997, B.1: str_barrier)."""

from __future__ import annotations

from pointsman.artifacts.images.images import LaneImage
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import stream_name
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.multicast_trees import snake
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream

TURNS = ("even", "odd")


class StrBarrier(Implementation):
    """A word goes along a snake through the routers of all nodes and returns to all of them, without passing through a processor
    (str_barrier).

    Each router has a gate on the snake: a VFSM that reads nothing while shut. A node opens its gate when it enters the barrier,
    so the word reaches the end when all nodes have entered; there the router feeds it into a multicast for which every processor
    waits. Then the node shuts its gate again. It may be late, when the first node has already sent the next word: so there are
    two snakes, used in turn, and a word cannot pass a gate twice before the gate's node has been through the other snake.

    The thesis has a tree on which a child's word is a command that lets the next child send; here each node opens its own gate,
    and a word at some place on the snake tells that all nodes before it have entered.
    """

    name = "str_barrier"
    kinds = ("barrier",)
    processor_bound = True
    traceable = False
    loading = Loading.GATED

    def stages(self, operator: Operator) -> int:
        """Three stages: all gates shut, the first snake's gates open, the second snake's gates open."""
        return 1 + len(TURNS)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if any(snake(instance.nodes, context.topology) is None for instance in operator.instances):
            return None
        across = max(context.topology.across(instance.nodes) for instance in operator.instances)
        return Metric(words_per_cycle=0.1, latency=24.0 + max(len(i.nodes) for i in operator.instances) + across)

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            path = snake(instance.nodes, context.topology)
            assert path is not None
            if len(path) == 1:
                continue
            inside = frozenset(path)
            down = stream_name(operator, i, "down")
            streams += [
                Stream(
                    stream_name(operator, i, turn),
                    path[0],
                    (path[-1],),
                    max_words=1,
                    group=f"{operator.label} {turn}",
                    keep_in=inside,
                    path=path,
                    rewritten=True,
                    into=down,
                )
                for turn in TURNS
            ]
            streams.append(Stream(down, path[-1], path, max_words=1, group=f"{operator.label} down", keep_in=inside))
        return streams

    def gates(self, operator: Operator, wiring: Wiring, instance: int, node: int, turn: str) -> tuple[VfsmSetting, ...]:
        """The VFSMs of snake ``turn`` at ``node`` as they are when its gate is open; none at the head, whose processor sends
        the word."""
        here = wiring.settings(stream_name(operator, instance, turn), node)
        return () if any(s.vfsm.source.kind == "inject" for s in here) else here

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        nodes = operator.instances[instance].nodes
        if len(nodes) == 1:
            return RoleDraft("func", local=True, each=(RoleDraft("func", local=True),) * self.stages(operator))
        gates = {turn: self.gates(operator, wiring, instance, node, turn) for turn in TURNS}
        down = wiring.registers(stream_name(operator, instance, "down"), node, "deliver")
        arrival = LaneImage(False, down, words=1, data="token")
        path = snake(nodes, wiring.routed.topology)
        assert path is not None
        drafts = []
        for open_turn in (None, *TURNS):
            settings = tuple(
                gate if turn == open_turn else gate.idle() if gate.vfsm.source.kind == "link" else gate.off()
                for turn, own in gates.items()
                for gate in own
            )
            lanes: tuple[LaneImage, ...] = ()
            if open_turn is not None:
                lanes = (arrival,)
                if node == path[0]:
                    out = wiring.registers(stream_name(operator, instance, open_turn), node, "inject")
                    lanes = (LaneImage(True, out, words=1, data="token"), LaneImage(False, down, words=1, data="token"))
            drafts.append(RoleDraft("func", lanes, settings))
        return RoleDraft("func", each=tuple(drafts))
