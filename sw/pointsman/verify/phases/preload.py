"""Rule "entered": operators whose load functions rewrite the router before they enter the phase, without a barrier for
it.

Takes all phases and the games of each; notes findings. Nothing tells such a load function that no word for the values
before is under way. This has to follow from how the phase is left (§4.1.1, §5.2.3): between any two uses of the
operator all nodes that its words pass go through the same barrier, and nothing else in the phase makes a node enter it
or stay. Example: a run-time broadcast over nodes 0, 1, 2 in a loop with another phase. Node 0 rewrites its router for
the next source while node 2 still reads the last word, which passes node 0; with a barrier of all three at the end of
the phase it cannot.

Load functions that rewrite each for itself (`OperatorImage.synchronised` is False) may be ahead of others: words for the next
value come to routers that still stand for the last one. They must find their way there, or wait: a VFSM may then read one link
at most and have one destination, for all values together. Example: the chain of a broadcast goes through nodes 0, 1, 2 for
every source between them; the source reads its interface register in place of the link, from which no words come.

Leaves to ``ends`` and ``drain`` that the barrier holds back every node, and that words which routers drop are gone by
then. The planner argues otherwise, from the program (``plan.termination.left_between_uses``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from numesh.codes import Codes
from pointsman.artifacts.images.images import SYNC, Images
from pointsman.verify.node.phase_view import made_operators
from pointsman.verify.report import Notebook
from pointsman.verify.stall_game.phase_games import PhaseGames

from .all_phases import AllPhases


def check_entered(phases: AllPhases, games: Sequence[PhaseGames | None], notebook: Notebook) -> None:
    """Check the rule "entered". ``games``: by phase; None for phases that no node leaves.

    Time: grows with the words' ways for all states of the operators concerned.
    """
    images = phases.images
    for index, operator in enumerate(images.operators):
        views = images.members[index]
        if not operator.synchronised:
            _check_alone(images, index, notebook)
            continue
        roles = [role for view in views.values() for role in view.roles]
        meets = any(lane.turn == SYNC for role in roles for lane in role.lanes)
        if meets or all(view.nodes == 1 for view in views.values()):
            continue
        notebook.counts["operators rewritten before they are entered"] += 1
        phase = operator.phase
        image = images.phases[phase]

        note = partial(notebook.note, "entered", operator=operator, phase=image.name)
        # Operators that continue do not change the phase, but a node must not enter the phase by such an operator.
        inner = {index, *made_operators(image)}
        others = [i for i in image.operators if i not in inner and not images.operators[i].continues]
        if others:
            label = images.operators[others[0]].label
            message = f"operator {label} is in its phase as well, and may be used while it is rewritten"
            note(message, "a phase of its own")
        for node in sorted(views):
            if any(view.enters == phase for _, view in images.nodes[node].operators):
                message = "the node may come to it by an operator that continues"
                note(message, "its own load function", node=node)
        own = games[phase]
        passed = own.passed(index) if own else {}
        for node in sorted(views):
            following = phases.following[node]
            if views[node].nodes == 1 or not following.comes_again(phase):
                continue  # only its own words pass it, or the operator is never used again
            if phase in following[phase]:
                message = "the node may come to it again without another phase in between"
                note(message, "a phase between two uses", node=node)
            missing = set(passed.get(node, ())) - _met(own, image.barrier, node) if own else set()
            if missing:
                message = f"words may still pass node {min(missing)} when the node rewrites for the next use"
                note(message, "a barrier of all nodes that its words pass at the end of the phase", node=node)


def _check_alone(images: Images, index: int, notebook: Notebook) -> None:
    """Check that routers which are rewritten one by one lead words of all values the same way."""
    operator, codes = images.operators[index], Codes(images.shape)
    if operator.remote or operator.instances or operator.online is not None:
        return  # commands of one node rewrite all others; schedules of load functions are their own
    for node, view in images.members[index].items():
        links: dict[tuple[int, int], tuple[set[int], set[int]]] = {}
        for role in view.roles if view.nodes > 1 else ():
            for one in role.rewrites:
                sources, destinations = links.setdefault((one.pipeline, one.vfsm), (set(), set()))
                if codes.is_neighbour(one.annotation.source):
                    sources.add(one.annotation.source)
                if one.annotation.destination != codes.nop:
                    destinations.add(one.annotation.destination)
        for (pipeline, vfsm), (sources, destinations) in sorted(links.items()):
            if len(sources) > 1 or len(destinations) > 1:
                names = ", ".join(codes.name(code) for code in sorted(sources | destinations))
                notebook.note(
                    "entered",
                    f"it is rewritten while words of other values may come to it, between {names}",
                    "one link to read and one place to send to for all values, or nodes that rewrite together",
                    operator,
                    node=node,
                    pipeline=pipeline,
                    vfsm=vfsm,
                )


def _met(games: PhaseGames, closing: int | None, node: int) -> set[int]:
    """Nodes that ``node`` meets in the barrier ``closing``; ``ends`` proves that it gets through only after them."""
    boards = games.games(closing, 0).all if closing is not None else []
    return {other for board in boards if node in board.lanes for other in board.lanes}
