"""Rule "subphases": a phase with two schedules; nodes change between them at any time (§4.1.3, B.1 ``sch_prefix``).

Takes the view of a phase; notes findings. Proves in two steps that no word is lost, doubled or sent astray:

* The second schedule, and the entries that both have in common, must each be right as if they were the only schedule.
  ``second_schedules`` makes views of the phase with these two, which ``verify.images`` hands to the passes over a
  phase. The common entries run in whichever schedule a neighbour is, so no stream ever stops.
* Sender and receiver of a word, or the two legs of a fork, may be in different schedules. In all four cases the word
  must come to the VFSM to which it comes when both are in the same schedule.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from numesh.codes import FIRST_FREE_VFSM, REPROGRAM_VFSM, MoveType
from pointsman.verify.report import Notebook

from .node import NodeView, Place, Vfsm
from .phase_view import PhaseView

Rows = tuple[tuple[int, ...], ...]


def second_schedules(view: PhaseView, notebook: Notebook) -> Iterator[PhaseView]:
    """The phase with the second schedule in the place of the first, then with the entries common to both."""
    if not view.image.second:
        return
    notebook.counts["phases with two schedules"] += 1
    second = {node: own.part.second or own.part.schedule for node, own in view.nodes.items()}
    common = {
        node: tuple(
            tuple(a if a == b else 0 for a, b in zip(row, other, strict=True))
            for row, other in zip(own.part.schedule, second[node], strict=True)
        )
        for node, own in view.nodes.items()
    }
    yield _instead(view, second)
    yield _instead(view, common)


def _instead(view: PhaseView, rows: Mapping[int, Rows]) -> PhaseView:
    """The phase with the schedules ``rows`` (by node). Each promise is lowered or raised to the words per period that
    its stream gets there."""
    promises = []
    for promise in view.images.promises:
        own = view.nodes.get(promise.source)
        if promise.phase == view.phase and own is not None:
            first = own.state(own.key({})).register_readers.get(promise.register, [])
            runs = [sum(row[p] == number for row in rows[promise.source]) for p, number in first]
            promise = replace(promise, words=max(1, *runs, 0))
        promises.append(promise)
    images = replace(view.images, promises=tuple(promises))
    nodes = {
        node: NodeView(images, view.codes, node, replace(own.part, schedule=rows[node], second=()))
        for node, own in view.nodes.items()
    }
    return PhaseView(images, view.codes, view.phase, nodes)


def check_subphases(view: PhaseView, notebook: Notebook) -> None:
    """Note words that would come to another VFSM if two nodes, or two slots of a node, are in different schedules."""
    if not view.image.second:
        return
    note = partial(notebook.note, "subphases", phase=view.name)
    if view.image.technique not in ("none", "barrier"):
        note(f"the phase ends by {view.image.technique}", "a barrier, at which all words have been read")
    for node, own in view.nodes.items():
        if any(role.rewrites for _, operator in own.operators for role in operator.roles):
            note("load functions rewrite VFSMs of a phase with two schedules", "none that do", node=node)
        for rows in (own.part.schedule, own.part.second):
            if rows and all(row[0] != REPROGRAM_VFSM for row in rows):
                message = "VFSM 1 never runs in one of its schedules"
                note(message, "a slot for it, to go to the other", node=node, pipeline=0)
    for node in view.nodes:
        # Pairs of VFSMs that hand words on with all nodes in the first schedule, and with all in the second.
        known = [{hand[:2] for hand in _hands(view, node, one, one)} for one in (False, True)]
        for here in (False, True):
            for there in (False, True):
                for writer, reader, slot in _hands(view, node, here, there):
                    if any((writer, reader) not in pairs for pairs in known):
                        note(
                            f"its word comes to VFSM {reader[2]} of pipeline {reader[1]} of node {reader[0]}, which is in "
                            f"the {'second' if there else 'first'} schedule",
                            "the same VFSM in both schedules",
                            node=node,
                            pipeline=writer[0],
                            vfsm=writer[1],
                            slot=slot,
                        )


def _rows(view: NodeView, second: bool) -> Rows:
    return view.part.second if second and view.part.second else view.part.schedule


def _hands(phase: PhaseView, node: int, here: bool, there: bool) -> list[tuple[Vfsm, Place, int]]:
    """(VFSM of ``node``, place that takes its word, slot), with the VFSM in schedule ``here`` and the taker, a
    neighbour's VFSM or a second leg at the node itself, in schedule ``there`` (True: the second schedule)."""
    found: list[tuple[Vfsm, Place, int]] = []
    codes, views = phase.codes, phase.nodes
    view = views[node]
    state = view.state(view.key({}))
    rows, period = _rows(view, here), view.period
    for slot, row in enumerate(rows):
        after = (slot + 1) % period
        for pipeline, number in enumerate(row):
            vfsm = pipeline, number
            if number < FIRST_FREE_VFSM or vfsm not in state.moving or not state.moves(vfsm):
                continue
            port = state.annotations[vfsm].destination
            if not codes.is_neighbour(port) or port not in view.links:
                continue
            leg = pipeline, _rows(view, there)[after][pipeline]
            second = state.annotations.get(leg)
            if second is not None and second.type == MoveType.FORK and second.source == port:
                found.append((vfsm, (node, *leg), slot))
            other, back = view.links[port]
            if other not in views:
                continue
            far = views[other].state(views[other].key({}))
            for p, taker in enumerate(_rows(views[other], there)[after]):
                annotation = far.annotations.get((p, taker))
                if annotation is not None and annotation.source == back and annotation.type != MoveType.FORK:
                    found.append((vfsm, (other, p, taker), slot))
    return found
