"""TODO"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

from pointsman.artifacts.images.images import Images, PhaseImage
from pointsman.verify.report import Finding, Notebook


def following_phases(images: Images, node: int) -> dict[int, tuple[int, ...]]:
    """For each phase of a node, those that it can enter next: by its own ways if it has any, else successors, passing over
    phases without a part of it."""
    ways = images.nodes[node].ways
    parts = {part.phase for part in images.nodes[node].phases}
    if ways:
        return {p: tuple(sorted({b for a, b in ways if a == p and b in parts})) for p in parts}
    return {phase: passing_over(images, phase, parts) for phase in parts}


def passing_over(images: Images, phase: int, parts: Collection[int]) -> tuple[int, ...]:
    """Phases of ``parts`` that can come next after ``phase``."""
    found: dict[int, None] = {}
    waiting, seen = [phase], set()
    while waiting:
        for successor in images.phases[waiting.pop()].successors:
            if successor in parts:
                found[successor] = None
            elif successor not in seen:
                seen.add(successor)
                waiting.append(successor)
    return tuple(sorted(found))


def later_phases(following: Mapping[int, tuple[int, ...]], phase: int) -> tuple[int, ...]:
    """Phases of a node that may run at any time after ``phase``."""
    found: set[int] = set()
    waiting = list(following[phase])
    while waiting:
        later = waiting.pop()
        if later not in found:
            found.add(later)
            waiting += following[later]
    return tuple(sorted(found))


def meets(images: Images, node: int, phase: int) -> bool:
    """Does this node leave the phase together with others, after a barrier or something that does as well?"""
    barrier = images.phases[phase].barrier
    return barrier is not None and node in images.members.get(barrier, ())


def check_passages(images: Images, following: Sequence[Mapping[int, tuple[int, ...]]], notebook: Notebook) -> None:
    """Every phase of a node is either called by an operator or on the way of a passage (Metcalf 1997, §5.2, §5.5.2)."""
    passages: dict[int, list[tuple[int, int, tuple[int, ...]]]] = {}
    for node, left, entered, way in images.passages:
        passages.setdefault(node, []).append((left, entered, way))
    names = [phase.name for phase in images.phases]
    for node, image in enumerate(images.nodes):
        # The barrier that closes a phase is called by load functions and passages, not by the application; what stands for
        # its online streams is not called at all.
        closing = {index for part in image.phases for index in _inner(images.phases[part.phase])}
        called = {
            view.enters if images.operators[index].continues else images.operators[index].phase
            for index, view in image.operators
            if index not in closing
        }
        silent = {part.phase for part in image.phases} - called

        def note(message: str, right: str, phase: int | None = None, node: int = node) -> None:
            notebook.add(Finding("passages", message, right, phase=None if phase is None else names[phase], node=node))

        steps = set()
        for left, entered, way in passages.get(node, ()):
            notebook.counts["passages"] += 1
            alone = left == entered or entered == -1
            if not way and not (alone and left != -1 and images.phases[left].barrier is not None):
                note("a passage leads through no phase", "a phase on the way, or a barrier that others need")
            for phase in way:
                if phase not in silent:
                    note(
                        "a passage leads through it",
                        "phases in which the node has a part but no operator",
                        phase,
                    )
            for end in (left, entered):
                if end != -1 and end not in called:
                    note("a passage begins or ends in it", "a phase in which the node has an operator", end)
            path = (left, *way, entered)
            for a, b in pairwise(path):
                steps.add((a, b))
                if a == b and not way:
                    continue
                if a != -1 and b != -1 and b not in following[node].get(a, ()):
                    note(f"a passage leads from it to phase {names[b]}", "a phase that can follow it", a)
        for phase in sorted(silent):
            if not any(phase in way for _, _, way in passages.get(node, ())):
                note("the node has a part in it, but no operator and no passage", "a passage through it", phase)
                continue
            for before in sorted(following[node]):
                if before != phase and phase in following[node][before] and (before, phase) not in steps:
                    note(f"no passage leads to it from phase {names[before]}", "a passage for every way", phase)
            for after in following[node][phase]:
                if after != phase and (phase, after) not in steps:
                    note(f"no passage leads from it to phase {names[after]}", "a passage for every way", phase)
            if not following[node][phase] and (phase, -1) not in steps:
                note("no passage leads from it to the end", "a passage for every way", phase)
            if all(phase not in later for later in following[node].values()) and (-1, phase) not in steps:
                note("no passage leads to it from the beginning", "a passage for every way", phase)


def _inner(phase: PhaseImage) -> tuple[int | None, int | None]:
    return phase.barrier, phase.online
