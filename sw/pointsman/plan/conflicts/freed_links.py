"""Links and slots of earlier phases that operators of a later phase may use all the same (Metcalf 1997, §5.3.4).

A node may linger in phase E when its neighbour is in phase L already, so L leaves alone the links and slots of E. But
if operator A of L tells the neighbour that the node has come to L, then operator B, which is always used after A, may
write them: the words of B set out when the node is no longer in E. Takes planned phases and links and slots to be left
alone; gives those that are free, by operator and source. Leaves alone: routes. Whether this still holds when L has been
routed again is checked then (``collisions``).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pointsman.plan.plan import PlannedPhase

from .happens_before import HappensBefore
from .link_slots import Link, link_writes
from .writers import in_its_turn, rescheduled

Freed = dict[tuple[str, int], frozenset[Link]]
"""By operator and source, links and slots that its words may use though others of the phase may not."""


def freed_links(
    known: HappensBefore, planned: Sequence[PlannedPhase], later: int, taken: Mapping[int, Collection[Link]]
) -> Freed:
    """Of the links and slots ``taken``, by the earlier phase that writes them, those that words of operators of ``later`` may use
    all the same: their sources have learnt, in ``later``, that the node at the other end has come to it (§5.3.4)."""
    before = known.structure.before
    if not before or not any(before[later].values()) or rescheduled(planned[later]):
        return {}
    holders: dict[Link, list[int]] = {}
    for p, links in taken.items():
        for link in links:
            holders.setdefault(link, []).append(p)
    writes = {p: link_writes(planned[p].routed) for p in taken}
    at_port = planned[later].routed.topology.at_port
    alike: dict[tuple[int, tuple[int, ...]], list[Link]] = {}
    for link, phases in holders.items():
        if all(link in writes[p] for p in phases):
            alike.setdefault((at_port[link[0]][link[1]][0], tuple(phases)), []).append(link)
    found: Freed = {}
    for one in planned[later].operators:
        label = one.operator.label
        if not before[later].get(label) or not in_its_turn(one):
            continue
        for source in sorted({planned[later].routed.streams[number].source for number in one.streams}):
            own = frozenset(
                link
                for (end, phases), links in alike.items()
                if all(known.begins(p, later, label, source, end) for p in phases)
                for link in links
            )
            if own:
                found[label, source] = own
    return found
