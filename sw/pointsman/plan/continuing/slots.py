"""More slots for operators that continue, phase by phase (Metcalf 1997, §5.1.1, §6.3.2).

An operator that continues has the slots of its first route in all of its phases. Here it also gets slots that are still
free in each phase: the same VFSMs carry more words a period. Takes planned phases and the routes of continuing
operators; gives the phases with these operators in their new slots. Nothing else of a phase changes.

Why that is safe while nodes are in different phases (docs/phase_rules.md, "Operators that continue"): a link and slot that
carries words of the operator in one of its phases carries no others in any of them, in either direction if handshakes
share a wire. So a word that is sent in a slot that the neighbour does not have for it yet, or any more, is refused and
waits. And the slots of the first route stay, so words go on however far apart the phases of two neighbours are.

Non-goals: other slots where threads, or nodes that stay in a phase that others leave, are in different phases for long (§5.1.2).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from numesh.codes import SHORTEST_RETURN, SHORTEST_TURN
from numesh.shape import NodeShape
from pointsman.plan.conflicts.collisions import collisions
from pointsman.plan.conflicts.link_slots import command_gap, link_reads, link_writes, reprogram_slots
from pointsman.plan.conflicts.writers import word_spans
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import Structure, Through
from pointsman.plan.termination.marked_graph import largest_gap
from pointsman.routing.phase_router.fixed_routes import goes_on
from pointsman.routing.streams import RoutedChain, RoutedPhase, at_most

PENALTY = 1
"""Cost of a slot that a chain has in no phase before; a slot that it has there costs 0 (§6.3.2)."""

Cell = tuple[int, int, int]
"""Node, pipeline and slot."""
WireSlot = tuple[int, int, int]
"""Node, port, and slot of the VFSM that writes; if both directions share a handshake, the lower end of the link."""
Owner = tuple[int, int, int]
"""Continuing operator, chain and VFSM, by their indices."""


def with_more_slots(
    planned: Sequence[PlannedPhase],
    standing: Sequence[tuple[Through, PlannedPhase]],
    structure: Structure,
    shape: NodeShape,
) -> list[PlannedPhase]:
    """The phases, with as many words a period for continuing operators as find room and cause no new collisions."""
    aliased = shape.aliased_handshake
    before = {(earlier, later) for earlier, later, _ in collisions(list(planned), structure, aliased_handshake=aliased)}
    avoided: set[tuple[int, int]] = set()
    while True:
        found = _Slots(planned, standing, shape, avoided).phases(structure)
        after = collisions(found, structure, aliased_handshake=aliased)
        wrong = {
            pair
            for earlier, later, _ in after
            if not _closed(planned, found, earlier, later, known=(earlier, later) in before)
            for pair in ((earlier, later), (later, earlier))
        }
        if not wrong:
            return found
        if wrong <= avoided:
            return list(planned)
        avoided |= wrong


def share(
    alone: PlannedPhase,
    words: Mapping[int, int],
    nodes: frozenset[int],
    beside: Sequence[RoutedPhase],
    shape: NodeShape,
) -> dict[int, RoutedPhase]:
    """By phase, slots for a continuing operator before the phase's own operators are routed: as many as ``words``
    tells, a period and stream, if there is room. A phase with fewer words uses some of the slots of a phase with more.

    Parameters
    ----------
    alone : PlannedPhase
        The operator's first route, whose slots it keeps everywhere.
    nodes : frozenset of int
        Nodes that come to all of its phases.
    beside : sequence of RoutedPhase
        Routes of other continuing operators in these phases.
    """
    routed = alone.routed
    limited = replace(routed, streams=tuple(at_most(max(words.values()), routed.streams)))
    empty = replace(routed, streams=(), chains=(), beside=(*beside, limited))
    together = replace(alone, operators=(), routed=empty, nodes=nodes)
    through = Through(alone.operators[0].operator, 0.0, (0,))
    slots = _Slots([together], [(through, replace(alone, routed=limited))], shape, (), patient=True)
    slots.fill(0, 0)
    found = {}
    for p, count in words.items():
        chains = []
        for c, way in enumerate(slots.ways[0]):
            own = slots.starts[0, c, 0]
            each = max(len(way.starts), count // len(routed.chains_of(way.chain.stream)))
            chains.append(way.at(own[:each], routed.period))
        found[p] = replace(routed, chains=tuple(chains))
    return found


def _closed(
    planned: Sequence[PlannedPhase], found: Sequence[PlannedPhase], earlier: int, later: int, *, known: bool
) -> bool:
    """Are all nodes that send in ``later``, on wires of ``earlier``, in its barrier? ``known``: the two collided before."""
    spans = word_spans(found[later], found[earlier])
    if known and spans == word_spans(planned[later], planned[earlier]):
        return True
    barrier = found[earlier].barrier
    if barrier is None or found[earlier].loose:
        return False
    return all(any(span <= set(instance.nodes) for instance in barrier.operator.instances) for span in spans)


@dataclass(frozen=True)
class _Step:
    """A VFSM of a chain: it runs ``after`` slots after the word starts, and writes ``wire`` (None: no link); ``reads``
    and ``writes``: does it read or write the processor's interface?"""

    node: int
    pipeline: int
    after: int
    wire: tuple[int, int] | None
    reads: bool
    writes: bool


