"""Rule "threads": nodes that go through phases of their own, without the rest of the mesh (Metcalf 1997, §6.1.2, §5.2.3).

Takes all phases and whose words pass each VFSM; notes findings. Each node has its own ways through its phases
(``NodeImage.ways``). While a node is in a phase in which its neighbour has no part, the neighbour may be in any phase;
so no word of that phase may use the link between them, in either direction. For phases in which both have a part, rule
"wires" (``links``) is checked along the ways of each node. It relies on barriers, and what it relies on is proven here:
a barrier joins the two ends of every link in use, and every node whose words use that link and slot in the next phase.

Example: nodes 0 and 1 meet at the end of phase A, node 2 does not. In phase B words of node 2 come through node 0 over
the link to node 1, in a slot of A. Node 0 and node 2 may be in B while node 1 is still in A, and the word is taken for
a word of A: a finding.

Leaves alone whether the nodes of a barrier come to it equally often.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, partial

from pointsman.artifacts.images.images import Images, LaneImage, Promise, Role
from pointsman.verify.node.node import Place
from pointsman.verify.node.phase_view import PhaseView
from pointsman.verify.report import Notebook
from pointsman.verify.words.streams import Passing, Words

from .all_phases import AllPhases
from .links import LinkUse
from .succession import Succession

Waits = dict[tuple[int, int], list[set[tuple[int, int]]] | None]
"""By node and register, for each lane that writes there what is read before; None: the node has no part."""


def check_ways(phases: AllPhases, notebook: Notebook) -> None:
    """Check that the ways of each node lead through all of its phases, in an order that the program allows."""
    for node, image in enumerate(phases.images.nodes):
        note = partial(notebook.note, "threads", node=node)
        parts = {part.phase for part in image.phases}
        for before, after in image.ways:
            notebook.counts["ways of nodes"] += 1
            if not {before, after} <= parts | {-1}:
                note(f"a way leads from phase {before} to phase {after}", "phases in which the node has a part")
            elif before != -1 and after not in (-1, before) and after not in phases.program.passing_over(before, parts):
                message = f"a way leads from it to phase {phases.name(after)}"
                note(message, "a phase that can follow it", phase=phases.name(before))
        if image.ways:
            for phase in sorted(parts - set(Succession.of_steps(image.ways).later(-1))):
                message = "the node has a part in it, but no way of the node leads there"
                note(message, "a phase of its own thread", phase=phases.name(phase))


def check_links(view: PhaseView, phases: AllPhases, notebook: Notebook) -> None:
    """Note links that lead to a node without a part in the phase, but for operators that continue (``continuing``)."""
    for node, own in view.nodes.items():
        use = LinkUse(own, phases.continuing(node, view.phase))
        for port in sorted(use.writes.keys() | use.reads.keys()):
            end = view.images.topology.at_port[node].get(port)
            if end is not None and end[0] not in view.nodes:
                message = f"{view.codes.name(port)} leads to node {end[0]}, which has no part in the phase"
                right = "words that stay with the nodes of the phase"
                notebook.note("threads", message, right, phase=view.name, node=node)


def check_barriers(phases: AllPhases, words: Sequence[Words], notebook: Notebook) -> None:
    """Check that the barrier of a phase joins both ends of each link in use, and the nodes whose words use that link
    and slot in the next phase; words of the next barrier may instead wait for a word of the far end."""
    images = phases.images
    own: dict[int | None, dict[int, Promise]] = {phase.barrier: {} for phase in images.phases}
    for number, promise in enumerate(images.promises):
        if promise.operator in own:
            own[promise.operator][number] = promise
    roles = _roles_of(images, own)
    waits = {closing: _waits(roles.get(closing, {}), list(promises.values())) for closing, promises in own.items()}

    @cache
    def hearing(closing: int | None, node: int) -> set[int]:
        return _who_hears(waits.get(closing, {}), own.get(closing, {}), node)

    for earlier, view in enumerate(phases.views):
        if view.image.technique != "barrier" or view.image.barrier is None:
            continue
        group = view.meeting
        # Operators that continue use links beyond the barrier of a phase; ``continuing`` checks where they end.
        uses = {n: LinkUse(one, phases.continuing(n, earlier)) for n, one in view.nodes.items()}
        for node, use in uses.items():
            for port, slots in use.writes.items():
                end = images.topology.at_port[node].get(port)
                if end is None or end[0] not in uses or not slots:
                    continue
                if not view.meets(node) and not view.meets(end[0]):
                    continue  # both ends leave without a barrier: ``links`` checks their wires
                if node not in group or group.get(end[0]) != group[node]:
                    message = f"words go to node {end[0]}, which is not in the node's barrier"
                    right = "a barrier that joins both ends of every link in use"
                    notebook.note("threads", message, right, phase=view.name, node=node)
                    continue
                for later in phases.following[node][earlier]:
                    if later == earlier:
                        continue
                    closing = images.phases[later].barrier
                    for place in _writers(phases.views[later], node, port, slots):
                        notebook.counts["senders behind a barrier"] += 1
                        for one in words[later].get(place, ()):
                            joined = group.get(one.source) == group[node]
                            if not joined and one.promise not in hearing(closing, end[0]):
                                _note_sender(phases, earlier, later, place, one, notebook)


def _writers(view: PhaseView, node: int, port: int, slots: set[int]) -> Iterator[Place]:
    """VFSMs of a node that may write a link in one of these slots."""
    own = view.nodes[node]
    for vfsm, choices in own.possible().items():
        if any(annotation.destination == port for annotation in choices) and not slots.isdisjoint(own.slots[vfsm]):
            yield (node, *vfsm)


def _note_sender(phases: AllPhases, earlier: int, later: int, place: Place, words: Passing, notebook: Notebook) -> None:
    node, pipeline, vfsm = place
    notebook.note(
        "threads",
        f"words of {words.stream} from node {words.source}, which was not in the barrier that closed phase "
        f"{phases.name(earlier)}, use a link and slot of that phase",
        "a barrier that the senders of the next phase join, or other slots",
        phase=phases.name(later),
        node=node,
        pipeline=pipeline,
        vfsm=vfsm,
    )


def _roles_of(images: Images, operators: Collection[int | None]) -> dict[int | None, dict[int, list[Role]]]:
    """For each of some operators, its roles by node."""
    found: dict[int | None, dict[int, list[Role]]] = {operator: {} for operator in operators}
    for node, image in enumerate(images.nodes):
        for index, here in image.operators:
            if index in found:
                found[index].setdefault(node, []).extend(here.roles)
    return found


def _who_hears(waits: Waits, own: Mapping[int, Promise], node: int) -> set[int]:
    """Those of a barrier's promises ``own``, by number, whose words are sent only after ``node`` has sent a word in this
    barrier: the source waits for that word, or for a node that waits for it."""
    heard = {end for promise in own.values() if promise.source == node for end in promise.destinations}
    told: set[int] = set()
    while True:
        more = {
            number
            for number, promise in own.items()
            if number not in told and _is_told(waits[promise.source, promise.register], heard)
        }
        if not more:
            return told
        told |= more
        heard.update(end for number in more for end in own[number].destinations)


def _is_told(lanes: Sequence[set[tuple[int, int]]] | None, heard: set[tuple[int, int]]) -> bool:
    """Does each lane read one of the registers ``heard`` before it writes?"""
    return lanes is not None and not any(map(heard.isdisjoint, lanes))


def _waits(roles: Mapping[int, Sequence[Role]], own: Sequence[Promise]) -> Waits:
    """By node and register from which promises lead, the (node, register) pairs that each lane that writes it reads before."""
    found: Waits = {}
    for promise in own:
        at = node, register = promise.source, promise.register
        if at not in found:
            here = roles.get(node, ())
            lanes = [(role, lane) for role in here for lane in role.lanes if lane.write and register in lane.registers]
            found[at] = [_read_before(node, role, lane) for role, lane in lanes] if here else None
    return found


def _read_before(node: int, role: Role, lane: LaneImage) -> set[tuple[int, int]]:
    """The registers that a node reads before it writes the words of a lane."""
    before = [other for other in role.lanes if other.step < lane.step]
    at, seen = lane.after, set[int]()
    while at is not None and at not in seen:  # that lanes wait in a circle is noted by the rule "lanes"
        seen.add(at)
        before.append(role.lanes[at])
        at = role.lanes[at].after
    return {(node, register) for other in before if not other.write for register in other.registers}
