"""The judge of compiled schedules: proves from the images alone that each promise is kept.

Takes ``Images`` as they go into the hardware and gives a ``CheckReport``. Uses the codes, the shape and the network;
knows nothing of how streams are routed or planned, so that whatever makes a schedule is tested by it.

Every phase is looked at for every value of each operator (others at their first value), and for every pair of values of
two operators where these are not too many. The rules and their sources are ``check_report.RULES``.

Non-goals: whether a settling time is long enough, and what becomes of words while a load function rewrites.
"""

from __future__ import annotations

from collections.abc import Mapping

from numesh.codes import Codes
from pointsman.artifacts.images.images import Images
from pointsman.garbage import seldom_collected
from pointsman.verify.phases.links import check_aliased, check_reprogramming, check_wires
from pointsman.verify.phases.phase_order import check_passages, following_phases
from pointsman.verify.phases.reuse import check_kept_registers, check_kept_vfsms
from pointsman.verify.phases.role_choices import role_choices
from pointsman.verify.words.streams import MOST_PAIRS, _PhaseStreams

from .node.gates import check_gates
from .node.node import NodeView, Place
from .node.subphases import check_subphases, parts_in, second_schedules
from .phases.continuing import Standing, check_continuing, widened
from .phases.ends import Ends
from .phases.preload import check_entered
from .phases.skew import Skew
from .phases.threads import check_barriers, check_links, check_ways
from .report import RULES, CheckReport, Finding, Notebook, Rule
from .structure.structure import check_structure
from .structure.value_schedules import check_schedules
from .words.commands import check_commands
from .words.online import check_online

__all__ = ["MOST_PAIRS", "RULES", "CheckReport", "Finding", "Rule", "check_images"]


@seldom_collected
def check_images(images: Images) -> CheckReport:
    """Judge ``images``.

    Time grows with phases x values x VFSMs of the streams concerned; memory with the VFSMs.

    Returns
    -------
    CheckReport
        ``ok`` if no rule is broken.
    """
    notebook = Notebook()
    owners: dict[tuple[str, int, int, int], tuple[str, str]] = {}
    check_structure(images, notebook)
    if notebook.stopped:
        notebook.unchecked.append("every rule after the structure, which must be right first")
        return notebook.report(images.name, owners)
    codes = Codes(images.shape)
    views: list[dict[int, NodeView]] = [{} for _ in images.phases]
    for node, image in enumerate(images.nodes):
        for part in image.phases:
            views[part.phase][node] = NodeView(images, codes, node, part)
    following = [following_phases(images, node) for node in range(len(images.nodes))]
    senders: list[dict[Place, list[tuple[int, str]]]] = []
    words: list[dict[Place, set[tuple[int, int]]]] = []
    ends: list[Ends | None] = []
    places: list[Mapping[Place, int]] = []
    """By phase, the operator to which each VFSM belongs."""
    counts = notebook.counts
    counts["nodes"] = len(images.nodes)
    counts["phases"] = len(images.phases)
    counts["operators"] = len(images.operators)
    for phase in range(len(images.phases)):
        _check_nodes(images, views[phase], phase, notebook)
        if images.shape.aliased_handshake:
            check_aliased(images, codes, views[phase], phase, notebook)
        leaving = {node: following[node][phase] for node in views[phase]}
        check_reprogramming(images, views[phase], phase, leaving, notebook)
        streams = _PhaseStreams(images, codes, views[phase], widened(images, views, phase), phase, notebook)
        streams.check(owners)
        senders.append(streams.senders())
        words.append(streams.words())
        places.append(streams.owner)
        ends.append(streams.ends)
        check_gates(images, codes, views[phase], phase, notebook)
    standing = Standing(images, places)
    for phase in range(len(images.phases)):
        check_links(images, codes, views[phase], phase, standing, notebook)
        for other in second_schedules(images, views[phase], phase, notebook):
            again = {node: NodeView(other, codes, node, part) for node, part in parts_in(other, phase).items()}
            _check_nodes(other, again, phase, notebook)
            _PhaseStreams(other, codes, again, again, phase, notebook).check({})
            check_links(other, codes, again, phase, standing, notebook)
        check_subphases(images, codes, views[phase], phase, notebook)
        check_commands(images, codes, views[phase], phase, notebook)
    check_ways(images, notebook)
    check_continuing(images, codes, views, following, standing, notebook)
    check_barriers(images, codes, views, following, senders, standing, notebook)
    skew = Skew(images, ends)
    check_wires(images, codes, views, following, standing, skew, words, notebook)
    check_kept_registers(images, codes, views, following, standing, skew, notebook)
    check_kept_vfsms(images, codes, views, following, standing, notebook)
    check_passages(images, following, notebook)
    check_entered(images, following, ends, notebook)
    check_online(images, notebook)
    check_schedules(images, notebook)
    return notebook.report(images.name, owners)


def _check_nodes(images: Images, views: Mapping[int, NodeView], phase: int, notebook: Notebook) -> None:
    """Rules that each node must keep by itself, for all roles that it can have."""
    name = images.phases[phase].name
    for node, view in views.items():
        notebook.counts["VFSMs"] += len(view.slots)
        notebook.counts["VFSM slots"] += sum(map(len, view.slots.values()))
        for problem in view.scheduled_problems():
            notebook.add(problem.at(name, node))
        for (key,), values in role_choices(images, (view,), notebook, name):
            notebook.counts["node roles"] += 1
            for problem in view.state(key).problems():
                notebook.add(problem.at(name, node, values))