class _Way:
    """A chain whose words all wait equally long at each node; ``gap``: least slots from the start of a word to the next."""

    def __init__(
        self, routed: RoutedPhase, chain: RoutedChain, ends: Mapping[tuple[int, int], tuple[int, int]]
    ) -> None:
        self.chain = chain
        period = routed.period
        after = [0] * len(chain.vfsms)
        for i, vfsm in enumerate(chain.vfsms):
            if vfsm.parent >= 0:
                before = chain.vfsms[vfsm.parent]
                after[i] = after[vfsm.parent] + (vfsm.slots[0] - before.slots[0]) % period
        self.steps = tuple(
            _Step(
                vfsm.node,
                vfsm.pipeline,
                later,
                ends[vfsm.node, vfsm.destination.number] if vfsm.destination.kind == "link" else None,
                vfsm.source.kind == "inject",
                vfsm.destination.kind == "deliver",
            )
            for vfsm, later in zip(chain.vfsms, after, strict=True)
        )
        stays: dict[int, list[int]] = {}
        self.gap = SHORTEST_TURN
        for step, vfsm in zip(self.steps, chain.vfsms, strict=True):
            stays.setdefault(step.node, []).append(step.after)
            # Who takes a word out of a buffer lets the next one in some slots later.
            free = SHORTEST_RETURN if vfsm.source.kind == "buffer" else 1
            self.gap = max(self.gap, step.after - min(stays[step.node]) + free)
        self.starts = chain.vfsms[0].slots
        self.nodes = frozenset(stays)

    def at(self, starts: Collection[int], period: int) -> RoutedChain:
        """The chain with words that start in these slots."""
        ordered = sorted(starts)
        vfsms = tuple(
            vfsm._replace(slots=tuple((start + step.after) % period for start in ordered))
            for vfsm, step in zip(self.chain.vfsms, self.steps, strict=True)
        )
        return replace(self.chain, vfsms=vfsms)


