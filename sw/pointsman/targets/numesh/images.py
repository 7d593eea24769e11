"""Plan -> Images: operators, phases, nodes, and promises: destinations and rate of the words of each register."""

from __future__ import annotations

from collections.abc import Iterable

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images, OperatorImage, PhaseImage, Promise, ReplacedImage
from pointsman.garbage import seldom_collected
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import function_name, is_partial, runtime_operands
from pointsman.operators.messages.online import Online, for_image
from pointsman.plan.membership.passages import passages
from pointsman.plan.plan import Plan
from pointsman.program.catalogue import OPERATORS
from pointsman.protocol.costs import load_cycles

from .allocation import Allocation
from .nodes import NodeImages
from .promises import COMMAND, Follower

LOAD_OVERHEAD = 8
"""Cycles added to a load: the last command's way to its effect, and waits of the pipelines' registers for each other."""


@seldom_collected
def make_images(plan: Plan) -> Images:
    """Make images of a plan: every phase, VFSM and register gets its place in the hardware.

    Raises
    ------
    RefusedError, CrowdedError
        If a node runs out of interface registers or schedule memory, or of VFSMs; plans of `make_plan` fit.
    """
    at = Allocation(plan)
    nodes = NodeImages(at)
    return Images(
        plan.shape,
        plan.topology,
        plan.period,
        plan.name,
        plan.parameters,
        tuple(label for label in plan.structure.loops if "/" not in label),
        tuple(_operator(at, i) for i in range(len(at.operators))),
        tuple(_phase(at, i) for i in range(len(plan.phases))),
        tuple(nodes.node(n) for n in range(at.nodes)),
        tuple(promise for i in range(len(at.operators)) for promise in _promises(at, i)),
        passages(plan),
        replaced=_replaced(at),
    )


def _operator(at: Allocation, index: int) -> OperatorImage:
    phase, planned = at.operators[index]
    online = None
    bandwidth = 0.0
    if isinstance(planned.implementation, Online):
        online = at.queues[index]
        part = at.phases[phase].part
        if part is not None:
            bandwidth = part.bandwidth(planned.operator.label, at.phases[phase].routed)
    operator = planned.operator
    routed = at.phases[phase].routed
    loading = planned.implementation.loading
    continues = at.continues(phase)
    names = runtime_operands(operator) if operator.instances else ()
    partial = loading not in (Loading.ONLINE, Loading.REMOTE) and any(is_partial(operator, name) for name in names)
    return OperatorImage(
        operator.label,
        operator.kind,
        planned.implementation.name,
        continues[0] if continues else phase,
        str(operator.type),
        operator.m,
        names,
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
        way=planned.implementation.name if online is not None else "",
        partial=partial,
        program=for_image(operator) if operator.kind in OPERATORS else None,
    )


def _phase(at: Allocation, index: int) -> PhaseImage:
    phase = at.plan.phases[index]
    return PhaseImage(
        phase.name,
        at.blocks[index],
        tuple(i for i, (p, _) in enumerate(at.operators) if p == index or p in at.beside[index]),
        phase.technique,
        phase.reason,
        tuple(sorted(s for s in at.plan.structure.successors[index] if s >= 0)),
        at.barriers.get(index),
        next((at.carriers[p] for p in (index, *at.beside[index]) if p in at.carriers), None),
        at.second_blocks.get(index, 0),
        _last(at, index),
        _order(at, index),
    )


def _last(at: Allocation, index: int) -> tuple[int, ...]:
    """Indices of the phase's operators after which a node may leave it."""
    last = at.plan.structure.last
    own = {id(one) for one in at.plan.phases[index].operators}
    return tuple(
        number
        for number, (_, one) in enumerate(at.operators)
        if id(one) in own and (not last or one.operator.label in last[index])
    )


def _order(at: Allocation, index: int) -> tuple[tuple[int, int], ...]:
    """(a, b) of a phase: operator a shows by its messages which nodes have entered; b is always used after a."""
    before = at.plan.structure.before[index] if at.plan.structure.before else {}
    number = {one.operator.label: i for i, (p, one) in enumerate(at.operators) if p == index}
    telling = {one.operator.label for one in at.plan.phases[index].operators if one.message_bound}
    return tuple(sorted((number[one], number[other]) for other, known in before.items() for one in known & telling))


def most_load_cycles(images: Images, phase: int) -> int:
    """Most cycles that loading a whole phase takes at any node, as the protocol's equations say."""
    words_of_command = Codes(images.shape).command_words
    slowest = 0
    for node in images.nodes:
        for part in node.phases:
            if part.phase == phase:
                words = [0] * images.shape.pipelines
                for rewrite in part.annotations:
                    words[rewrite.pipeline] += words_of_command
                words[0] += images.period * (2 if part.second else 1) * words_of_command
                slowest = max(slowest, load_cycles(words))
    return slowest + LOAD_OVERHEAD


def _promises(at: Allocation, index: int) -> Iterable[Promise]:
    """Promises of an operator: destinations and words a period of each register that a processor writes, by states."""
    phase_index, planned = at.operators[index]
    continues = at.continues(phase_index)
    for way, states in Follower(at.phases[phase_index], planned).carried():
        name, source, register, destinations, words, held = way
        yield Promise(
            index,
            continues[0] if continues else phase_index,
            name,
            tuple(states),
            source,
            at.register(phase_index, source, register),
            tuple((node, at.register(phase_index, node, r) if r >= 0 else COMMAND - r) for node, r in destinations),
            words,
            held,
        )


def _replaced(at: Allocation) -> tuple[ReplacedImage, ...]:
    number: dict[str, int] = {}
    for i, (_, planned) in enumerate(at.operators):
        number.setdefault(planned.operator.label, i)
    return tuple(
        ReplacedImage(
            for_image(one.operator),
            one.implementation,
            tuple(number[label] for label in one.parts),
            str(one.operator.position or ""),
        )
        for one in at.plan.replaced
    )
