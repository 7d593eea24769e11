"""First pass of the judge: every check of images that needs no notion of time.

Takes images and notes findings of the rules "structure", "blocks", "annotations", "codes" and "subphases": here for the
network, operators, phases, schedules and promises; ``roles`` does it for what nodes do in operators. After a finding of
"structure" (phase 7 of 3, for example) later passes would stumble and are left out; after any other finding they go on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from numesh.codes import FIRST_FREE_VFSM, Annotation
from pointsman.artifacts.images.images import Images, NodePhase
from pointsman.errors import PointsmanError
from pointsman.verify.node.phase_view import made_operators
from pointsman.verify.report import Notebook

from .fields import check_fields
from .notes import StructureNotes
from .programs import ONLINE, check_definition, check_operator
from .roles import MOST_WAIT, check_node_operator, check_rewrites


def check_structure(images: Images, notebook: Notebook) -> None:
    """Note numbers that name nothing, codes that do not exist, schedules, annotations and blocks that do not fit."""
    notes = StructureNotes(images, notebook)
    shape, topology = images.shape, images.topology
    if not 1 <= images.period <= shape.schedule_depth:
        notes.note("structure", f"the period is {images.period} slots", f"1 to {shape.schedule_depth} slots")
    if len(images.nodes) != topology.nodes:
        notes.note("structure", f"there are images of {len(images.nodes)} nodes", f"{topology.nodes} nodes")
    _check_topology(notes)
    _check_operators(notes)
    _check_phases(notes)
    if notebook.stopped:
        return
    for node, image in enumerate(images.nodes):
        for name, numbers in (
            ("phase", [part.phase for part in image.phases]),
            ("operator", [index for index, _ in image.operators]),
        ):
            for number, count in Counter(numbers).items():
                if count > 1:
                    notes.note("structure", f"{name} {number} stands {count} times", "once a node", node=node)
        parts = frozenset(part.phase for part in image.phases)
        for part in image.phases:
            if not notes.is_known(part):
                _check_part(notes, node, part)
        for index, operator in image.operators:
            if notes.is_known((index, operator, parts)):
                continue
            if notes.in_range("an operator", index, len(images.operators), node=node):
                check_node_operator(notes, node, index, operator)
    _check_promises(notes)
    _check_passages(notes)
    if notebook.stopped:
        return
    check_fields(notes)
    for node in range(topology.nodes):
        _check_residents(notes, node)
        check_rewrites(notes, node)


def _check_topology(notes: StructureNotes) -> None:
    topology, ports = notes.images.topology, notes.images.shape.neighbours
    for link in topology.links:
        for node, port in ((link.node, link.port), (link.other, link.other_port)):
            if notes.in_range("a node of a link", node, topology.nodes):
                notes.in_range("a port of a link", port, ports, node=node)
        if link.node == link.other:
            notes.note("structure", "a link joins the node to itself", "two different nodes", node=link.node)
    if not notes.notebook.stopped:
        try:
            topology.at_port  # noqa: B018 - computing it finds ports that are joined twice
        except PointsmanError as error:
            notes.note("structure", error.message, "one link a port")


def _check_operators(notes: StructureNotes) -> None:
    images = notes.images
    for index, operator in enumerate(images.operators):
        place: dict[str, Any] = {"operator": operator.label, "source": operator.source}
        notes.in_range("its phase", operator.phase, len(images.phases), **place)
        check_operator(notes, index, **place)
        if not operator.values:
            notes.note("structure", "it has no values", "one empty value when nothing is chosen", **place)
        _check_continues(notes, index, **place)
        for own in operator.phases:
            if 0 <= own < len(images.phases) and index not in images.phases[own].operators:
                notes.note("structure", f"phase {own} does not name it", "the phase it is in", **place)
    held = [{index for index, _ in image.operators} for image in images.nodes]
    uses = Counter(index for one in images.replaced for index in one.parts)
    for one in images.replaced:
        place = {"operator": one.program.label, "source": one.source}
        check_definition(notes, one.program, **place)
        for index in one.parts:
            if uses[index] > 1:
                notes.note("structure", f"operator {index} does the work of several, or twice", "of one", **place)
            if notes.in_range("an operator that does it", index, len(images.operators), **place) and any(
                (node in one.program.nodes) != (index in operators) for node, operators in enumerate(held)
            ):
                label = images.operators[index].label
                notes.note("structure", f"{label}, which does it, has other nodes", "the same nodes", **place)
            elif 0 <= index < len(images.operators) and (
                images.operators[index].remote or images.operators[index].partial
            ):
                # Its load function is called with the whole value.
                message = f"{images.operators[index].label}, which does it, has values that some nodes need not know"
                notes.note("structure", message, "values that all nodes know", **place)


def _check_phases(notes: StructureNotes) -> None:
    images = notes.images
    for number, phase in enumerate(images.phases):
        for index in phase.operators:
            if (
                notes.in_range("an operator", index, len(images.operators), phase=number)
                and number not in images.operators[index].phases
            ):
                notes.note(
                    "structure",
                    f"it names operator {images.operators[index].label} of phase "
                    f"{notes.phase_name(images.operators[index].phase)}",
                    "its own operators",
                    phase=number,
                )
        for successor in phase.successors:
            notes.in_range("a successor", successor, len(images.phases), phase=number)
        if (phase.technique in ("barrier", "hijack")) != (phase.barrier is not None):
            notes.note(
                "structure",
                f"technique {phase.technique} with barrier operator {phase.barrier}",
                "a barrier operator for the techniques barrier and hijack, and only then",
                phase=number,
            )
        if phase.barrier is not None and phase.barrier not in phase.operators:
            notes.note("structure", f"operator {phase.barrier} closes it", "an operator of the phase", phase=number)
        elif phase.barrier is not None and 0 <= phase.barrier < len(images.operators):
            closing = images.operators[phase.barrier]
            if closing.kind != "barrier" or closing.continues:
                right = "a barrier of this phase alone"
                notes.note("structure", f"operator {closing.label} closes it", right, phase=number)
        carriers = [i for i in phase.operators if 0 <= i < len(images.operators) and images.operators[i].kind == ONLINE]
        if phase.online in (None, *phase.operators) and carriers != [one for one in [phase.online] if one is not None]:
            right = "the operator of the phase that stands for its online streams, if it has one"
            notes.note("structure", f"its online streams are those of operator {phase.online}", right, phase=number)
        for index in phase.last:
            if index not in phase.operators:
                notes.note("structure", f"operator {index} may be the last", "an operator of the phase", phase=number)
        _check_order(notes, number)


def _check_order(notes: StructureNotes, number: int) -> None:
    """Check that ``PhaseImage.order`` names operators of the phase and has no cycle."""
    phase = notes.images.phases[number]
    own = set(phase.operators).difference(made_operators(phase))
    for one in sorted({index for pair in phase.order for index in pair} - own):
        notes.note("structure", f"operator {one} has a place in the order", "operators of the phase", phase=number)
    left = set(phase.order)
    while left:
        ready = {one for one, _ in left} - {other for _, other in left}
        if not ready:
            notes.note("structure", "its operators come before each other", "an order", phase=number)
            return
        left = {pair for pair in left if pair[0] not in ready}


def _check_continues(notes: StructureNotes, index: int, **place: Any) -> None:
    """Check the phases of an operator that continues over changes of phase, and that nothing rewrites it."""
    image = notes.images.operators[index]
    continues = image.continues
    if not continues:
        return
    for phase in continues:
        notes.in_range("a phase in which it continues", phase, len(notes.images.phases), **place)
    if len(continues) < 2 or list(continues) != sorted(set(continues)) or continues[0] != image.phase:
        notes.note(
            "structure",
            f"it is of phase {image.phase} and continues in {continues}",
            "two phases or more, ascending, of which the first is its own",
            **place,
        )
    roles = [role for node in notes.images.nodes for i, own in node.operators if i == index for role in own.roles]
    rewritten = image.synchronised or image.gated or image.remote or bool(image.instances)
    # Values may differ in the registers that processors use.
    if (
        image.stages > 1
        or rewritten
        or any(role.rewrites or role.commands or role.switch is not None for role in roles)
    ):
        message = "it continues, and its router changes"
        notes.note("structure", message, "one stage, and the same VFSMs for all values", **place)


def _check_part(notes: StructureNotes, node: int, part: NodePhase) -> None:
    images, shape = notes.images, notes.images.shape
    if not notes.in_range("a phase", part.phase, len(images.phases), node=node):
        return
    place: dict[str, Any] = {"phase": part.phase, "node": node}
    if len(part.schedule) != images.period:
        notes.note("structure", f"the schedule has {len(part.schedule)} slots", f"{images.period} slots", **place)
    named: set[tuple[int, int]] = set()
    for row in set(part.schedule):
        named.update(enumerate(row))
    if any(len(row) != shape.pipelines for row in part.schedule) or any(not 0 <= v < shape.vfsms for _, v in named):
        for slot, row in enumerate(part.schedule):
            if len(row) != shape.pipelines:
                notes.note("structure", f"{len(row)} VFSMs", f"{shape.pipelines} pipelines", slot=slot, **place)
            for pipeline, vfsm in enumerate(row):
                notes.in_range("a VFSM", vfsm, shape.vfsms, slot=slot, pipeline=pipeline, **place)
    given: Counter[tuple[int, int]] = Counter()
    buffers = set()
    for rewrite in part.annotations:
        if not notes.in_range("a pipeline", rewrite.pipeline, shape.pipelines, **place):
            continue
        at = {"pipeline": rewrite.pipeline, "vfsm": rewrite.vfsm, **place}
        if not notes.in_range("an annotated VFSM", rewrite.vfsm, shape.vfsms, **at):
            continue
        given[rewrite.pipeline, rewrite.vfsm] += 1
        if rewrite.vfsm < FIRST_FREE_VFSM:
            notes.note("annotations", "it is annotated anew", "VFSM 0 and 1 as after reset", **at)
            continue
        notes.check_codes(rewrite.annotation, at)
        buffers |= _buffers_of(notes, rewrite.pipeline, [rewrite.annotation])
    _check_second(notes, part, named, place)
    for (pipeline, vfsm), count in given.items():
        at = {"pipeline": pipeline, "vfsm": vfsm, **place}
        if count > 1:
            notes.note("annotations", f"it is annotated {count} times", "once", **at)
        if vfsm >= FIRST_FREE_VFSM and (pipeline, vfsm) not in named | buffers:
            notes.note("annotations", "it is annotated but never scheduled", "only VFSMs in use", **at)
    for pipeline, vfsm in sorted(named - set(given)):
        if FIRST_FREE_VFSM <= vfsm < shape.vfsms and pipeline < shape.pipelines:
            at = {"pipeline": pipeline, "vfsm": vfsm, **place}
            notes.note("annotations", "it is scheduled without an annotation", "one annotation", **at)
    for phase, cycles in part.settle:
        if notes.in_range("a phase to settle in", phase, len(images.phases), **place) and not 0 <= cycles <= MOST_WAIT:
            notes.note("structure", f"it settles for {cycles} cycles", f"0 to {MOST_WAIT} cycles", **place)


def _check_second(notes: StructureNotes, part: NodePhase, named: set[tuple[int, int]], place: dict[str, Any]) -> None:
    """Check that a second schedule has the size of the first and runs the same VFSMs."""
    images, shape = notes.images, notes.images.shape
    if bool(part.second) != bool(images.phases[part.phase].second):
        notes.note("structure", "a second schedule has no block, or a block none", "both or neither", **place)
    if not part.second:
        return
    if len(part.second) != images.period or any(len(row) != shape.pipelines for row in part.second):
        right = f"{images.period} slots of {shape.pipelines} pipelines"
        notes.note("structure", "the second schedule has another size", right, **place)
        return
    second = {(pipeline, vfsm) for row in part.second for pipeline, vfsm in enumerate(row)}
    for pipeline, vfsm in sorted(second):
        notes.in_range("a VFSM of the second schedule", vfsm, shape.vfsms, pipeline=pipeline, **place)
    for pipeline, vfsm in sorted(second ^ named):
        if vfsm >= FIRST_FREE_VFSM:
            message = "it is in one of the two schedules only"
            notes.note("subphases", message, "the same VFSMs in both", pipeline=pipeline, vfsm=vfsm, **place)


def _buffers_of(notes: StructureNotes, pipeline: int, annotations: Iterable[Annotation]) -> set[tuple[int, int]]:
    places = (place for a in annotations for place in (a.source, a.destination))
    return {(pipeline, place - notes.codes.first_buffer) for place in places if notes.codes.is_buffer(place)}


def _check_promises(notes: StructureNotes) -> None:
    images = notes.images
    nodes, registers = images.topology.nodes, images.shape.registers
    for promise, count in Counter(images.promises).items():
        if count > 1:
            notes.note("structure", f"stream {promise.stream} is promised {count} times", "each promise once")
    for promise in images.promises:
        if not notes.in_range("the operator of a promise", promise.operator, len(images.operators)):
            continue
        operator = images.operators[promise.operator]
        place: dict[str, Any] = {"operator": operator.label, "source": operator.source}
        if promise.phase != operator.phase:
            notes.note(
                "structure",
                f"stream {promise.stream} is promised for phase {notes.phase_name(promise.phase)}",
                f"phase {notes.phase_name(operator.phase)}",
                **place,
            )
        if not promise.values or list(promise.values) != sorted(set(promise.values)):
            notes.note(
                "structure",
                f"stream {promise.stream} is promised for the values {promise.values}",
                "each value once, ascending, and at least one",
                **place,
            )
        if promise.held and operator.stages == 1:
            message = f"stream {promise.stream} is held, and its operator has one stage"
            notes.note("structure", message, "words that are taken on in a later stage", **place)
        for value in promise.values:
            if not 0 <= value < operator.states:
                notes.in_range(f"a value of stream {promise.stream}", value, operator.states, **place)
        for node, register in ((promise.source, promise.register), *promise.destinations):
            if 0 <= node < nodes and 0 <= register < registers:
                continue
            if notes.in_range(f"a node of stream {promise.stream}", node, nodes, **place):
                notes.in_range(f"a register of stream {promise.stream}", register, registers, node=node, **place)
        if len(set(promise.destinations)) != len(promise.destinations):
            notes.note("structure", f"stream {promise.stream} names a destination twice", "each once", **place)


def _check_passages(notes: StructureNotes) -> None:
    phases = len(notes.images.phases)
    for node, left, entered, way in notes.images.passages:
        if notes.in_range("the node of a passage", node, notes.images.topology.nodes):
            for phase in (*way, *(p for p in (left, entered) if p != -1)):
                notes.in_range("a phase of a passage", phase, phases, node=node)


def _check_residents(notes: StructureNotes, node: int) -> None:
    """Check that the phases of a node have blocks in the schedule memory, and share them only if loading takes time."""
    images = notes.images
    depth, period = images.shape.schedule_depth, images.period
    for part in images.nodes[node].phases:
        block = images.phases[part.phase].block
        place: dict[str, Any] = {"phase": part.phase, "node": node}
        if block <= Images.LOADER_BLOCK or (block + 1) * period > depth:
            notes.note(
                "blocks",
                f"it is in block {block}",
                f"block 1 to {depth // period - 1}: {depth} entries in blocks of {period}, the first the loader's",
                **place,
            )
        second = images.phases[part.phase].second
        others = [one for other in images.phases for one in (other.block, other.second)]
        if second and (second < 0 or (second + 1) * period > depth or others.count(second) > 1):
            right = "a block of its own, behind the loader's and in the memory"
            notes.note("blocks", f"its second schedule is in block {second}", right, **place)
