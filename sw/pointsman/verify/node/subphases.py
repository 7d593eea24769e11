"""Phases with two schedules, between which each node goes when it likes: is no word lost, doubled or sent astray?

The second schedule, and what the two have in common, must each be right as the schedule of the phase would have to be: those are
images of their own, for the other passes to judge. What is in common is what runs whichever of the two a node's neighbours are
in, so streams never stop. And a word may pass from a node in the one to a node in the other, or find its second leg in the other:
this pass sees to it that it comes to the same VFSM there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from numesh.codes import FIRST_FREE_VFSM, REPROGRAM_VFSM, Codes, MoveType
from pointsman.artifacts.images.images import Images, NodePhase
from pointsman.verify.report import Finding, Notebook

from .node import NodeView, Vfsm

Rows = tuple[tuple[int, ...], ...]


def parts_in(images: Images, phase: int) -> dict[int, NodePhase]:
    """By node, its part in a phase."""
    return {node: part for node, image in enumerate(images.nodes) for part in image.phases if part.phase == phase}


def second_schedules(images: Images, views: Mapping[int, NodeView], phase: int, notebook: Notebook) -> Iterator[Images]:
    """The images with the second schedule in the place of the first, and with what is common to both."""
    if not images.phases[phase].second:
        return
    notebook.counts["phases with two schedules"] += 1
    second = {node: view.part.second or view.part.schedule for node, view in views.items()}
    common = {
        node: tuple(
            tuple(a if a == b else 0 for a, b in zip(row, other, strict=True))
            for row, other in zip(view.part.schedule, second[node], strict=True)
        )
        for node, view in views.items()
    }
    yield _instead(images, views, phase, second)
    yield _instead(images, views, phase, common)


def _instead(images: Images, views: Mapping[int, NodeView], phase: int, rows: Mapping[int, Rows]) -> Images:
    """With these rows in a phase. The words promised are what each stream gets there, which need not be as many."""
    nodes = tuple(
        replace(
            image,
            phases=tuple(
                replace(part, schedule=rows[node], second=()) if part.phase == phase else part for part in image.phases
            ),
        )
        for node, image in enumerate(images.nodes)
    )
    promises = []
    for promise in images.promises:
        view = views.get(promise.source)
        if promise.phase == phase and view is not None:
            first = view.state(view.key({})).register_readers.get(promise.register, [])
            runs = [sum(row[p] == number for row in rows[promise.source]) for p, number in first]
            promise = replace(promise, words=max(1, *runs, 0))
        promises.append(promise)
    return replace(images, nodes=nodes, promises=tuple(promises))


def check_subphases(
    images: Images, codes: Codes, views: Mapping[int, NodeView], phase: int, notebook: Notebook
) -> None:
    """Note words that would come to another VFSM because two nodes, or two slots of one, are in different schedules."""
    if not images.phases[phase].second:
        return
    name = images.phases[phase].name

    def note(node: int | None, message: str, right: str, **place: Any) -> None:
        notebook.add(Finding("subphases", message, right, phase=name, node=node, **place))

    if images.phases[phase].technique not in ("none", "barrier"):
        note(
            None, f"the phase ends by {images.phases[phase].technique}", "a barrier, at which all words have been read"
        )
    for node, view in views.items():
        if any(role.rewrites for _, operator in view.operators for role in operator.roles):
            note(node, "load functions rewrite VFSMs of a phase with two schedules", "none that do")
        for rows in (view.part.schedule, view.part.second):
            if rows and all(row[0] != REPROGRAM_VFSM for row in rows):
                note(node, "VFSM 1 never runs in one of its schedules", "a slot for it, to go to the other", pipeline=0)
    for node in views:
        # What each VFSM hands its words to, in the first schedule and in the second.
        known = [{hand[:2] for hand in _hands(codes, views, node, one, one)} for one in (False, True)]
        for here in (False, True):
            for there in (False, True):
                for writer, reader, slot in _hands(codes, views, node, here, there):
                    if any((writer, reader) not in pairs for pairs in known):
                        note(
                            node,
                            f"its word comes to VFSM {reader[2]} of pipeline {reader[1]} of node {reader[0]}, which is in "
                            f"the {'second' if there else 'first'} schedule",
                            "the same VFSM in both schedules",
                            pipeline=writer[0],
                            vfsm=writer[1],
                            slot=slot,
                        )


def _rows(view: NodeView, second: bool) -> Rows:
    return view.part.second if second and view.part.second else view.part.schedule


def _hands(
    codes: Codes, views: Mapping[int, NodeView], node: int, here: bool, there: bool
) -> list[tuple[Vfsm, tuple[int, int, int], int]]:
    """(VFSM of the node, place that takes its word, slot): over links to neighbours in schedule ``there``, and to second legs in
    it at the node itself; ``here``: schedule of the VFSM. True: the second."""
    found = []
    view = views[node]
    state = view.state(view.key({}))
    rows, period = _rows(view, here), view.period
    for slot, row in enumerate(rows):
        after = (slot + 1) % period
        for pipeline, number in enumerate(row):
            vfsm = pipeline, number
            if number < FIRST_FREE_VFSM or not state.moves(vfsm):
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
