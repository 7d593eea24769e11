"""Rule "passages": a node passes every phase in which its router has a part (Metcalf 1997, §5.2, §5.5.2).

Takes all phases; notes findings. A node whose router only passes on the words of others has a part in a phase but no
operator there whose load function would enter it, or only operators that it may pass over. Passages, lists of phases to go
through between two operators, must do so instead. Proves that each passage is a way that the program allows, and that every way
into and out of such a phase has its passage.

Leaves to ``threads`` whether the ways of nodes with threads are those of the program.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from pointsman.verify.report import Notebook

from .all_phases import AllPhases


def check_passages(phases: AllPhases, notebook: Notebook) -> None:
    """Check that every phase of a node is entered by a load function or is on the way of a passage."""
    images = phases.images
    passages: dict[int, list[tuple[int, int, tuple[int, ...]]]] = {}
    for node, left, entered, way in images.passages:
        passages.setdefault(node, []).append((left, entered, way))
    for node, image in enumerate(images.nodes):
        called = phases.called(node)
        silent = {part.phase for part in image.phases} - called
        note = partial(notebook.note, "passages", node=node)
        following = phases.following[node]
        steps = set()
        for left, entered, way in passages.get(node, ()):
            notebook.counts["passages"] += 1
            alone = left == entered or entered == -1
            if not way and not (alone and left != -1 and images.phases[left].barrier is not None):
                note("a passage leads through no phase", "a phase on the way, or a barrier that others need")
            for phase in way:
                # A node also passes phases whose operators it may pass over, such as optional ones beside others.
                if phase not in silent and phase not in called:
                    note("a passage leads through it", "phases in which the node has a part", phase=phases.name(phase))
            for end in (left, entered):
                if end != -1 and end not in called:
                    note(
                        "a passage begins or ends in it",
                        "a phase in which the node has an operator",
                        phase=phases.name(end),
                    )
            path = (left, *way, entered)
            for a, b in pairwise(path):
                steps.add((a, b))
                if a == b and not way:
                    continue
                if a != -1 and b != -1 and b not in following[a]:
                    message = f"a passage leads from it to phase {phases.name(b)}"
                    note(message, "a phase that can follow it", phase=phases.name(a))
        ends = [(left, entered) for left, entered, _ in passages.get(node, ())]
        for left, entered in sorted({one for one in ends if ends.count(one) > 1}):
            names = [phases.name(one) if one >= 0 else "either end of the program" for one in (left, entered)]
            note(f"several passages lead from {names[0]} to {names[1]}", "one, as a node takes one")
        for phase in sorted(silent):
            lacks = partial(note, phase=phases.name(phase))
            if not any(phase in way for _, _, way in passages.get(node, ())):
                lacks("the node has a part in it, but no operator and no passage", "a passage through it")
                continue
            for before in following.before(phase):
                if before != phase and (before, phase) not in steps:
                    lacks(f"no passage leads to it from phase {phases.name(before)}", "a passage for every way")
            for after in following[phase]:
                if after != phase and (phase, after) not in steps:
                    lacks(f"no passage leads from it to phase {phases.name(after)}", "a passage for every way")
            if not following[phase] and (phase, -1) not in steps:
                lacks("no passage leads from it to the end", "a passage for every way")
            if not following.before(phase) and (-1, phase) not in steps:
                lacks("no passage leads to it from the beginning", "a passage for every way")
