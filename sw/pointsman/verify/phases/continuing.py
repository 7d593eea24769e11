"""Rule "continuing": operators that continue over changes of phase (Metcalf 1997, §5.1, Table 5.2).

Takes all phases; notes findings. In the images such an operator is in several phases, and when a node goes on, its
neighbours may be in any of these. That no word of the operator is lost, doubled or taken for another's follows from the
rules within a phase and from what is proven here:

* At every node the operator has the same VFSMs in all of its phases, with the same annotations, and no load function
  rewrites them. So while a phase is loaded, or where VFSMs have fewer slots, words wait in VFSM buffers.
* Two neighbours, a sender and a receiver, may be in any two of its phases at once. For each such pair: a word sent in a
  slot is taken by the VFSM that takes it when both are in the same phase, or is refused; no other VFSM of the sender
  writes the link in a slot in which the receiver reads it for the operator; with aliased handshakes nothing uses the
  wire the other way in such a slot; and in some slot both agree, so that words go on however long this lasts.
* Where the two ends of a link are not in the same phases, or nodes have threads, the slots are the same (§5.1.2).
* Nothing else uses the operator's VFSMs or registers in any phase. (Within a phase: rules "promises" and "registers".)
* A node goes on to a phase without the operator only through a barrier in which all nodes of the operator meet.
* Of the operator's nodes that meet in any other barrier, all go on to another of its phases or none does: none stays
  and uses the operator while others wait. Nor does any where the others leave, do something in a phase between two rounds, and
  come again: a node without a part in that phase could not tell one round from the next.

Each stream is followed over the whole operator in each phase; a node that is not in the phase is taken in another
phase. Leaves alone whether applications use the operator in the same order at all nodes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numesh.codes import FIRST_FREE_VFSM, Annotation, MoveType
from pointsman.verify.node.groups import groups_of, nodes_of
from pointsman.verify.node.node import NodeView, Vfsm
from pointsman.verify.node.phase_view import PhaseView
from pointsman.verify.report import Notebook

from .all_phases import AllPhases


def widened(views: Sequence[PhaseView], phase: int) -> Mapping[int, NodeView]:
    """The nodes of a phase, and nodes that may be in another phase of an operator that continues through it."""
    found = dict(views[phase].nodes)
    for _, operator in views[phase].operators():
        for other in operator.continues:
            for node, view in views[other].nodes.items():
                found.setdefault(node, view)
    return found


def check_continuing(phases: AllPhases, notebook: Notebook) -> None:
    """Check the rule "continuing" for every operator that continues."""
    continuing = _Continuing(phases, notebook)
    for index, operator in enumerate(phases.images.operators):
        if operator.continues:
            notebook.counts["operators that continue"] += 1
            continuing.check(index)
    continuing.check_shared()


class _Continuing:
    def __init__(self, phases: AllPhases, notebook: Notebook) -> None:
        self.phases, self.images, self.notebook = phases, phases.images, notebook
        self.views = [view.nodes for view in phases.views]
        self.used: dict[tuple[int, int, int, bool], dict[int, list[Vfsm]]] = {}

    def note(
        self, index: int | None, message: str, right: str, phase: int, node: int, vfsm: Vfsm | None = None
    ) -> None:
        pipeline, number = vfsm or (None, None)
        operator = None if index is None else self.images.operators[index]
        place = {"phase": self.phases.name(phase), "node": node, "pipeline": pipeline, "vfsm": number}
        self.notebook.note("continuing", message, right, operator, **place)

    def check(self, index: int) -> None:
        """Check operator ``index`` at all of its nodes, on their links, and where it is over."""
        phases = self.images.operators[index].continues
        used = {place[0] for p in phases for place, owner in self.phases.owners[p].items() if owner == index}
        having = {node for node, image in enumerate(self.images.nodes) if any(i == index for i, _ in image.operators)}
        for node in sorted(used | having):
            here = [p for p in phases if node in self.views[p]]
            self.check_same(index, node, here)
            for port in sorted(self.images.topology.at_port[node]):
                self.check_link(index, node, port)
            self.check_registers(index, node, here)
            for p in here:
                for later in self.phases.following[node][p]:
                    if later not in phases:
                        self.check_over(index, node, p, later, used | having)
        for node in sorted(having):
            self.check_entered(index, node)
        for p in phases:
            self.check_met(index, p, having)

    def own(self, index: int, node: int, phase: int) -> dict[Vfsm, tuple[tuple[int, ...], tuple[Annotation, ...]]]:
        """By VFSM of the operator at ``node`` in ``phase``: its slots, and all annotations that it may have."""
        view = self.views[phase][node]
        possible = view.possible()
        return {
            vfsm: (view.slots[vfsm], tuple(possible[vfsm]))
            for vfsm, owner in self.phases.continuing(node, phase).items()
            if owner == index and vfsm in view.slots
        }

    def check_same(self, index: int, node: int, here: Sequence[int]) -> None:
        """Check that the node has the same VFSMs in all phases, each with a single annotation that never changes."""
        if not here:
            return
        first = self.own(index, node, here[0])
        for vfsm, (_, told) in first.items():
            if len(told) > 1:
                self.note(index, "a load function rewrites it", "nobody does", here[0], node, vfsm)
        for p in here[1:]:
            other = self.own(index, node, p)
            name = self.phases.name(here[0])
            for vfsm in sorted(first.keys() | other.keys()):
                self.notebook.counts["VFSMs that continue"] += 1
                if vfsm not in first or vfsm not in other:
                    lacking = name if vfsm not in first else self.phases.name(p)
                    self.note(index, f"it is not in phase {lacking}", "the same VFSMs in all phases", p, node, vfsm)
                elif first[vfsm][1] != other[vfsm][1]:
                    self.note(
                        index, f"it moves words otherwise than in phase {name}", "the same annotation", p, node, vfsm
                    )
                elif first[vfsm][0] != other[vfsm][0]:
                    self.notebook.counts["VFSMs that continue in other slots"] += 1

    def check_link(self, index: int, node: int, port: int) -> None:
        """Check the words of a link for all pairs of phases in which its two ends may be."""
        images = self.images
        phases = images.operators[index].continues
        far, far_port = images.topology.at_port[node][port]
        ends = [[p for p in phases if n in self.views[p]] for n in (node, far)]
        sent = {p: self._slots(index, node, p, port, writes=True) for p in ends[0]}
        taken = {p: self._slots(index, far, p, far_port, writes=False) for p in ends[1]}
        if not any(sent.values()) and not any(taken.values()):
            return
        fixed = ends[0] != ends[1] or self.phases.threads
        if fixed:
            for n, slots in ((node, sent), (far, taken)):
                for p in slots:
                    if slots[p] != slots[min(slots)]:
                        self.note(
                            index,
                            f"its slots on {self.phases.codes.name(port if n == node else far_port)} are not those of phase "
                            f"{self.phases.name(min(slots))}, where its nodes are in several phases at once",
                            "the same slots in all of them",
                            p,
                            n,
                        )
        onward: dict[Vfsm, Vfsm] = {}
        for p in ends[0]:
            for slot, vfsm in sent[p].items():
                reader = taken.get(p, {}).get(slot)
                if reader is not None and onward.setdefault(vfsm, reader) != reader:
                    self.note(
                        index, "its words go to another VFSM than in another phase", "always the same", p, node, vfsm
                    )
        if not onward:  # they are never in one phase
            for p, q in ((p, q) for p in ends[0] for q in ends[1]):
                onward |= {sent[p][slot]: taken[q][slot] for slot in sent[p].keys() & taken[q].keys()}
        for p in ends[0]:
            for q in ends[1]:
                if p != q:
                    self.notebook.counts["links between phases of what continues"] += 1
                    self.check_apart(index, (node, p, port), (far, q, far_port), sent[p], taken[q], onward)

    def check_apart(
        self,
        index: int,
        sender: tuple[int, int, int],
        receiver: tuple[int, int, int],
        sent: Mapping[int, Vfsm],
        taken: Mapping[int, Vfsm],
        onward: Mapping[Vfsm, Vfsm],
    ) -> None:
        """Check a link whose ends are in different phases. ``sender``, ``receiver``: (node, phase, port); ``sent``,
        ``taken``: VFSMs of the operator by slot; ``onward``: by VFSM of the sender, the receiver's VFSM that must take
        its words."""
        (node, p, port), (far, q, far_port) = sender, receiver
        name = self.phases.name(q)
        reads = self._every(far, q, far_port, writes=False)
        writes = self._every(node, p, port, writes=True)
        for slot, vfsm in sent.items():
            for other in reads.get(slot, ()):
                if other != onward.get(vfsm):
                    message = (
                        f"in slot {slot} VFSM {other[1]} of node {far}, if that is in phase {name}, takes its words"
                    )
                    self.note(index, message, "the VFSM that takes them in its own phase, or none", p, node, vfsm)
        for slot, vfsm in taken.items():
            for other in writes.get(slot, ()):
                if onward.get(other) != vfsm:
                    message = f"node {far}, if it is in phase {name}, takes words of another for it in slot {slot}"
                    self.note(index, message, "another slot", p, node, other)
        if self.images.shape.aliased_handshake:
            back = self._every(far, q, far_port, writes=True).keys() & sent.keys()
            back |= self._every(node, p, port, writes=False).keys() & taken.keys()
            for slot in sorted(back):
                message = (
                    f"{self.phases.codes.name(port)} is turned round in slot {slot} if node {far} is in phase {name}"
                )
                self.note(index, message, "one way for a wire in a slot", p, node)
        for vfsm, reader in onward.items():
            mine = {slot for slot, one in sent.items() if one == vfsm}
            theirs = {slot for slot, one in taken.items() if one == reader}
            if not mine & theirs:
                message = f"its words wait while node {far} is in phase {name}"
                self.note(index, message, "a slot that both have", p, node, vfsm)

    def _slots(self, index: int, node: int, phase: int, port: int, *, writes: bool) -> dict[int, Vfsm]:
        """By slot of the writer, the operator's VFSM that writes (or reads) the link at ``port``."""
        mine = {v for v, owner in self.phases.continuing(node, phase).items() if owner == index}
        every = self._every(node, phase, port, writes=writes)
        return {slot: vfsm for slot, vfsms in every.items() for vfsm in vfsms if vfsm in mine}

    def _every(self, node: int, phase: int, port: int, *, writes: bool) -> dict[int, list[Vfsm]]:
        """By slot of the writer, all VFSMs that may write (or read) the link at ``port``."""
        key = node, phase, port, writes
        if key not in self.used:
            found: dict[int, list[Vfsm]] = {}
            view = self.views[phase][node]
            for vfsm, choices in view.possible().items():
                for annotation in choices:
                    place = annotation.destination if writes else annotation.source
                    if place == port and (writes or annotation.type != MoveType.FORK):
                        for slot in view.every_slot(vfsm):
                            there = found.setdefault(slot if writes else (slot - 1) % view.period, [])
                            if vfsm not in there:
                                there.append(vfsm)
            self.used[key] = found
        return self.used[key]

    def check_registers(self, index: int, node: int, here: Sequence[int]) -> None:
        """Check that no VFSM of another operator uses its registers in any phase, as words may wait in them."""
        registers = {
            code
            for p in here
            for _, told in self.own(index, node, p).values()
            for annotation in told
            for code in (annotation.source, annotation.destination)
            if self.phases.codes.is_register(code)
        }
        for p, nodes in enumerate(self.views):
            if node not in nodes:
                continue
            for vfsm, choices in nodes[node].possible().items():
                if self.phases.owners[p].get((node, *vfsm)) == index:
                    continue
                for annotation in choices:
                    for code in (annotation.source, annotation.destination):
                        if code in registers:
                            self.note(
                                index,
                                f"another uses its register {self.phases.codes.name(code)}",
                                "its own",
                                p,
                                node,
                                vfsm,
                            )

    def check_over(self, index: int, node: int, phase: int, later: int, nodes: set[int]) -> None:
        """Check that the nodes joined with ``node`` meet in a barrier before it goes on to ``later``."""
        view = self.phases.views[phase]
        group = view.meeting if view.image.technique == "barrier" else {}
        mine = self.reach(index, node) & nodes
        if not any(self.own(index, other, phase) for other in mine | {node}):
            return  # it has no words: each of its nodes is alone
        if any(group.get(other, -1) != group.get(node, -2) for other in mine | {node}):
            self.note(
                index,
                f"the node goes on to phase {self.phases.name(later)}, and words of the operator may be on their way",
                "a barrier in which all of its nodes meet",
                phase,
                node,
            )

    def reach(self, index: int, node: int) -> set[int]:
        """Nodes at the ends of the operator's streams that these join with ``node``, directly or over other nodes."""
        group = groups_of([*(nodes_of(p) for p in self.images.promises if p.operator == index), {node}])
        return {other for other, root in group.items() if root == group[node]}

    def check_entered(self, index: int, node: int) -> None:
        """Check that the load function enters the operator's phase to which the node can come first."""
        phases = self.images.operators[index].continues
        enters = next(view.enters for i, view in self.images.nodes[node].operators if i == index)
        called = self.phases.called(node)
        following = self.phases.following[node]
        for p in following:
            if p in called and p not in phases:
                for first in following.passing_over(p, called):
                    if first in phases and first != enters:
                        message = f"after it the node may come to phase {self.phases.name(first)} first"
                        self.note(index, message, "the one it enters", p, node)

    def check_met(self, index: int, phase: int, having: set[int]) -> None:
        """Check that of the operator's nodes that meet at the end of ``phase`` all go on to another of its phases,
        where they have something to do, or none does: a node that stays would use the operator while others wait."""
        images = self.images
        image = images.phases[phase]
        if image.barrier is None:
            return
        group = self.phases.views[phase].meeting
        if image.technique == "hijack":
            group = dict.fromkeys(images.members[image.barrier], 0)
        self.check_round(index, phase, having, group)
        phases = set(images.operators[index].continues) - {phase}
        onward = {
            node: {
                q
                for q in self.phases.following[node][phase]
                if q in phases and any(images.operators[i].phase == q for i, _ in images.nodes[node].operators)
            }
            for node in sorted(having & group.keys())
        }
        for root in sorted({group[node] for node in onward}):
            here = [node for node in onward if group[node] == root]
            if any(onward[node] for node in here):
                for node in here:
                    if not onward[node]:
                        self.note(
                            index,
                            "others meet it at the end and go on to another phase of the operator, and it does not",
                            "something to do in the next phase for all that meet",
                            phase,
                            node,
                        )

    def check_round(self, index: int, phase: int, having: set[int], group: Mapping[int, int]) -> None:
        """Check that of the operator's nodes that meet at the end of ``phase`` none may come round to the operator's phases past
        phases in which another has something to do: it would use the operator where it is, while the other waits for it."""
        phases = set(self.images.operators[index].continues)
        meeting = sorted(having & group.keys())
        called = {node: self.phases.called(node) for node in meeting}
        for node in meeting:
            passed = self.passed(phase, phases, called[node])
            for other in meeting:
                between = sorted(passed & called[other]) if group[other] == group[node] else []
                if between:
                    self.note(
                        index,
                        f"it may come round past phase {self.phases.name(between[0])}, of which it has nothing to do and node "
                        f"{other} has, and cannot tell one round of the operator from the next",
                        "something to do there for all that meet",
                        phase,
                        node,
                    )

    def passed(self, phase: int, phases: set[int], called: set[int]) -> set[int]:
        """Phases other than ``phases`` and ``called`` on ways from ``phase`` to one of ``phases`` through no others."""
        program = self.phases.program
        reached: set[int] = set()
        waiting = [q for q in program[phase] if q not in phases and q not in called]
        while waiting:
            one = waiting.pop()
            if one not in reached:
                reached.add(one)
                waiting += [q for q in program[one] if q not in phases and q not in called]
        back: set[int] = set()
        more = {q for q in reached if not phases.isdisjoint(program[q])}
        while more:
            back |= more
            more = {q for q in reached - back if not more.isdisjoint(program[q])}
        return back

    def check_shared(self) -> None:
        """Check that no phase of a node outside a continuing operator uses the operator's VFSMs."""
        for node, image in enumerate(self.images.nodes):
            phases: dict[Vfsm, list[int]] = {}
            for part in image.phases:
                for vfsm in self.views[part.phase][node].slots:
                    if vfsm[1] >= FIRST_FREE_VFSM:
                        phases.setdefault(vfsm, []).append(part.phase)
            for vfsm, here in phases.items():
                theirs = [p for p in here if vfsm in self.phases.continuing(node, p)]
                for phase in here:
                    apart = [p for p in theirs if p != phase and vfsm not in self.phases.kept(node, p, phase)]
                    if apart:
                        name = self.phases.name(apart[0])
                        self.note(
                            None,
                            f"an operator that continues has it in phase {name}, and does not continue with it here",
                            "a VFSM of its own for what continues",
                            phase,
                            node,
                            vfsm,
                        )
