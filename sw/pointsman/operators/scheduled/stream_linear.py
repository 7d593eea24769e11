"""A stream whose ends are chosen at run time, on a snake through all nodes (Metcalf 1997, B.1: "as for bcast_linear, but the
data is discarded on nodes except for the desired destination").

A multicast goes up the snake, another goes down. The source injects into the multicast that leads to the destination; all other
routers drop the copies that they fork off for their processors. So words pass every node at the pace of the schedule, faster
than through registers (`hop_by_hop`).

If the phase is left, with an end at which nodes wait for each other, between any two uses of the operator, no word of the old
values is on its way when a node enters again, and its router has been rewritten by then: so there is a variant whose load
functions do not meet (`Loading.LEFT_BETWEEN_USES`).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from numesh.codes import MoveType
from pointsman.artifacts.images.images import LaneImage
from pointsman.operators.api.implementation import Context, Metric
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import (
    is_constant,
    is_partial,
    message_stream,
    operand,
    runtime_values,
    stream_name,
)
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.operators.trees.multicast_trees import snake
from pointsman.program.program import Operator
from pointsman.routing.streams import Condition, RoutedChain, Stream, largest_gap

from .synchronised import Synchronised, shifted

RATE = {Loading.SYNCHRONISED: 0.4, Loading.LEFT_BETWEEN_USES: 0.45}
"""Estimated words per cycle, for load functions that meet and that do not. If words only go up (or down) the snake, the stream
has two chains and gets more, but for short messages the barrier costs as much."""


class StrStreamLinear(Synchronised):
    """Multicasts up and down a snake, whose words are dropped everywhere but at the destination (str_stream_runtime)."""

    name = "str_stream_runtime"
    kinds = ("stream",)

    def __init__(self, *, left_between_uses: bool) -> None:
        self.loading = Loading.LEFT_BETWEEN_USES if left_between_uses else Loading.SYNCHRONISED
        self._meets = not left_between_uses

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        if is_constant(operator, "source") and is_constant(operator, "destination"):
            return None
        if is_partial(operator, "source") or is_partial(operator, "destination"):
            return None
        if any(snake(instance.nodes, context.topology) is None for instance in operator.instances):
            return None
        length = max(len(instance.nodes) for instance in operator.instances)
        return Metric(words_per_cycle=RATE[self.loading], latency=2.0 * length, reload_words=8)

    def ways(self, operator: Operator, instance: int, path: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """Nodes of the multicasts "up" and "down", each from its first possible source to its last possible destination."""
        nodes = operator.instances[instance].nodes
        pairs = [
            (path.index(nodes[operand(operator, instance, "source", v)]), self._end(operator, instance, path, v))
            for v in runtime_values(operator)
        ]
        up = [(source, end) for source, end in pairs if source < end]
        down = [(source, end) for source, end in pairs if source > end]
        found = {}
        if up:
            found["up"] = path[min(s for s, _ in up) : max(d for _, d in up) + 1]
        if down:
            found["down"] = path[min(d for _, d in down) : max(s for s, _ in down) + 1][::-1]
        return found

    @staticmethod
    def _end(operator: Operator, instance: int, path: tuple[int, ...], values: tuple[int, ...]) -> int:
        return path.index(operator.instances[instance].nodes[operand(operator, instance, "destination", values)])

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        streams = []
        for i, instance in enumerate(operator.instances):
            path = snake(instance.nodes, context.topology)
            assert path is not None
            sources = {instance.nodes[operand(operator, i, "source", v)] for v in runtime_values(operator)}
            ends = {path[self._end(operator, i, path, v)] for v in runtime_values(operator)}
            choice = stream_name(operator, i, "source")
            ways = self.ways(operator, i, path)
            for what, way in ways.items():
                anywhere = len(sources & set(way[:-1])) > 1
                streams.append(
                    message_stream(
                        operator,
                        i,
                        context,
                        way[0],
                        tuple(node for node in way[1:] if node in ends),
                        what,
                        chains=1 if len(ways) > 1 else 2,
                        keep_in=frozenset(path),
                        path=way,
                        injects_anywhere=anywhere,
                        inject_condition=Condition(choice, True) if anywhere else None,
                        deliver_condition=Condition(choice, False) if anywhere else None,
                        rewritten=True,
                    )
                )
        return [*streams, *self.meeting_streams(operator, context)] if self._meets else streams

    def drain(self, operator: Operator, wiring: Wiring) -> int:
        """Cycles of a word along the whole multicast: words dropped behind the destination wait for no processor. Where load
        functions do not meet, a node may enter late, with words waiting in all routers before it; these then move on by a
        router in each gap between the chain's slots."""
        routed = wiring.routed
        own = {wiring.index[name] for name in wiring.index if name.startswith(f"{operator.label}[")}
        longest = 0
        for chain in routed.chains:
            if chain.stream in own and ".meet-" not in routed.streams[chain.stream].name:
                gap = largest_gap(chain.vfsms[0].slots, routed.period)
                waiting = 1 if self._meets else sum(vfsm.type != MoveType.FORK for vfsm in chain.vfsms) - 2
                longest = max(longest, way_cycles(chain, routed.period) + max(1, min(waiting, operator.m)) * gap + 4)
        return longest

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        """The VFSMs by which the multicasts enter the node, and their deliveries."""
        entering: list[VfsmSetting] = []
        deliveries: list[VfsmSetting] = []
        for name in wiring.names_at(node):
            if not name.startswith(f"{operator.label}[") or ".meet-" in name:
                continue
            here = wiring.settings(name, node)
            if wiring.has(name, node, "inject"):
                # Of each chain, its first VFSM here.
                entering += {one.chain: one for one in reversed(here)}.values()
            deliveries += [s for s in here if s.vfsm.destination.kind == "deliver"]
        return (*deliveries, *entering)

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        source, destination, used = self._way(operator, wiring, instance, values)
        standing = []
        for setting in self.gen_router(operator, wiring, node):
            here = setting.stream == used
            if setting.vfsm.destination.kind == "deliver":
                if here and node == source:
                    standing.append(setting.off())  # at the source no words come in that could be forked
                else:
                    standing.append(setting if here and node == destination else setting.discard())
            elif here and node == source:
                standing.append(setting.read_interface())
            else:
                # The head of a multicast reads the interface as routed; only the source may.
                standing.append(setting.idle() if setting.vfsm.source.kind == "inject" else setting)
        return tuple(standing)

    def decides(
        self, operator: Operator, wiring: Wiring, instance: int, values: tuple[int, ...]
    ) -> tuple[Hashable, Mapping[int, Hashable]]:
        source, destination, used = self._way(operator, wiring, instance, values)
        return used, {destination: "destination", source: "source" if used is not None else "both"}

    def _way(
        self, operator: Operator, wiring: Wiring, instance: int, values: tuple[int, ...]
    ) -> tuple[int, int, int | None]:
        """Source, destination, and index of the stream that carries the words (None if source and destination are the same)."""
        nodes = operator.instances[instance].nodes
        path = snake(nodes, wiring.routed.topology)
        assert path is not None
        source = nodes[operand(operator, instance, "source", values)]
        destination = nodes[operand(operator, instance, "destination", values)]
        if source == destination:
            return source, destination, None
        what = "up" if path.index(source) < path.index(destination) else "down"
        return source, destination, wiring.index[stream_name(operator, instance, what)]

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        meeting = self.meeting_lanes(operator, wiring, instance, node) if self._meets else ()
        source, destination, used = self._way(operator, wiring, instance, values)
        if used is None or node not in (source, destination):
            return RoleDraft("both" if node == source else "none", meeting, local=node == source)
        writes = node == source
        registers = wiring.registers(wiring.routed.streams[used].name, node, "inject" if writes else "deliver")
        lane = LaneImage(True, registers) if writes else LaneImage(False, registers, data="in")
        return RoleDraft("write" if writes else "read", (*meeting, *shifted([lane], len(meeting))))


def way_cycles(chain: RoutedChain, period: int) -> int:
    """Most cycles of an unhindered word from the source to the farthest VFSM of the chain."""
    return max(cycles_to(chain, period))


def cycles_to(chain: RoutedChain, period: int) -> list[int]:
    """For each VFSM of the chain, the most cycles of an unhindered word from the first VFSM to it."""
    elapsed: list[int] = []
    for vfsm in chain.vfsms:
        before = chain.vfsms[vfsm.parent].slots
        steps = ((here - there) % period for here, there in zip(vfsm.slots, before, strict=True))
        elapsed.append(0 if vfsm.parent < 0 else elapsed[vfsm.parent] + max(steps))
    return elapsed
