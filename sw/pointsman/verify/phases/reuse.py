"""TODO"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from numesh.codes import Codes, MoveType
from pointsman.artifacts.images.images import Images
from pointsman.verify.node.node import NodeView
from pointsman.verify.phases.continuing import Standing
from pointsman.verify.phases.phase_order import later_phases, meets
from pointsman.verify.phases.skew import Skew
from pointsman.verify.report import Finding, Notebook


def check_kept_registers(
    images: Images,
    codes: Codes,
    views: Sequence[Mapping[int, NodeView]],
    following: Sequence[Mapping[int, tuple[int, ...]]],
    standing: Standing,
    skew: Skew,
    notebook: Notebook,
) -> None:
    """A phase that is left by messages alone and entered again keeps its registers to itself.

    A neighbour that is ahead may send words of its next use, if the node reads its link, while this node is still in it; they
    wait in the phase's registers and must not be taken for another phase's.
    """
    for node in range(images.topology.nodes):
        used = {
            phase: {
                code
                for vfsm, choices in views[phase][node].possible().items()
                if vfsm not in standing.at(node, phase)
                for annotation in choices
                for code in (annotation.source, annotation.destination)
                if codes.is_register(code)
            }
            for phase in following[node]
        }
        for phase in following[node]:
            loose = images.phases[phase].technique != "none" and not meets(images, node, phase)
            if not loose or phase not in later_phases(following[node], phase):
                continue
            read = {
                one.source
                for choices in views[phase][node].possible().values()
                for one in choices
                if one.type != MoveType.FORK
            }
            around = {
                end
                for port, (end, _) in images.topology.at_port[node].items()
                if end in views[phase] and codes.neighbour(port) in read
            }
            if not any(skew.may_be(other, phase, node, phase) for other in around):
                notebook.counts["registers used again by dependency"] += len(used[phase])
                continue
            for other in following[node]:
                shared = used[phase] & used[other] if other != phase else set()
                if shared:
                    notebook.add(
                        Finding(
                            "registers",
                            f"{codes.name(min(shared))} is used in phase {images.phases[other].name} as well",
                            "registers of its own for a phase that messages alone close",
                            phase=images.phases[phase].name,
                            node=node,
                        )
                    )


def check_kept_vfsms(
    images: Images,
    codes: Codes,
    views: Sequence[Mapping[int, NodeView]],
    following: Sequence[Mapping[int, tuple[int, ...]]],
    standing: Standing,
    notebook: Notebook,
) -> None:
    """Phases may have VFSMs in common, the run time loads them, but not those in whose buffers words may wait meanwhile: of
    phases that are left by messages alone and entered again. Nor those of a phase whose schedule is made at run time, which
    takes numbers that are free. What continues has rules of its own (``check_continuing``)."""
    for node in range(images.topology.nodes):
        used: dict[int, set[tuple[int, int]]] = {}
        for phase in following[node]:
            used[phase] = set(views[phase][node].slots)
            used[phase] |= {(r.pipeline, r.vfsm) for r in views[phase][node].part.annotations}
            for (pipeline, _), choices in views[phase][node].possible().items():
                codes_of = (code for one in choices for code in (one.source, one.destination))
                used[phase] |= {(pipeline, code - codes.first_buffer) for code in codes_of if codes.is_buffer(code)}
            used[phase] -= standing.at(node, phase).keys()
        made = {images.operators[i].phase for i, _ in images.nodes[node].operators if images.operators[i].instances}
        for phase in following[node]:
            loose = images.phases[phase].technique != "none" and not meets(images, node, phase)
            if phase not in made and not (loose and phase in later_phases(following[node], phase)):
                continue
            why = "whose schedule is made at run time" if phase in made else "that messages alone close"
            for other in following[node]:
                for pipeline, vfsm in sorted(used[phase] & used[other])[:1] if other != phase else ():
                    notebook.add(
                        Finding(
                            "vfsm-numbers",
                            f"phase {images.phases[other].name} uses it as well",
                            f"VFSMs of its own for a phase {why}",
                            phase=images.phases[phase].name,
                            node=node,
                            pipeline=pipeline,
                            vfsm=vfsm,
                        )
                    )
