"""Rules of threads: nodes that go through phases of their own, without the rest of the mesh (Metcalf 1997, §6.1.2, §5.2.3).

Each node has its own ways through its phases (``NodeImage.ways``). While one node is in a phase of which its neighbour has no
part, the neighbour may be anywhere; so no word of that phase may use the link between them, in either direction: with that, an
idle link of the one cannot look like a word to the other. For phases of which both have a part the rules of wires hold
(``check_phases``), along the ways of each node. What they take from a barrier is proven here: that it joins the two ends of a
link, and everybody whose words use that link in that slot in the phase after it.

Non-goals: that nodes of one barrier come to it equally often.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images, Promise
from pointsman.verify.node.node import NodeView
from pointsman.verify.report import Finding, Notebook
from pointsman.verify.stall_game.phase_games import groups_of

from .continuing import Standing
from .links import LinkUse
from .phase_order import meets, passing_over

Senders = Mapping[tuple[int, int, int], Iterable[tuple[int, str]]]
"""By node, pipeline and VFSM, the sources and names of the streams whose words pass it."""


def check_ways(images: Images, notebook: Notebook) -> None:
    """The ways of each node lead through all of its phases, as the program's phases may follow each other."""
    names = [phase.name for phase in images.phases]

    def note(node: int, message: str, right: str, phase: int | None = None) -> None:
        notebook.add(Finding("threads", message, right, phase=None if phase is None else names[phase], node=node))

    for node, image in enumerate(images.nodes):
        parts = {part.phase for part in image.phases}
        for before, after in image.ways:
            notebook.counts["ways of nodes"] += 1
            if not {before, after} <= parts | {-1}:
                note(node, f"a way leads from phase {before} to phase {after}", "phases in which the node has a part")
            elif before != -1 and after not in (-1, before) and after not in passing_over(images, before, parts):
                note(node, f"a way leads from it to phase {names[after]}", "a phase that can follow it", before)
        if not image.ways:
            continue
        reached, waiting = set[int](), [-1]
        while waiting:
            place = waiting.pop()
            for before, after in image.ways:
                if before == place and after not in reached and after != -1:
                    reached.add(after)
                    waiting.append(after)
        for phase in sorted(parts - reached):
            note(
                node,
                "the node has a part in it, but no way of the node leads there",
                "a phase of its own thread",
                phase,
            )


def check_links(
    images: Images, codes: Codes, views: Mapping[int, NodeView], phase: int, standing: Standing, notebook: Notebook
) -> None:
    """No link of a phase leads to a node that has no part in it, but those of operators that continue (``check_continuing``)."""
    for node, view in views.items():
        use = LinkUse(view, codes, standing.at(node, phase))
        for port in sorted(use.writes.keys() | use.reads.keys()):
            end = images.topology.at_port[node].get(port)
            if end is not None and end[0] not in views:
                notebook.add(
                    Finding(
                        "threads",
                        f"{codes.name(port)} leads to node {end[0]}, which has no part in the phase",
                        "words that stay with the nodes of the phase",
                        phase=images.phases[phase].name,
                        node=node,
                    )
                )


