"""Division into phases and node -> schedule lengths to try, and how many phases a node may have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import ceil

from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.operators.scheduled.broadcast import StrBcastRound
from pointsman.operators.scheduled.shift import StrShiftRound
from pointsman.plan.errors import PlanError
from pointsman.plan.structure.structure import Structure
from pointsman.routing.phase_router.in_turn import lengths_in_turn
from pointsman.routing.phase_router.packed import packed_length
from pointsman.routing.phase_router.rounds import round_lengths
from pointsman.routing.streams import RoutedPhase, accesses

PERIODS = (8, 16, 24, 32, 40)
"""Schedule lengths, in slots, among which the compiler chooses."""
SHORTER = tuple(range(2, PERIODS[0]))
"""Schedule lengths, in slots, that are tried near the best plan if they have room for a word of each of its streams."""
LONGER = (48, 64, 96, 128, 192, 256)
"""Schedule lengths, in slots, that are tried if no plan is found with any of those."""
LONGEST_IN_TURN = 24
"""Slots of such a schedule for words that processors pass on, at most."""
CROWDED = 0.9
"""Share of the moves of the nodes that streams use, at most, for a schedule to be tried that is shorter than usual."""
RESIDENT = 2
"""Least phases that the schedule memory must hold besides the loader phase."""


def schedule_lengths(
    structure: Structure,
    shape: NodeShape,
    asked: int | None,
    needed: int = 2,
    topology: Topology | None = None,
    chosen: Mapping[str, str] = {},
) -> list[int]:
    """Schedule lengths to try, in slots: ``asked``, if given; else those with which all phases fit the schedule memory;
    else those with which it holds RESIDENT phases besides the loader phase, so that phases take turns. The phases that
    operators have for their several values count as one: they may take turns anyway. If none of these lengths has the
    ``needed`` slots, also the first that has them and lets phases take turns. Phases of broadcasts
    round a cycle, and of shifts of a word a period on ``topology``, have lengths of their own, and the others take these."""
    least = min(len(structure.phases), RESIDENT) + 1
    blocks = max(least, _apart_from_values(structure) + 1)
    fitting = [p for p in PERIODS if blocks * p <= shape.schedule_depth]
    sharing = [p for p in PERIODS if least * p <= shape.schedule_depth]
    lengths = [asked] if asked is not None else fitting or sharing or [max(2, shape.schedule_depth // least)]
    if asked is None:
        most = shape.schedule_depth // least
        lengths = _of_rounds(structure, shape, most, chosen) or _of_shifts(structure, shape, most, topology) or lengths
    if asked is None and lengths[-1] < needed:
        lengths += [p for p in range(PERIODS[0], longest(structure, shape) + 1, PERIODS[0]) if p >= needed][:1]
    if least * lengths[0] > shape.schedule_depth:
        phases = "a phase" if least == 2 else f"{least - 1} phases"
        raise PlanError(
            f"{phases} and the loader phase of {lengths[0]} slots each do not fit a schedule "
            f"memory of {shape.schedule_depth} entries",
            hint="use a shorter schedule, fewer phases, or a node with a deeper schedule memory",
        )
    return lengths


def _of_rounds(structure: Structure, shape: NodeShape, most: int, chosen: Mapping[str, str]) -> list[int]:
    """Schedule lengths that suit phases of broadcasts round a cycle, beside which shifts may go between neighbours."""
    found = set()
    for phase in structure.phases:
        ways = [(one, chosen.get(one.label, one.impl)) for one in phase.operators]
        around = [one for one, way in ways if way == StrBcastRound.name]
        others = [one for one, way in ways if way != StrBcastRound.name]
        if around and all(operator.kind == "eoshift" for operator in others):
            most_nodes = max(len(one.nodes) for operator in around for one in operator.instances)
            found |= {n for n in round_lengths(most_nodes, len(around), shape, most) if n >= PERIODS[0]}
    return sorted(found)


def _of_shifts(structure: Structure, shape: NodeShape, most: int, topology: Topology | None) -> list[int]:
    """The schedule length with which each phase of shifts of a word a period finds room."""
    found = []
    for phase in structure.phases:
        shifts = [operator for operator in phase.operators if operator.impl == StrShiftRound.name]
        if topology is not None and shifts and len(shifts) == len(phase.operators):
            pairs = tuple((source, end) for operator in shifts for *_, source, end in StrShiftRound().pairs(operator))
            found.append(packed_length(pairs, topology, shape, most))
    return [max(length for length in found if length is not None)] if any(found) and None not in found else []


def shorter_lengths(phases: Sequence[RoutedPhase]) -> list[int]:
    """Lengths of SHORTER that have room for a word of each stream of these phases, as far as counting tells: each node begins and
    delivers no more streams than it can make moves, and with routes as long as these all nodes together use a share of `CROWDED`.

    A word waits for its slot for up to a period, and loading takes four cycles or more a slot, so few words go quickest with the
    shortest schedule; and in three slots a stream has a word every three cycles, where it has two words in eight. Also longer
    ones that suit phases of single words that processors pass on (`in_turn`)."""
    least = SHORTER[0]
    for phase in phases:
        ends = accesses(phase.streams)
        chains = {chain.stream: chain for chain in reversed(phase.chains)}.values()
        moves = Counter(vfsm.node for chain in chains for vfsm in chain.vfsms)
        mean = sum(moves.values()) / max(1, len(moves))
        least = max(least, ceil(max(mean / CROWDED, *ends.values(), 0) / phase.shape.pipelines))
    found = {length for length in SHORTER if length >= least}
    for phase in phases:
        found |= {length for length in lengths_in_turn(phase, LONGEST_IN_TURN) if length > SHORTER[-1]}
    return sorted(found - set(PERIODS))


def _apart_from_values(structure: Structure) -> int:
    """Number of phases, those that operators have for their values counted once."""
    by_value = {tuple(o.label for o in phase.operators) for phase in structure.phases if phase.value is not None}
    return len(by_value) + sum(phase.value is None for phase in structure.phases)


def other_lengths(shape: NodeShape, tried: Collection[int]) -> list[int]:
    """Lengths to try when no plan is found with those ``tried``: those of LONGER with which the schedule memory holds a phase
    besides the loader phase, after those of PERIODS if operators had lengths of their own tried instead of these."""
    lengths = LONGER if not tried or not set(PERIODS).isdisjoint(tried) else (*PERIODS, *LONGER)
    return [length for length in lengths if 2 * length <= shape.schedule_depth]


def longest(structure: Structure, shape: NodeShape) -> int:
    """Slots of the longest schedule of which the schedule memory holds as many as it has to."""
    return shape.schedule_depth // min(len(structure.phases) + 1, 1 + RESIDENT)


def refuse_many_phases(structure: Structure, most: int | None) -> None:
    """Raise `PlanError` if a node has more phases than it may have (Metcalf 1997, §4.1.3: "a limit on the number of
    phases per node, so as not to overwhelm the node memory with phase data")."""
    if most is None:
        return
    count = Counter(node for phase in structure.phases for node in phase.nodes)
    node = max(count, key=lambda node: (count[node], -node), default=None)
    if node is not None and count[node] > most:
        raise PlanError(
            f"node {node} would have {count[node]} phases, and may have {most}",
            hint="allow more phases, or name fewer :values of what has a schedule for each",
        )
