"""Rules "aliased-handshake", "reprogramming" and "wires": links within a phase, and links used again in a later phase.

Takes views of phases and who may be ahead of whom; notes findings. Within a phase: with valid and accept on a shared
wire no link carries words both ways in a slot, and VFSM 1 runs where the phase changes or annotations are rewritten.
Between phases (§5.3, Table 5.2): node 0 writes a link in slot 3 of phase A, and again in slot 3 of phase B. If its
neighbour 1 is still in A it takes the word of B for a word of A. So one of three must hold: a barrier at the end of A
joins the two nodes and node 0 waits until node 1 has changed (``settle``); or no node whose words take the link in B
can be in B while node 1 is in A (``skew``); or the operator that uses the link in A continues at both nodes
(``continuing``).

Leaves to ``threads`` whether the barrier joins both ends, and to ``node.rules`` and ``words.trace`` how a word is read in its
phase.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from numesh.codes import REPROGRAM_VFSM
from pointsman.verify.node.node import NodeView, Vfsm
from pointsman.verify.node.phase_view import PhaseView
from pointsman.verify.node.role_choices import role_choices
from pointsman.verify.report import Notebook
from pointsman.verify.words.streams import Words

from .all_phases import AllPhases
from .skew import Skew


def check_aliased(view: PhaseView, notebook: Notebook) -> None:
    """Note links that carry words both ways in a slot (Metcalf 1997, §7.1.1, "Flow-control Wire Aliasing")."""
    images = view.images
    for link in images.topology.links:
        near, far = view.nodes.get(link.node), view.nodes.get(link.other)
        if near is None or far is None:
            continue
        for (a, b), values in role_choices(images, (near, far), notebook, view.name):
            one, other = near.state(a), far.state(b)
            there = {slot for port, slot in one.writes if port == link.port}
            there |= {(slot - 1) % images.period for port, slot in other.reads if port == link.other_port}
            back = {slot for port, slot in other.writes if port == link.other_port}
            back |= {(slot - 1) % images.period for port, slot in one.reads if port == link.port}
            for slot in sorted(there & back):
                notebook.note(
                    "aliased-handshake",
                    f"{view.codes.name(link.port)} carries words to node {link.other} and back in one slot",
                    "one way in a slot",
                    phase=view.name,
                    node=link.node,
                    slot=slot,
                    values=values,
                )


def check_reprogramming(phases: AllPhases, phase: int, notebook: Notebook) -> None:
    """Note pipelines without VFSM 1 in which the phase changes or load functions rewrite annotations."""
    view = phases.views[phase]
    for node, own in view.nodes.items():
        changes = [phases.name(later) for later in phases.following[node][phase] if later != phase]
        needed = {0: f"the change to phase {changes[0]}"} if changes else {}
        for index, operator in own.operators:
            for role in operator.roles:
                for rewrite in role.rewrites:
                    needed.setdefault(rewrite.pipeline, f"the load function of {view.images.operators[index].label}")
        for pipeline, reason in sorted(needed.items()):
            if 0 <= pipeline < len(own.columns) and REPROGRAM_VFSM not in own.columns[pipeline]:
                message = f"VFSM 1 never runs, which {reason} needs"
                right = "a slot for VFSM 1"
                notebook.note("reprogramming", message, right, phase=view.name, node=node, pipeline=pipeline)


class LinkUse:
    """Slots in which a node may use its links in a phase, under any value and before any load function."""

    def __init__(
        self,
        view: NodeView,
        without: Collection[Vfsm] = (),
        slots: Mapping[Vfsm, Collection[int]] | None = None,
    ) -> None:
        self.writes: dict[int, set[int]] = {}
        """By port, slots in which VFSMs write it, without the VFSMs ``without`` and the ``slots`` of other VFSMs."""
        self.reads: dict[int, set[int]] = {}
        """By port, the slots before those in which VFSMs read it: the slots in which the other end writes."""
        for uses, found in zip(view.link_uses(), (self.writes, self.reads), strict=True):
            for vfsm, port in uses:
                if vfsm not in without:
                    here = view.every_slot(vfsm)
                    left_out = slots.get(vfsm) if slots else None
                    found.setdefault(port, set()).update(set(here).difference(left_out) if left_out else here)
        self.reads = {port: {(slot - 1) % view.period for slot in here} for port, here in self.reads.items()}


def check_wires(phases: AllPhases, skew: Skew, words: Sequence[Words], notebook: Notebook) -> None:
    """Links used again while a neighbour may still be in an earlier phase (Metcalf 1997, §5.3, Table 5.2).

    After a barrier the neighbour changes within the time to settle, which the node must wait: after the change to the
    next phase, or before it enters a later phase. Without a barrier the neighbour may stay for any time, also while
    this node goes through several phases, unless words of these phases make it wait for the neighbour.

    Parameters
    ----------
    skew : Skew
        Which phases a node may reach while another node is behind.
    words : sequence of mapping
        By phase and VFSM, whose words pass the VFSM.
    """
    images, codes, views = phases.images, phases.codes, phases.views
    used: dict[tuple[int, int, frozenset[Vfsm], int], LinkUse] = {}

    def use(node: int, phase: int, without: frozenset[Vfsm] = frozenset(), since: int = -1) -> LinkUse:
        """Links that a node uses in ``phase``, leaving out ``without`` and, with ``since`` >= 0, the slots that
        continuing VFSMs also have in phase ``since`` (Table 5.2)."""
        kept = phases.kept(node, since, phase) if since >= 0 else frozenset[Vfsm]()
        key = (node, phase, without, since if kept else -1)
        if key not in used:
            same = {vfsm: views[since].nodes[node].every_slot(vfsm) for vfsm in kept}
            used[key] = LinkUse(views[phase].nodes[node], without, same)
        return used[key]

    def may_send(node: int, later: int, port: int, slot: int, other: int, earlier: int) -> bool:
        """May a word be written to ``port`` in ``slot`` while ``other``, the far end, has not left ``earlier``?"""
        view = views[later].nodes[node]
        for vfsm, choices in view.possible().items():
            if slot in view.every_slot(vfsm) and any(one.destination == port for one in choices):
                passing = words[later].get((node, *vfsm), ())
                if not passing or any(skew.may_send(one.source, one.operator, other, earlier) for one in passing):
                    return True
        return False

    note, right = notebook.note, "another slot, or a barrier and a time to settle"
    nothing, aliased, ends = frozenset[int](), images.shape.aliased_handshake, 0
    pairs = set()
    for node, links in enumerate(images.topology.at_port):
        following = phases.following[node]
        for earlier in following:
            settle = dict(views[earlier].nodes[node].part.settle)
            barrier = views[earlier].meets(node)
            # A node that waits before every next phase need not wait again before the phases after that.
            waits = barrier and all(settle.get(later, 0) for later in following[earlier] if later != earlier)
            for later in following[earlier] if waits else following.later(earlier):
                if later == earlier:
                    continue
                pairs.add((earlier, later))
                now = use(node, later, since=earlier)
                for port, (other, other_port) in links.items():
                    if other not in views[earlier].nodes:
                        continue
                    ends += 1
                    written = now.writes.get(port, nothing)
                    # With valid and accept on a shared wire both ends would accept, even if no word is sent.
                    read = now.reads.get(port, nothing) if aliased else nothing
                    if not (written or read):
                        continue
                    # VFSMs that continue in every next phase end with a barrier later: see ``continuing``.
                    then, far = (use(n, earlier, phases.lasting(n, earlier)) for n in (node, other))
                    # Slots in which the neighbour, still in the earlier phase, would take a word from here.
                    taken = then.writes.get(port, set()) | far.reads.get(other_port, set())
                    again = taken & written
                    turned = taken & read
                    if again | turned and not barrier and not skew.may_be(node, later, other, earlier):
                        notebook.counts["links written again by dependency"] += len(again | turned)
                        continue
                    if again | turned and not barrier and skew.cut_short:
                        skew.leave_out(notebook)
                        continue
                    late = {
                        slot
                        for slot in (again - turned if not barrier else ())
                        if not may_send(node, later, port, slot, other, earlier)
                    }
                    notebook.counts["links written again in turn"] += len(late)
                    settled = barrier and settle.get(later, 0) > 0
                    # A node that has to load a phase is in the loader phase meanwhile, which reads no link.
                    if settled and again - late:
                        notebook.counts["links written again after a barrier"] += len(again - late)
                    for slot in sorted(again - late) if not settled else ():
                        why = (
                            f"which closes by {images.phases[earlier].technique}, not by a barrier"
                            if not barrier
                            else "and the node does not wait for its neighbours to change as well"
                        )
                        message = f"{codes.name(port)} is written, as it was in phase {phases.name(earlier)}, {why}"
                        note("wires", message, right, phase=phases.name(later), node=node, slot=slot)
                    # Behind a barrier a node waits for its neighbours after the change to the next phase, but before
                    # the change to any later phase.
                    for slot in sorted(turned) if not settled or later in following[earlier] else ():
                        message = f"{codes.name(port)} is read, but was written in phase {phases.name(earlier)}, so both accept"
                        note("wires", message, "another slot", phase=phases.name(later), node=node, slot=slot)
    notebook.counts["pairs of phases"] += len(pairs)
    notebook.counts["link ends between phases"] += ends