class _Board:
    """Slots, interface accesses and wires that are taken in a phase."""

    def __init__(
        self,
        phase: PlannedPhase,
        ends: Mapping[tuple[int, int], tuple[int, int]],
        others: Sequence[RoutedPhase],
        *,
        patient: bool,
    ) -> None:
        """``others``: routes of continuing operators that get no slots here."""
        routed = phase.routed
        self.period = routed.period
        self.busy: set[Cell] = set()
        self.reads: set[Cell] = set()
        """Cells whose VFSM may read the interface; VFSM 1, which reads commands in free slots, is not among them."""
        self.writes: set[Cell] = set()
        self.delivers: set[Cell] = set()
        """Cells whose VFSM writes to the interface, so that VFSM 1 must not have the next slot."""
        self.wires: dict[WireSlot, Owner | None] = {}
        changing = any(stream.rewritten or stream.injects_anywhere for stream in routed.streams)
        for chain in (*routed.chains, *routed.second, *(chain for one in others for chain in one.chains)):
            for vfsm in chain.vfsms:
                kinds = vfsm.source.kind, vfsm.destination.kind
                for slot in vfsm.slots:
                    cell = vfsm.node, vfsm.pipeline, slot
                    self.busy.add(cell)
                    # Load functions may rewrite a VFSM so that it accesses the interface.
                    if changing or kinds[0] in ("inject", "register"):
                        self.reads.add(cell)
                    if changing or kinds[1] in ("deliver", "register"):
                        self.writes.add(cell)
                    if kinds[1] == "deliver":
                        self.delivers.add(cell)
        for one in (replace(routed, beside=()), *others):
            for node, port, slot in link_writes(one) | _written(one):
                self.wires[*ends[node, port], slot] = None
        self.gaps: dict[tuple[int, int], int] = {}
        """By node and pipeline, the most slots that a command may wait."""
        self.most = self.period if patient else command_gap(routed)
        self.rewrites = changing or any(one.values != ((),) or one.stages > 1 for one in phase.operators)
        self.routed = routed

    def gap(self, node: int, pipeline: int) -> int:
        """Most slots that a command may wait for VFSM 1: no more than the phase has been planned for."""
        key = node, pipeline
        if key not in self.gaps:
            own = largest_gap(tuple(reprogram_slots(self.routed, node, pipeline)), self.period)
            self.gaps[key] = max(own, self.most) if pipeline == 0 else own if self.rewrites else self.period
        return self.gaps[key]

    def commands(self, node: int, pipeline: int) -> bool:
        """Does VFSM 1, which carries out commands, still have a free slot often enough?"""
        free = tuple(
            slot
            for slot in range(self.period)
            if (node, pipeline, slot) not in self.busy
            and (node, pipeline, (slot - 1) % self.period) not in self.delivers
        )
        return bool(free) and largest_gap(free, self.period) <= self.gap(node, pipeline)


