"""Known traffic compiled, the rest carried beside it in channels of its own (Yuan 1998, §2.4, on dynamic patterns).

A frame has a slot for each compiled configuration that switches hold at a time, and behind these the channels that are kept for
what is not known: for reservations, or for the connections of a logical topology over which packets hop. Channels separate the
two completely, so neither holds up the other; what each pays is the longer frame.
"""

from __future__ import annotations

import numpy as np

from .compiled import room_of, run_compiled
from .logical import Logical
from .multihop import hop
from .outcome import Outcome
from .reservation import reserve
from .spec import Spec
from .timeline import joined
from .traffic import together


def run_mixed(spec: Spec, topology: Logical | None) -> Outcome:
    """The messages of a specification that has dynamic ones; ``topology`` is for those that hop.

    Raises
    ------
    PointsmanError
        As the simulators.
    """
    dynamic = spec.dynamic
    assert dynamic is not None
    known, others = spec.phases[0].split(dynamic.known)
    if dynamic.by == "multihop":
        assert topology is not None
        kept = topology.degree
    else:
        kept = dynamic.channels
    first = run_compiled(spec.fabric, known, spec.registers, slots=spec.slots, seed=spec.seed, behind=kept)
    before = room_of(first.counts["degree"], spec.registers)
    if dynamic.by == "multihop":
        assert topology is not None
        second = hop(topology, spec.switch, others, slots=spec.slots, before=before)
    else:
        second = reserve(spec.fabric, kept, spec.scheme, others, slots=spec.slots, seed=spec.seed, before=before)
    counts = {name: value for part in (first, second) for name, value in part.counts.items()}
    return Outcome(
        together(known, others),
        np.concatenate([first.established, second.established]),
        np.concatenate([first.started, second.started]),
        np.concatenate([first.done, second.done]),
        max(first.slots, second.slots),
        second.retries,
        {
            **counts,
            "degree": before + kept,
            "compiled_channels": before,
            "dynamic_channels": kept,
            "dynamic_by": dynamic.by,
        },
        joined([(first.timeline, 0, 0), (second.timeline, 0, len(known))]),
    )
