"""Operators whose load functions rewrite the router before they enter the phase, and do not meet for it.

Nobody tells such a load function that no word of the values before is on its way. So that has to follow from how the phase is
left: through what holds back every node that these words pass, between any two uses of the operator, with nothing else in the
phase that could make a node enter or stay. That words which the router drops are gone by then is for ``check_ends`` to see.

Knows images and the games of words; nothing of plans (there it is ``plan.termination.left_between_uses``, which
argues from the program).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pointsman.artifacts.images.images import SYNC, Images
from pointsman.verify.report import Finding, Notebook

from .ends import Ends
from .phase_order import later_phases


def check_entered(
    images: Images,
    following: Sequence[Mapping[int, tuple[int, ...]]],
    ends: Sequence[Ends | None],
    notebook: Notebook,
) -> None:
    """Rule "entered". Time: one board for each state of the operators in question.

    Parameters
    ----------
    following : sequence of mapping
        By node, phases that can come next after each of its own.
    ends : sequence of Ends or None
        By phase; None where nobody goes on.
    """
    for index, operator in enumerate(images.operators):
        views = images.members[index]
        if not operator.synchronised:
            continue
        roles = [role for view in views.values() for role in view.roles]
        meets = any(lane.turn == SYNC for role in roles for lane in role.lanes)
        if meets or not any(role.rewrites for role in roles):
            continue
        notebook.counts["operators rewritten before they are entered"] += 1
        phase = operator.phase
        image = images.phases[phase]

        def note(message: str, right: str, node: int | None = None, index: int = index, name: str = image.name) -> None:
            one = images.operators[index]
            notebook.add(
                Finding("entered", message, right, phase=name, node=node, operator=one.label, source=one.source)
            )

        # What continues changes nothing of the phase, but a node must not come to it that way.
        inner = {index, image.barrier, image.online}
        others = [i for i in image.operators if i not in inner and not images.operators[i].continues]
        if others:
            label = images.operators[others[0]].label
            note(
                f"operator {label} is in its phase as well, and may be used while it is rewritten", "a phase of its own"
            )
        for node in sorted(views):
            if any(view.enters == phase for _, view in images.nodes[node].operators):
                note("the node may come to it by an operator that continues", "its own load function", node)
        games = ends[phase]
        for node in sorted(views):
            if views[node].nodes == 1 or phase not in later_phases(following[node], phase):
                continue  # nobody's words but its own, or never used again
            if phase in following[node][phase]:
                note("the node may come to it again without another phase in between", "a phase between two uses", node)
            missing = _passed(games, index, node) - _met(games, image.barrier, node) if games else set()
            if missing:
                note(
                    f"words may still pass node {min(missing)} when the node rewrites for the next use",
                    "a barrier of all nodes that its words pass at the end of the phase",
                    node,
                )


def _passed(ends: Ends, index: int, node: int) -> set[int]:
    """Nodes that words of the operator pass which pass this one, for some values."""
    found: set[int] = set()
    for state in ends.states(index):
        games = ends.games(index, state)
        for game in games.all:
            if node in game.nodes:
                found |= set(game.nodes)
    return found


def _met(ends: Ends, closing: int | None, node: int) -> set[int]:
    """Nodes that meet this one in what closes the phase; that nobody gets through before them is proven in ``check_ends``."""
    games = ends.games(closing, 0).all if closing is not None else []
    boards = [set(game.lanes) for game in games if node in game.lanes]
    return set().union(*boards)
