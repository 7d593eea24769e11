"""The judge of compiled schedules: proves from the images alone that each promise is kept.

Takes ``Images`` as they go into the hardware and gives a ``CheckReport``. Uses the codes, the shape and the network;
knows nothing of how streams are routed or planned, so that it can test whatever makes a schedule. ``report.RULES`` has
the rules, their sources, and the modules that prove them.

Every phase is checked for every value of each operator (others at their first value), and for every pair of values of
two operators if the pairs are not too many (``MOST_PAIRS``).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images
from pointsman.garbage import seldom_collected

from .meaning.made import Made, check_made
from .meaning.meaning import check_meaning
from .meaning.messages import Scripts, check_messages
from .meaning.replaced import check_replaced
from .node.gates import check_gates
from .node.node import Place
from .node.phase_view import PhaseView, phase_views
from .node.role_choices import role_choices
from .node.rules import role_problems, schedule_problems
from .node.subphases import check_subphases, second_schedules
from .phases.all_phases import AllPhases
from .phases.broadcast_barriers import check_broadcast_barriers
from .phases.continuing import check_continuing, widened
from .phases.drain import check_dropped
from .phases.ends import check_ends, phase_games
from .phases.links import check_aliased, check_reprogramming, check_wires
from .phases.passages import check_passages
from .phases.preload import check_entered
from .phases.reuse import check_kept_registers, check_kept_vfsms
from .phases.rewriting import check_pointers, check_rewritten
from .phases.settling import check_settling
from .phases.skew import Skew
from .phases.threads import check_barriers, check_links, check_ways
from .report import RULES, CheckReport, Finding, Notebook, Rule
from .stall_game.phase_games import PhaseGames
from .structure.knowledge import check_knowledge
from .structure.rings import check_rings
from .structure.structure import check_structure
from .structure.value_schedules import check_schedules
from .words.commands import check_commands
from .words.online import check_online
from .words.streams import MOST_PAIRS, PhaseStreams, Words

__all__ = ["MOST_PAIRS", "RULES", "CheckReport", "Finding", "Rule", "check_images"]


@seldom_collected
def check_images(images: Images, scripts: Scripts | None = None, made: Made | None = None) -> CheckReport:
    """Judge ``images``; the report is ``ok`` if no rule is broken.

    Time grows with phases x values x VFSMs of the streams concerned; memory with the VFSMs.

    Parameters
    ----------
    scripts : callable or None
        How the run time carries out operators by messages that processors pass on. None: what these operators mean is left out.
    made : callable or None
        What makes schedules at run time. None: these schedules are left out.
    """
    notebook = Notebook()
    owners: dict[tuple[str, int, int, int], tuple[str, str]] = {}
    check_structure(images, notebook)
    if notebook.stopped:
        notebook.leave_out("every rule after the structure, which must be right first")
        return notebook.report(images.name, owners)
    notebook.counts["nodes"] = len(images.nodes)
    notebook.counts["phases"] = len(images.phases)
    notebook.counts["operators"] = len(images.operators)
    views = phase_views(images, Codes(images.shape))
    words: list[Words] = []
    places: list[Mapping[Place, int]] = []
    games: list[PhaseGames | None] = []
    for view in views:
        _check_nodes(view, notebook)
        if images.shape.aliased_handshake:
            check_aliased(view, notebook)
        streams = PhaseStreams(view, widened(views, view.phase), notebook)
        games.append(_check_streams(view, streams, notebook))
        check_rewritten(streams, notebook)
        words.append(streams.words())
        places.append(streams.owner)
        for place, index in streams.owner.items():
            owners[view.name, *place] = (images.operators[index].label, images.operators[index].source)
        check_gates(view, notebook)
    _check_between(AllPhases(images, views, places), words, games, notebook)
    if scripts is None and any(one.online is not None for one in images.operators):
        notebook.leave_out("what operators mean whose messages processors pass on")
    sent = {} if scripts is None else check_messages(images, scripts, notebook)
    check_online(images, sent, notebook)
    check_schedules(images, notebook)
    check_rings(images, notebook)
    check_knowledge(images, notebook)
    check_meaning(images, notebook)
    check_replaced(images, notebook)
    if any(one.instances for one in images.operators):
        if made is None:
            notebook.leave_out("schedules that are made at run time")
        elif not notebook.broken:
            check_made(images, made, check_images, notebook)
    return notebook.report(images.name, owners)


def _check_between(
    phases: AllPhases, words: Sequence[Words], games: Sequence[PhaseGames | None], notebook: Notebook
) -> None:
    """Check the rules that need to know of other phases."""
    for view in phases.views:
        check_reprogramming(phases, view.phase, notebook)
        check_links(view, phases, notebook)
        for again in second_schedules(view, notebook):
            _check_nodes(again, notebook)
            _check_streams(again, PhaseStreams(again, again.nodes, notebook), notebook)
            check_links(again, phases, notebook)
        check_subphases(view, notebook)
        check_commands(view, notebook)
    check_ways(phases, notebook)
    check_continuing(phases, notebook)
    check_pointers(phases, notebook)
    check_barriers(phases, words, notebook)
    skew = Skew(phases, games)
    check_wires(phases, skew, words, notebook)
    check_kept_registers(phases, skew, notebook)
    check_kept_vfsms(phases, notebook)
    check_passages(phases, notebook)
    check_entered(phases, games, notebook)


def _check_nodes(view: PhaseView, notebook: Notebook) -> None:
    """Check the rules that each node must keep by itself, for all roles that it can have in the phase."""
    right: dict[Hashable, int] = {}
    for node, own in view.nodes.items():
        notebook.counts["VFSMs"] += len(own.slots)
        notebook.counts["VFSM slots"] += sum(map(len, own.slots.values()))
        alike = own.alike()
        known = right.get(alike)
        if known is not None and not notebook.broken:
            notebook.counts["node roles"] += known
            continue
        for problem in schedule_problems(own):
            notebook.add(problem.at(view.name, node))
        roles = 0
        for (key,), values in role_choices(view.images, (own,), notebook, view.name):
            roles += 1
            for problem in role_problems(own.state(key)):
                notebook.add(problem.at(view.name, node, values))
        notebook.counts["node roles"] += roles
        right[alike] = roles


def _check_streams(view: PhaseView, streams: PhaseStreams, notebook: Notebook) -> PhaseGames | None:
    """Check the words of a phase and its end; gives the games of the phase, None if no end needs them."""
    streams.check()
    games = phase_games(view, streams, notebook)
    check_broadcast_barriers(view, streams, notebook)
    if games is not None:
        check_ends(games)
        check_dropped(games)
        check_settling(games)
    return games
