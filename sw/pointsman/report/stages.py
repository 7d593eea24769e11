"""The stages of a compilation as plain values, for ``pointsman compile --emit``."""

from __future__ import annotations

from typing import Any

import msgspec

from pointsman.artifacts.images.images import Images
from pointsman.plan.plan import Plan, PlannedOperator


def plan_json(plan: Plan) -> dict[str, Any]:
    """A plan: phases with their operators, implementations and ends, then operators that continue."""
    return {
        "name": plan.name,
        "network": {"kind": plan.topology.kind, "size": list(plan.topology.size)},
        "shape": plan.shape.as_dict(),
        "beyond_chip": list(plan.shape.beyond_chip),
        "period": plan.period,
        "predicted_cycles": plan.cycles,
        "phases": [
            {
                "name": phase.name,
                "operators": [_operator_json(o) for o in phase.operators],
                "barrier": _operator_json(phase.barrier) if phase.barrier else None,
                "technique": phase.technique,
                "reason": phase.reason,
                "settle": phase.settle,
                "predicted_cycles": phase.cycles,
                "successors": sorted(s for s in plan.structure.successors[i] if s >= 0),
            }
            for i, phase in enumerate(plan.phases)
        ],
        "continuing": [
            {
                **_operator_json(one.operator),
                "phases": list(one.phases),
                "ends": list(one.ends),
                "predicted_cycles": one.planned.cycles,
            }
            for one in plan.continuing
        ],
    }


def _operator_json(planned: PlannedOperator) -> dict[str, Any]:
    return {
        "label": planned.operator.label,
        "kind": planned.operator.kind,
        "source": str(planned.operator.position or ""),
        "implementation": planned.implementation.name,
        "message_bound": planned.message_bound,
        "instances": [list(instance.nodes) for instance in planned.operator.instances],
        "values": [list(value) for value in planned.values],
        "delays": {str(node): list(delays) for node, delays in planned.delays.items()},
    }


def routes_json(plan: Plan) -> dict[str, Any]:
    """Streams, chains and VFSMs with their slots, by phase. VFSM numbers are virtual: they start from 2 in each phase."""
    return {
        "period": plan.period,
        "phases": [
            {
                "name": phase.name,
                "seconds": phase.routed.seconds,
                "streams": [
                    {
                        "name": stream.name,
                        "also": list(stream.also),
                        "source": stream.source,
                        "destinations": list(stream.destinations),
                        "bandwidth": phase.routed.bandwidth(i),
                        "chains": [
                            [
                                {
                                    "node": vfsm.node,
                                    "pipeline": vfsm.pipeline,
                                    "vfsm": vfsm.number,
                                    "type": vfsm.type.name,
                                    "source": [vfsm.source.kind, vfsm.source.number],
                                    "destination": [vfsm.destination.kind, vfsm.destination.number],
                                    "slots": list(vfsm.slots),
                                }
                                for vfsm in chain.vfsms
                            ]
                            for chain in phase.routed.chains_of(i)
                        ],
                    }
                    for i, stream in enumerate(phase.routed.streams)
                ],
            }
            for phase in (*plan.phases, *(one.planned for one in plan.continuing))
        ],
    }


def images_json(images: Images) -> Any:
    """Everything in an image file."""
    return msgspec.to_builtins(images)
