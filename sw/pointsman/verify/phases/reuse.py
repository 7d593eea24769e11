"""Rules "registers" and "vfsm-numbers" between phases: words that wait in a phase are not taken for another's (§5.4.2, §5.2.3).

Takes all phases and who may be ahead of whom; notes findings. If nodes leave a phase by their own messages, without a
barrier, and come to it again, words of its next use may arrive while a node is still in another phase. Example: node 1
has left phase A for phase B; node 0, ahead by a round, sends its next word of A, which waits in a register or VFSM
buffer of A at node 1. If B used the same register, node 1's processor would read it as a word of B. So such a phase has
registers and VFSM numbers of its own; registers may be shared if no neighbour can be ahead (``skew``).

Leaves operators that continue to ``continuing``, and use within a phase to ``node.rules`` and ``words.streams``.
"""

from __future__ import annotations

from numesh.codes import MoveType
from pointsman.verify.node.node import NodeView, Vfsm
from pointsman.verify.report import Notebook

from .all_phases import AllPhases
from .skew import Skew


def check_kept_registers(phases: AllPhases, skew: Skew, notebook: Notebook) -> None:
    """Check that a phase that nodes leave by messages alone and enter again shares no register with another phase.

    A neighbour that is ahead may already send words of the phase's next use over a link that the node reads while it is
    still in the phase; they wait in the phase's registers and must not be taken for words of another phase.
    """
    for node, following in enumerate(phases.following):
        used = {phase: _registers(phases, node, phase) for phase in following}
        for phase in following:
            if not phases.stays_loose(node, phase):
                continue
            view = phases.views[phase]
            read = {
                one.source
                for choices in view.nodes[node].possible().values()
                for one in choices
                if one.type != MoveType.FORK
            }
            around = {
                end
                for port, (end, _) in view.images.topology.at_port[node].items()
                if end in view.nodes and view.codes.neighbour(port) in read
            }
            if not any(skew.may_be(other, phase, node, phase) for other in around):
                notebook.counts["registers used again by dependency"] += len(used[phase])
                continue
            if skew.cut_short:
                skew.leave_out(notebook)
                continue
            for other in following:
                shared = used[phase] & used[other] if other != phase else set()
                if shared:
                    notebook.note(
                        "registers",
                        f"{view.codes.name(min(shared))} is used in phase {phases.name(other)} as well",
                        "registers of its own for a phase that messages alone close",
                        phase=view.name,
                        node=node,
                    )


def _registers(phases: AllPhases, node: int, phase: int) -> set[int]:
    """Codes of the interface registers that VFSMs of a node may use in a phase, but for continuing operators."""
    view = phases.views[phase]
    return {
        code
        for vfsm, choices in view.nodes[node].possible().items()
        if vfsm not in phases.continuing(node, phase)
        for annotation in choices
        for code in (annotation.source, annotation.destination)
        if view.codes.is_register(code)
    }


def check_kept_vfsms(phases: AllPhases, notebook: Notebook) -> None:
    """Check which phases share VFSM numbers. They may, as the run time loads VFSMs, with two exceptions: phases that
    nodes leave by messages alone and enter again, as words may wait in the VFSMs' buffers; and phases whose schedule is
    made at run time, which takes free numbers."""
    images = phases.images
    for node, following in enumerate(phases.following):
        used = {
            phase: _vfsms(phases.views[phase].nodes[node]) - phases.continuing(node, phase).keys()
            for phase in following
        }
        made = {images.operators[i].phase for i, _ in images.nodes[node].operators if images.operators[i].instances}
        for phase in following:
            if phase not in made and not phases.stays_loose(node, phase):
                continue
            why = "whose schedule is made at run time" if phase in made else "that messages alone close"
            for other in following:
                for pipeline, vfsm in sorted(used[phase] & used[other])[:1] if other != phase else ():
                    notebook.note(
                        "vfsm-numbers",
                        f"phase {phases.name(other)} uses it as well",
                        f"VFSMs of its own for a phase {why}",
                        phase=phases.name(phase),
                        node=node,
                        pipeline=pipeline,
                        vfsm=vfsm,
                    )


def _vfsms(view: NodeView) -> set[Vfsm]:
    """VFSMs of a node in a phase: scheduled, annotated, or with a buffer that another VFSM names."""
    used = set(view.slots) | {(r.pipeline, r.vfsm) for r in view.part.annotations}
    for (pipeline, _), choices in view.possible().items():
        named = (code for one in choices for code in (one.source, one.destination))
        used |= {(pipeline, code - view.codes.first_buffer) for code in named if view.codes.is_buffer(code)}
    return used
