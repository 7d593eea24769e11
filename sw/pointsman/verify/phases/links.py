"""Rules between neighbours and between phases: handshakes on one wire, wires used again, phase changes, passages."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from numesh.codes import REPROGRAM_VFSM, Codes, MoveType
from pointsman.artifacts.images.images import Images
from pointsman.verify.node.node import NodeView, Vfsm
from pointsman.verify.phases.phase_order import later_phases, meets
from pointsman.verify.phases.role_choices import role_choices
from pointsman.verify.report import Finding, Notebook

from .continuing import Standing
from .skew import Skew

Place = tuple[int, int, int]
"""Node, pipeline and number of a VFSM."""


def check_aliased(images: Images, codes: Codes, views: Mapping[int, NodeView], phase: int, notebook: Notebook) -> None:
    """Both ways of a link in one slot (Metcalf 1997, §7.1.1, "Flow-control Wire Aliasing")."""
    name = images.phases[phase].name
    for link in images.topology.links:
        near, far = views.get(link.node), views.get(link.other)
        if near is None or far is None:
            continue
        for (a, b), values in role_choices(images, (near, far), notebook, name):
            one, other = near.state(a), far.state(b)
            there = {slot for port, slot in one.writes if port == link.port}
            there |= {(slot - 1) % images.period for port, slot in other.reads if port == link.other_port}
            back = {slot for port, slot in other.writes if port == link.other_port}
            back |= {(slot - 1) % images.period for port, slot in one.reads if port == link.port}
            for slot in sorted(there & back):
                notebook.add(
                    Finding(
                        "aliased-handshake",
                        f"{codes.name(link.port)} carries words to node {link.other} and back in one slot",
                        "one way in a slot",
                        phase=name,
                        node=link.node,
                        slot=slot,
                        values=values,
                    )
                )


def check_reprogramming(
    images: Images,
    views: Mapping[int, NodeView],
    phase: int,
    following: Mapping[int, tuple[int, ...]],
    notebook: Notebook,
) -> None:
    """VFSM 1 where phases change and where annotations are rewritten. ``following`` is by node."""
    name = images.phases[phase].name
    for node, view in views.items():
        changes = [images.phases[later].name for later in following[node] if later != phase]
        needed = {0: f"the change to phase {changes[0]}"} if changes else {}
        for index, operator in view.operators:
            for role in operator.roles:
                for rewrite in role.rewrites:
                    needed.setdefault(rewrite.pipeline, f"the load function of {images.operators[index].label}")
        for pipeline, reason in sorted(needed.items()):
            if 0 <= pipeline < len(view.columns) and REPROGRAM_VFSM not in view.columns[pipeline]:
                notebook.add(
                    Finding(
                        "reprogramming",
                        f"VFSM 1 never runs, which {reason} needs",
                        "a slot for VFSM 1",
                        phase=name,
                        node=node,
                        pipeline=pipeline,
                    )
                )


class LinkUse:
    """Slots in which a node may use its links in a phase, under any value and before any load function."""

    def __init__(
        self,
        view: NodeView,
        codes: Codes,
        without: Collection[Vfsm] = (),
        slots: Mapping[Vfsm, Collection[int]] | None = None,
    ) -> None:
        self.writes: dict[int, set[int]] = {}
        """By port, slots of VFSMs that write it, but those in ``without``, and some ``slots`` of others."""
        self.reads: dict[int, set[int]] = {}
        """By port, slots before those of VFSMs that read it: slots of their writers."""
        possible = view.possible()
        filled = {
            (pipeline, annotation.destination) for (pipeline, _), choices in possible.items() for annotation in choices
        }
        for vfsm, choices in possible.items():
            if vfsm in without:
                continue
            left_out = slots.get(vfsm, ()) if slots else ()
            there = [slot for slot in view.every_slot(vfsm) if slot not in left_out]
            for annotation in choices:
                off = annotation.source == codes.nop and (vfsm[0], codes.buffer(vfsm[1])) not in filled
                if codes.is_neighbour(annotation.destination) and not off:
                    self.writes.setdefault(annotation.destination, set()).update(there)
                # The second leg of a fork names the link that the first one writes, and reads nothing from it.
                if codes.is_neighbour(annotation.source) and annotation.type != MoveType.FORK:
                    before = {(slot - 1) % view.period for slot in there}
                    self.reads.setdefault(annotation.source, set()).update(before)


def check_wires(
    images: Images,
    codes: Codes,
    views: Sequence[Mapping[int, NodeView]],
    following: Sequence[Mapping[int, tuple[int, ...]]],
    standing: Standing,
    skew: Skew,
    words: Sequence[Mapping[Place, Collection[tuple[int, int]]]],
    notebook: Notebook,
) -> None:
    """Links used again while a neighbour may still be in an earlier phase (Metcalf 1997, §5.3, Table 5.2).

    After a barrier the neighbour changes within the time to settle, which the node must have waited by then: after the change to
    the phase that comes next, or before it enters a later one. After anything else it may stay for any time, also while
    this node goes through several phases, unless one of them joins the two.

    Parameters
    ----------
    views : sequence of mapping
        By phase, the nodes that have a part.
    following : sequence of mapping
        By node, ``following_phases``.
    skew : Skew
        Who may be where while another is behind.
    words : sequence of mapping
        By phase and VFSM, operator and source of each stream that passes it.
    """
    used: dict[tuple[int, int, frozenset[Vfsm], int], LinkUse] = {}

    def use(node: int, phase: int, without: frozenset[Vfsm] = frozenset(), since: int = -1) -> LinkUse:
        """``since``: without what continues from that phase in the same slots (Table 5.2)."""
        key = (node, phase, without, since)
        if key not in used:
            kept = standing.kept(node, since, phase) if since >= 0 else ()
            same = {vfsm: views[since][node].every_slot(vfsm) for vfsm in kept}
            used[key] = LinkUse(views[phase][node], codes, without, same)
        return used[key]

    def may_send(node: int, later: int, port: int, slot: int, other: int, earlier: int) -> bool:
        """May a word be written there while the node at the other end has not left the earlier phase?"""
        view = views[later][node]
        for vfsm, choices in view.possible().items():
            if slot in view.every_slot(vfsm) and any(one.destination == port for one in choices):
                passing = words[later].get((node, *vfsm), ())
                if not passing or any(skew.may_send(source, index, other, earlier) for index, source in passing):
                    return True
        return False

    pairs = set()
    for node, links in enumerate(images.topology.at_port):
        for earlier, next_phases in following[node].items():
            settle = dict(views[earlier][node].part.settle)
            barrier = meets(images, node, earlier)
            # Who waits before every phase that comes next needs no wait before those after it.
            waits = barrier and all(settle.get(later, 0) for later in next_phases if later != earlier)
            for later in next_phases if waits else later_phases(following[node], earlier):
                if later == earlier:
                    continue
                pairs.add((earlier, later))
                now = use(node, later, since=earlier)
                for port, (other, other_port) in links.items():
                    if other not in views[earlier]:
                        continue
                    notebook.counts["link ends between phases"] += 1
                    # What continues wherever the node goes ends with a barrier later: see ``check_continuing``.
                    then, far = (
                        use(n, earlier, standing.lasting(n, earlier, following[n][earlier])) for n in (node, other)
                    )
                    # Slots in which the neighbour, still in the earlier phase, would take a word from here.
                    taken = then.writes.get(port, set()) | far.reads.get(other_port, set())
                    before, name = images.phases[earlier].name, images.phases[later].name
                    again = taken & now.writes.get(port, set())
                    # With handshakes on one wire both ends would accept, at once and not only when there are words.
                    turned = taken & now.reads.get(port, set()) if images.shape.aliased_handshake else set()
                    if again | turned and not barrier and not skew.may_be(node, later, other, earlier):
                        notebook.counts["links written again by dependency"] += len(again | turned)
                        continue
                    late = {
                        slot
                        for slot in (again - turned if not barrier else ())
                        if not may_send(node, later, port, slot, other, earlier)
                    }
                    notebook.counts["links written again in turn"] += len(late)
                    for slot in sorted(again - late):
                        wait = settle.get(later, 0)
                        # Who has to load a phase has left the one before, for the loader phase, which reads no link.
                        if barrier and wait > 0:
                            notebook.counts["links written again after a barrier"] += 1
                            continue
                        why = (
                            f"which closes by {images.phases[earlier].technique}, not by a barrier"
                            if not barrier
                            else "and the node does not wait for its neighbours to change as well"
                        )
                        notebook.add(
                            Finding(
                                "wires",
                                f"{codes.name(port)} is written, as it was in phase {before}, {why}",
                                "another slot, or a barrier and a time to settle",
                                phase=name,
                                node=node,
                                slot=slot,
                            )
                        )
                    # Behind a barrier a node waits for its neighbours after the change to the next phase, but before it goes on
                    # to one that does not come next.
                    if barrier and settle.get(later, 0) > 0 and later not in next_phases:
                        turned = set()
                    for slot in sorted(turned):
                        notebook.add(
                            Finding(
                                "wires",
                                f"{codes.name(port)} is read, but was written in phase {before}, so both accept",
                                "another slot",
                                phase=name,
                                node=node,
                                slot=slot,
                            )
                        )
    notebook.counts["pairs of phases"] += len(pairs)
