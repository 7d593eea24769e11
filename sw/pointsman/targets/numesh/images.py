"""Plan -> Images: operators, phases, nodes, and what the words of each register are promised."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pointsman.artifacts.images.images import Images, OnlineOperator, OperatorImage, PhaseImage, Promise, ReplacedImage
from pointsman.garbage import seldom_collected
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import function_name, runtime_operands
from pointsman.operators.messages.online import Online, for_image
from pointsman.plan.membership.passages import passages
from pointsman.plan.plan import Plan
from pointsman.protocol.costs import load_cycles

from .nodes import Nodes
from .promises import COMMAND, Follower

LOAD_OVERHEAD = 8
"""Cycles from the last command word to its effect, and for registers that make each other wait."""


@seldom_collected
def make_images(plan: Plan) -> Images:
    """Give every part of a plan its place in the hardware.

    Raises
    ------
    FitError
        If a node runs out of VFSMs, interface registers or schedule memory.
    """
    return _Images(plan).images()


class _Images(Nodes):
    """Those of a whole plan."""

    def images(self) -> Images:
        plan = self.plan
        return Images(
            plan.shape,
            plan.topology,
            plan.period,
            plan.name,
            plan.parameters,
            tuple(label for label in plan.structure.loops if "/" not in label),
            tuple(self._operator(i) for i in range(len(self.operators))),
            tuple(self._phase(i) for i in range(len(plan.phases))),
            tuple(self._node(n) for n in range(self.nodes)),
            tuple(promise for i in range(len(self.operators)) for promise in self._promises(i)),
            passages(plan),
            plan.notes,
            self._replaced(),
        )

    def _operator(self, index: int) -> OperatorImage:
        phase, planned = self.operators[index]
        online = None
        bandwidth = 0.0
        if isinstance(planned.implementation, Online):
            online = OnlineOperator(for_image(planned.operator), self.queues[index])
            part = self.phases[phase].part
            if part is not None:
                bandwidth = part.bandwidth(planned.operator.label, self.phases[phase].routed)
        operator = planned.operator
        routed = self.phases[phase].routed
        loading = planned.implementation.loading
        continues = self._continues(phase)
        return OperatorImage(
            operator.label,
            operator.kind,
            planned.implementation.name,
            continues[0] if continues else phase,
            str(operator.type),
            operator.m,
            runtime_operands(operator) if operator.instances else (),
            planned.values,
            min((routed.bandwidth(s) for s in planned.streams), default=bandwidth),
            str(operator.position) if operator.position else "",
            function_name(operator),
            planned.stages,
            synchronised=loading.synchronised,
            gated=loading is Loading.GATED,
            instances=tuple(i.nodes for i in operator.instances) if loading is Loading.RESCHEDULED else (),
            remote=loading is Loading.REMOTE,
            online=online,
            continues=continues,
        )

    def _phase(self, index: int) -> PhaseImage:
        phase = self.plan.phases[index]
        return PhaseImage(
            phase.name,
            self.blocks[index],
            tuple(i for i, (p, _) in enumerate(self.operators) if p == index or p in self.beside[index]),
            phase.technique,
            phase.reason,
            tuple(sorted(s for s in self.plan.structure.successors[index] if s >= 0)),
            self.barriers.get(index),
            next((self.carriers[p] for p in (index, *self.beside[index]) if p in self.carriers), None),
            self._load_cycles(index),
            self.second_blocks.get(index, 0),
            self._last(index),
            self._order(index),
        )

    def _last(self, index: int) -> tuple[int, ...]:
        """Operators of a phase after which a node may leave it."""
        last = self.plan.structure.last
        own = {id(one) for one in self.plan.phases[index].operators}
        return tuple(
            number
            for number, (_, one) in enumerate(self.operators)
            if id(one) in own and (not last or one.operator.label in last[index])
        )

    def _order(self, index: int) -> tuple[tuple[int, int], ...]:
        """Operators of a phase that tell who has come to it, each with those that are always used after it."""
        before = self.plan.structure.before[index] if self.plan.structure.before else {}
        number = {one.operator.label: i for i, (p, one) in enumerate(self.operators) if p == index}
        telling = {one.operator.label for one in self.plan.phases[index].operators if one.message_bound}
        return tuple(sorted((number[one], number[other]) for other, known in before.items() for one in known & telling))

    def _load_cycles(self, index: int) -> int:
        """Cycles that the node with most to load needs for all of it."""
        phase = self.plan.phases[index]
        words: dict[tuple[int, int], int] = defaultdict(int)
        for one in (index, *self.beside[index]):
            for chain in self.phases[one].routed.chains:
                for vfsm in chain.vfsms:
                    words[vfsm.node, self._place(one, vfsm)[0]] += self.codes.command_words
        slowest = 0
        for node in self.members[index]:
            own = [words[node, p] for p in range(self.plan.shape.pipelines)]
            own[0] += self.plan.period * len(phase.routed.schedules) * self.codes.command_words
            slowest = max(slowest, load_cycles(own))
        return slowest + LOAD_OVERHEAD

    def _promises(self, index: int) -> Iterable[Promise]:
        """What each register that the processor writes is promised in each state of an operator."""
        phase_index, planned = self.operators[index]
        carried: dict[tuple, list[int]] = {}
        follower = Follower(self.phases[phase_index], planned)
        continues = self._continues(phase_index)
        for state in range(len(planned.values) * planned.stages):
            for way in follower.ways(state):
                carried.setdefault(way, []).append(state)
        for way, states in carried.items():
            name, source, register, destinations, words, held = way
            yield Promise(
                index,
                continues[0] if continues else phase_index,
                name,
                tuple(states),
                source,
                self._register(phase_index, source, register),
                tuple(
                    (node, self._register(phase_index, node, r) if r >= 0 else COMMAND - r) for node, r in destinations
                ),
                words,
                held,
            )

    def _replaced(self) -> tuple[ReplacedImage, ...]:
        number: dict[str, int] = {}
        for i, (_, planned) in enumerate(self.operators):
            number.setdefault(planned.operator.label, i)
        return tuple(
            ReplacedImage(
                for_image(one.operator),
                one.implementation,
                tuple(number[label] for label in one.parts),
                str(one.operator.position or ""),
            )
            for one in self.plan.replaced
        )