def check_barriers(
    images: Images,
    codes: Codes,
    views: Sequence[Mapping[int, NodeView]],
    following: Sequence[Mapping[int, tuple[int, ...]]],
    senders: Sequence[Senders],
    standing: Standing,
    notebook: Notebook,
) -> None:
    """Whoever uses a link in a phase that a barrier closes, or sends over it in the next phase in the same slot, is in its
    barrier.

    Parameters
    ----------
    senders : sequence
        By phase, whose words pass each VFSM.
    """
    own: dict[int | None, list[Promise]] = {phase.barrier: [] for phase in images.phases}
    for promise in images.promises:
        if promise.operator in own:
            own[promise.operator].append(promise)
    hearing: dict[tuple[int | None, int], set[tuple[int, str]]] = {}
    for earlier, image in enumerate(images.phases):
        if image.technique != "barrier" or image.barrier is None:
            continue
        group = groups_of({p.source, *(node for node, _ in p.destinations)} for p in own[image.barrier])
        # What continues goes over links beyond the barrier of one phase; where it ends is for ``check_continuing``.
        uses = {node: LinkUse(view, codes, standing.at(node, earlier)) for node, view in views[earlier].items()}
        for node, use in uses.items():
            for port, slots in use.writes.items():
                end = images.topology.at_port[node].get(port)
                if end is None or end[0] not in uses or not slots:
                    continue
                if not meets(images, node, earlier) and not meets(images, end[0], earlier):
                    continue  # each leaves for itself, with wires of its own (``check_wires``)
                if node not in group or group.get(end[0]) != group[node]:
                    notebook.add(
                        Finding(
                            "threads",
                            f"words go to node {end[0]}, which is not in the node's barrier",
                            "a barrier that joins both ends of every link in use",
                            phase=image.name,
                            node=node,
                        )
                    )
                    continue
                for later in following[node][earlier]:
                    if later != earlier:
                        place = (earlier, later, node, port)
                        closing = images.phases[later].barrier
                        if (closing, end[0]) not in hearing:
                            hearing[closing, end[0]] = _who_hears(images, closing, own.get(closing, []), end[0])
                        told = hearing[closing, end[0]]
                        view, words = views[later][node], senders[later]
                        _check_senders(images, view, words, group, place, slots, told, notebook)


def _who_hears(images: Images, closing: int | None, own: Sequence[Promise], node: int) -> set[tuple[int, str]]:
    """Sources and streams of the barrier ``closing``, given its promises, whose words only go out when a node has sent a word of
    its own: the source waits for it, or for a node that does."""
    heard = {end for promise in own if promise.source == node for end in promise.destinations}
    told: list[Promise] = []
    left = list(own)
    while True:
        more = [promise for promise in left if _waits(images, closing, promise, heard)]
        if not more:
            early = {(promise.source, promise.stream) for promise in left}
            return {(promise.source, promise.stream) for promise in told} - early
        told += more
        left = [promise for promise in left if promise not in more]
        heard.update(end for promise in more for end in promise.destinations)


def _waits(images: Images, closing: int | None, promise: Promise, heard: set[tuple[int, int]]) -> bool:
    """Does the source of a promise only write once it has read a word at one of these nodes and registers?"""
    node = promise.source
    roles = [role for index, here in images.nodes[node].operators if index == closing for role in here.roles]
    for role in roles:
        for lane in role.lanes:
            if lane.write and promise.register in lane.registers:
                before = [other for other in role.lanes if other.step < lane.step]
                at = lane
                while at.after is not None:
                    at = role.lanes[at.after]
                    before.append(at)
                if not any((node, r) in heard for other in before if not other.write for r in other.registers):
                    return False
    return bool(roles)


def _check_senders(
    images: Images,
    view: NodeView,
    senders: Senders,
    group: Mapping[int, int],
    place: tuple[int, int, int, int],
    slots: set[int],
    told: set[tuple[int, str]],
    notebook: Notebook,
) -> None:
    earlier, later, node, port = place
    for vfsm, choices in view.possible().items():
        if not any(annotation.destination == port for annotation in choices) or slots.isdisjoint(view.slots[vfsm]):
            continue
        notebook.counts["senders behind a barrier"] += 1
        for source, stream in senders.get((node, *vfsm), ()):
            if group.get(source) != group[node] and (source, stream) not in told:
                notebook.add(
                    Finding(
                        "threads",
                        f"words of {stream} from node {source}, which was not in the barrier that closed phase "
                        f"{images.phases[earlier].name}, use a link and slot of that phase",
                        "a barrier that the senders of the next phase join, or other slots",
                        phase=images.phases[later].name,
                        node=node,
                        pipeline=vfsm[0],
                        vfsm=vfsm[1],
                    )
                )