class _Slots:
    """Slots of the continuing operators in all phases, to which words are added and taken back."""

    def __init__(
        self,
        planned: Sequence[PlannedPhase],
        standing: Sequence[tuple[Through, PlannedPhase]],
        shape: NodeShape,
        avoided: Collection[tuple[int, int]],
        *,
        patient: bool = False,
    ) -> None:
        """``patient``: commands may wait a whole period, since the phases' own operators are not routed yet."""
        self.planned, self.standing, self.avoided = planned, standing, avoided
        topology = planned[0].routed.topology
        self.ends = {
            (node, port): min((node, port), other) if shape.aliased_handshake else (node, port)
            for node, ports in enumerate(topology.at_port)
            for port, other in ports.items()
        }
        self.period = planned[0].routed.period
        mine = [alone.routed for _, alone in standing]
        self.boards = [
            _Board(
                phase,
                self.ends,
                [one for one in phase.routed.beside if goes_on(one, mine) is None],
                patient=patient,
            )
            for phase in planned
        ]
        self.ways = [[_Way(alone.routed, chain, self.ends) for chain in alone.routed.chains] for _, alone in standing]
        self.starts: dict[tuple[int, int, int], list[int]] = {}
        """By continuing operator, chain and phase, the slots in which words start."""
        for number, (through, alone) in enumerate(standing):
            for p in through.phases:
                here = goes_on(alone.routed, planned[p].routed.beside) or alone.routed
                for c, chain in enumerate(here.chains):
                    self.starts[number, c, p] = []
                    for start in chain.vfsms[0].slots:
                        self._put(number, c, p, start)

    def fill(self, number: int, p: int) -> None:
        through, alone = self.standing[number]
        while self._one_more(number, through, alone, p):
            pass

    def phases(self, structure: Structure) -> list[PlannedPhase]:
        for number, (through, _) in enumerate(self.standing):
            for p in through.phases if structure.threads is None else ():
                self.fill(number, p)
        return [replace(phase, routed=self._routed(p, phase.routed)) for p, phase in enumerate(self.planned)]

    def _routed(self, p: int, routed: RoutedPhase) -> RoutedPhase:
        beside = []
        for number, (through, alone) in enumerate(self.standing):
            if p in through.phases:
                chains = tuple(
                    way.at(self.starts[number, c, p], self.period) for c, way in enumerate(self.ways[number])
                )
                beside.append(replace(alone.routed, chains=chains))
        return replace(routed, beside=tuple(beside)) if beside else routed

    def _one_more(self, number: int, through: Through, alone: PlannedPhase, p: int) -> bool:
        """Give each chain of an operator one word a period more, or none of them; False if there is no room."""
        streams = alone.routed.streams
        chains = [chain.stream for chain in alone.routed.chains]
        added: list[tuple[int, int]] = []
        for c, way in enumerate(self.ways[number]):
            most = streams[chains[c]].max_words
            words = sum(len(self.starts[number, k, p]) for k, stream in enumerate(chains) if stream == chains[c])
            words -= sum(1 for k, _ in added if chains[k] == chains[c])
            if most is not None and words + chains.count(chains[c]) > most:
                continue
            everywhere = all(way.nodes <= self.planned[q].nodes for q in through.phases)
            start = self._best(number, c, p, through) if everywhere else None
            if start is None:
                for k, other in added:
                    self._take(number, k, p, other)
                return False
            self._put(number, c, p, start)
            added.append((c, start))
        return bool(added)

    def _best(self, number: int, c: int, p: int, through: Through) -> int | None:
        """The start slot that costs least, of equals the one farthest from the chain's others; None if there is no room."""
        own = self.starts[number, c, p]
        old = {start for q in through.phases if q < p for start in self.starts[number, c, q]}

        def apart(start: int) -> int:
            return min(min((start - other) % self.period, (other - start) % self.period) for other in own)

        for start in sorted(
            (start for start in range(self.period) if apart(start) >= self.ways[number][c].gap),
            key=lambda start: (PENALTY * (start not in old), -apart(start), start),
        ):
            if self._free(number, c, p, start, through):
                return start
        return None

    def _free(self, number: int, c: int, p: int, start: int, through: Through) -> bool:
        board = self.boards[p]
        for v, step in enumerate(self.ways[number][c].steps):
            slot = (start + step.after) % self.period
            if (step.node, step.pipeline, slot) in board.busy:
                return False
            if step.reads and (step.node, step.pipeline, (slot - 1) % self.period) in board.writes:
                return False
            if step.writes and (step.node, step.pipeline, (slot + 1) % self.period) in board.reads:
                return False
            if step.wire is None:
                continue
            wire = *step.wire, slot
            for q, other in enumerate(self.boards):
                if wire not in other.wires:
                    continue
                # Only the same VFSM may have this wire and slot in another phase (Table 5.2).
                if q == p or (q in through.phases and other.wires[wire] != (number, c, v)) or (p, q) in self.avoided:
                    return False
        self._put(number, c, p, start)
        places = {(step.node, step.pipeline) for step in self.ways[number][c].steps}
        room = all(board.commands(*place) for place in places)
        self._take(number, c, p, start)
        return room

    def _put(self, number: int, c: int, p: int, start: int) -> None:
        self.starts[number, c, p].append(start)
        board = self.boards[p]
        for v, step in enumerate(self.ways[number][c].steps):
            slot = (start + step.after) % self.period
            cell = step.node, step.pipeline, slot
            board.busy.add(cell)
            if step.reads:
                board.reads.add(cell)
            if step.writes:
                board.writes.add(cell)
                board.delivers.add(cell)
            if step.wire is not None:
                board.wires[*step.wire, slot] = number, c, v

    def _take(self, number: int, c: int, p: int, start: int) -> None:
        self.starts[number, c, p].remove(start)
        board = self.boards[p]
        for step in self.ways[number][c].steps:
            slot = (start + step.after) % self.period
            cell = step.node, step.pipeline, slot
            for cells in (board.busy, board.reads, board.writes, board.delivers):
                cells.discard(cell)
            if step.wire is not None:
                del board.wires[*step.wire, slot]


def _written(routed: RoutedPhase) -> set[WireSlot]:
    """Links and slots that VFSMs read, named by the end that writes them."""
    at_port = routed.topology.at_port
    return {(*at_port[node][port], slot) for node, port, slot in link_reads(routed)}
