"""A stream whose destination only its source knows; the source reprograms the other nodes' routers (Metcalf 1997, §4.1.1 "Dynamic
Destination Selection", B.1 str_stream_dyn).

A multicast leads to all possible destinations; at each, a VFSM either delivers its words or drops them. From the source a slow
stream leads to each possible destination and ends in the command register of its router. A load function at the source sends
each of these VFSMs its new annotation; the destinations' processors have no part in it.

Commands must not overtake words of the message before, nor the next message's words overtake commands. So the destination tells
the source when it has read a message; then the source waits until other routers have dropped their copies, sends the commands,
and waits until these have taken effect. All nodes meet when they enter the phase, so that no command comes before its node.
"""

from __future__ import annotations

from numesh.codes import ANNOTATION_LATENCY, SHORTEST_RELAY, Codes
from pointsman.artifacts.images.images import LaneImage
from pointsman.operators.api.implementation import Context, Implementation, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import is_constant, keep_in, message_stream, operand, stream_name
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator, Runtime
from pointsman.routing.streams import Stream

from .stream import source_and_destinations
from .synchronised import Synchronised

OTHER_REGISTERS = 5
"""Estimated interface registers of the source for the data and the barrier."""


class StrStreamDyn(Synchronised):
    """A multicast; the source tells each router to deliver or to drop its words (str_stream_dyn). Taken only if ``:impl`` names
    it, as its write function returns only when the message has been read."""

    name = "str_stream_dyn"
    kinds = ("stream",)
    loading = Loading.REMOTE
    alone = True

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        destination = operator.instances[0].operand("destination")
        if operator.impl != self.name or not is_constant(operator, "source") or not isinstance(destination, Runtime):
            return None
        most = max(len(source_and_destinations(operator, i)[1]) for i in range(len(operator.instances)))
        # A command and an answer for each destination; answers finally share a register, but are routed with a register each.
        if 2 * most + OTHER_REGISTERS + context.shape.pipelines > context.shape.registers:
            return None
        if Codes(context.shape).command_words > 1:
            return None  # a node's own commands could come between the words of a command from the source
        return Metric(words_per_cycle=0.2, latency=30.0, reload_words=8 * max(1, most))

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            source, others = source_and_destinations(operator, i)
            inside = keep_in(instance, context)
            if not others:
                continue
            streams.append(message_stream(operator, i, context, source, others, rewritten=True))
            for what, ends in (("tell", [(source, d) for d in others]), ("read", [(d, source) for d in others])):
                streams += [
                    Stream(
                        stream_name(operator, i, f"{what}{a if what == 'read' else b}"),
                        a,
                        (b,),
                        max_words=1,
                        # Load functions set the VFSM that brings the commands; it may be in another pipeline than the delivery.
                        rewritten=what == "tell",
                        group=f"{operator.label} {what}",
                        keep_in=inside,
                        into=stream_name(operator, i, f"read{others[0]}")
                        if what == "read" and a != others[0]
                        else None,
                    )
                    for a, b in ends
                ]
        return [*streams, *self.meeting_streams(operator, context)]

    def drain(self, operator: Operator, wiring: Wiring) -> int:
        """Cycles for dropped words to leave and for commands to take effect: at most a period at each VFSM of the path and at
        VFSM 1, which finds a command `SHORTEST_RELAY` slots after it has come."""
        routed = wiring.routed
        longest = 0
        for chain in routed.chains:
            name = routed.streams[chain.stream].name
            if name.startswith(f"{operator.label}[") and ".read" not in name:
                depth: list[int] = []
                for vfsm in chain.vfsms:
                    depth.append(1 if vfsm.parent < 0 else depth[vfsm.parent] + 1)
                longest = max(longest, *depth)
        return (longest + 1) * (routed.period + 2) + SHORTEST_RELAY + ANNOTATION_LATENCY

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        """The VFSM that delivers the multicast's words at ``node``, and the VFSM that brings its commands."""
        instance = next(i for i, one in enumerate(operator.instances) if node in one.nodes)
        if node not in source_and_destinations(operator, instance)[1]:
            return ()
        (delivery,) = self._delivery(wiring, stream_name(operator, instance), node)
        (bringing,) = self._delivery(wiring, stream_name(operator, instance, f"tell{node}"), node)
        return delivery, bringing.command(delivery.vfsm.pipeline)

    @staticmethod
    def _delivery(wiring: Wiring, name: str, node: int) -> tuple[VfsmSetting, ...]:
        return tuple(s for s in wiring.settings(name, node) if s.vfsm.destination.kind == "deliver")

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        settings = self.gen_router(operator, wiring, node)
        if not settings or node == operator.instances[instance].nodes[values[0]]:
            return settings
        return settings[0].discard(), *settings[1:]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        meeting = self.meeting_lanes(operator, wiring, instance, node)
        source, others = source_and_destinations(operator, instance)
        destination = operator.instances[instance].nodes[operand(operator, instance, "destination", values)]
        name = stream_name(operator, instance)
        answers = stream_name(operator, instance, f"read{node if node != source else (*others, source)[0]}")
        if node != source:
            if node != destination:
                return RoleDraft("none", meeting)
            come, told = wiring.registers(name, node, "deliver"), wiring.registers(answers, node, "inject")
            return RoleDraft(
                "read",
                (*meeting, LaneImage(False, come, data="in"), LaneImage(True, told, words=1, data="token", step=1)),
            )
        commands = tuple(
            (
                wiring.registers(stream_name(operator, instance, f"tell{other}"), node, "inject")[0],
                self.gen_load(operator, wiring, instance, other, values)[0],
            )
            for other in others
        )
        if destination == source:
            return RoleDraft("both", meeting, local=True, commands=commands)
        out, told = wiring.registers(name, node, "inject"), wiring.registers(answers, node, "deliver")
        return RoleDraft(
            "write",
            (*meeting, LaneImage(True, out), LaneImage(False, told, words=1, data="token", step=1)),
            commands=commands,
        )


DYNAMIC: tuple[Implementation, ...] = (StrStreamDyn(),)
