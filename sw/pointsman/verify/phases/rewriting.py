"""Rules "rewrites", "entered" and "forks" for the cycles in which a router changes: commands take effect slot by slot.

Takes all phases and the VFSMs that streams were found to pass; notes findings. A load function writes one annotation after
the other, and a change of schedule comes between two slots. Words that are under way then must not be led otherwise than
before and after.

* *Annotations, all nodes together.* Between the two barriers of such a load function no word of the operator is under way but
  those of the barriers themselves. So no VFSM that these pass is rewritten, nor one that words of another operator pass.
* *Annotations, each node for itself.* A word for the next value may come when one VFSM has been rewritten and another has not.
  It finds its way or waits, as each VFSM reads one link at most and has one destination for all values together (``preload``),
  if it also forks for all values or for none: else a first leg may send a word on its own that the second still takes, too.
* *Schedules.* A command that VFSM 1 takes in slot s is at MEMADR in the slot after, and lets the router run the other schedule
  from slot s + 1 + ``POINTER_LATENCY`` on. A first leg in the slot before is followed by whatever the other schedule has there.
  If that is a second leg for the same link, it takes a word that was not for it. That matters where words may wait in the
  router: of operators that continue in the next phase, and in a phase that nodes leave each for itself and come to again from
  the next, for that time.
* *Memories.* While a phase is loaded the router runs the loader phase, in which nothing but VFSM 1 moves; that no word waits in
  a buffer whose VFSM another phase has is proven in ``reuse`` and ``continuing``.

Leaves alone commands to other routers (``words.commands``).
"""

from __future__ import annotations

from numesh.codes import POINTER_LATENCY, REPROGRAM_VFSM, Codes, MoveType
from pointsman.artifacts.images.images import SYNC, Images
from pointsman.verify.node.node import NodeView, Place
from pointsman.verify.report import Notebook
from pointsman.verify.words.streams import PhaseStreams

from .all_phases import AllPhases


def check_rewritten(streams: PhaseStreams, notebook: Notebook) -> None:
    """Check, of the load functions in a phase, that they rewrite no VFSM that words may pass meanwhile."""
    view, images = streams.view, streams.view.images
    for index, operator in view.operators():
        members = images.members[index]
        rewritten: dict[Place, None] = {}
        meeting: set[tuple[int, int]] = set()
        for node, here in members.items():
            for role in here.roles:
                rewritten.update({(node, one.pipeline, one.vfsm): None for one in role.rewrites})
                meeting.update(
                    (node, r) for lane in role.lanes if lane.turn == SYNC and lane.write for r in lane.registers
                )
        if not rewritten:
            continue
        barrier = {
            place
            for number in streams.promises[index]
            if (images.promises[number].source, images.promises[number].register) in meeting
            for trace in streams.traces.get(number, ())
            for place in trace.vfsms
        }
        for place in rewritten:
            owner = streams.owner.get(place, index)
            if owner != index or place in barrier:
                whose = "of the barrier around it" if place in barrier else f"of {images.operators[owner].label}"
                _note(
                    notebook,
                    "rewrites",
                    view.name,
                    place,
                    f"words {whose} pass it while it is rewritten",
                    "no such words",
                    operator,
                )
        if not (operator.synchronised or operator.remote or operator.instances or operator.online is not None):
            _check_forks(images, index, view.name, notebook)


def _check_forks(images: Images, index: int, phase: str, notebook: Notebook) -> None:
    """Check that a VFSM which a node rewrites for itself forks for all values for which it takes words of others, or for none."""
    operator, codes = images.operators[index], Codes(images.shape)
    for node, here in images.members[index].items():
        forks: dict[Place, set[tuple[bool, bool]]] = {}
        for role in here.roles if here.nodes > 1 else ():
            for one in role.rewrites:
                # The node's own words, from its registers, come when all is rewritten.
                if codes.is_neighbour(one.annotation.source):
                    kinds = forks.setdefault((node, one.pipeline, one.vfsm), set())
                    kinds.add((one.annotation.type == MoveType.FORK, one.annotation.forked))
        for place, kinds in sorted(forks.items()):
            if len(kinds) > 1:
                message = "it forks for some values only, and is rewritten while words of other values may come to it"
                _note(
                    notebook,
                    "entered",
                    phase,
                    place,
                    message,
                    "forks for all values, or nodes that rewrite together",
                    operator,
                )


def _note(
    notebook: Notebook, rule: str, phase: str, place: Place, message: str, right: str, operator: object = None
) -> None:
    node, pipeline, vfsm = place
    notebook.note(rule, message, right, operator, phase=phase, node=node, pipeline=pipeline, vfsm=vfsm)  # type: ignore[arg-type]


def check_pointers(phases: AllPhases, notebook: Notebook) -> None:
    """Check that no first leg of a fork meets another's second leg when a node changes its schedule."""
    for earlier, view in enumerate(phases.views):
        for node, here in view.nodes.items():
            going = phases.continuing(node, earlier)
            loose = phases.stays_loose(node, earlier)
            if not going and not loose:
                continue
            firsts = _first_legs(here)
            for later in phases.following[node][earlier] if firsts else ():
                there = phases.views[later].nodes.get(node)
                if there is None or later == earlier:
                    continue
                kept = phases.kept(node, earlier, later)
                # Words wait here for the next time that the node comes to the phase, if it comes again from there.
                waits = loose and earlier in phases.following[node].later(later)
                for (pipeline, slot), legs in firsts.items():
                    for vfsm, port in legs:
                        # An operator is over before the node goes on to a phase without it (``continuing``).
                        if not waits and (pipeline, vfsm) not in kept:
                            continue
                        notebook.counts["forks over a change of schedule"] += 1
                        second = pipeline, there.columns[pipeline][slot]
                        taken = there.possible().get(second, ())
                        if second not in kept and any(
                            one.type == MoveType.FORK and one.source == port for one in taken
                        ):
                            name = phases.name(later)
                            message = (
                                f"VFSM {second[1]} of phase {name} takes its word as a second leg if the node changes"
                            )
                            right = "another slot for one of the two"
                            _note(notebook, "forks", view.name, (node, pipeline, vfsm), message, right)


def _first_legs(view: NodeView) -> dict[tuple[int, int], list[tuple[int, int]]]:
    """First legs that may be the last to run before another schedule: by pipeline and the slot in which that begins, VFSM and
    link."""
    slots = {
        (slot + 1 + POINTER_LATENCY) % view.period
        for slot, vfsm in enumerate(view.columns[0])
        if vfsm == REPROGRAM_VFSM
    }
    found: dict[tuple[int, int], list[tuple[int, int]]] = {}
    possible = view.possible()
    for pipeline, column in enumerate(view.columns):
        for slot in slots:
            vfsm = column[slot - 1]
            for port in {one.destination for one in possible.get((pipeline, vfsm), ()) if one.forked}:
                found.setdefault((pipeline, slot), []).append((vfsm, port))
    return found
