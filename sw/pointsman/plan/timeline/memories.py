"""What the memories of the routers hold on the way through a plan, and how many cycles it takes to load what is missing.

Keeps the marks of `pointsman.protocol.residency`, as the run time does (`pointsman.runtime.numesh.residency`), but
works out from a plan, before there are images, which phases share places and so evict each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np

from numesh.codes import FIRST_FREE_VFSM, Codes
from pointsman.plan.errors import PlanError
from pointsman.plan.memory.schedule_blocks import schedule_blocks
from pointsman.plan.memory.vfsm_numbers import VfsmMap
from pointsman.plan.plan import Plan
from pointsman.plan.structure.phase_graph import END, PhaseGraph
from pointsman.protocol.costs import ANNOTATION_DRAIN, load_cycles
from pointsman.protocol.residency import Following, Residency, sharing
from pointsman.routing.streams import RoutedVfsm

from .board import BoardNumbers


class PlannedMemories:
    """The memories of all nodes' routers."""

    def __init__(self, plan: Plan, network: BoardNumbers) -> None:
        self.plan, self.network = plan, network
        self._marks: dict[int, Residency[int]] = {}
        """By node; VFSMs by their numbers on the board."""
        self._words = Codes(plan.shape).command_words
        self._blocks = schedule_blocks(plan.structure, plan.period, plan.shape)
        self._counts = np.zeros((len(network.parts), network.nodes, network.pipelines), np.int64)
        """Number of VFSMs by phase (then continuing operator), node and the node's pipeline."""
        self._fought: dict[int, list[tuple[int, dict[int, int]]]] = defaultdict(list)
        """By node, each place that several phases share: its pipeline, and by phase the VFSM there."""
        self._beside = {
            p: {k for k, one in enumerate(plan.continuing) if p in one.phases} for p in range(network.loader)
        }
        """By phase, operators that continue through it: their VFSMs are written with the first of their phases."""
        self._maps: list[dict[int, VfsmMap]] = []
        self._count()
        self._listed: list[list[list[int]]] = self._counts.tolist()
        own: list[list[int]] = [[] for _ in range(network.nodes)]
        for p, members in enumerate(plan.members()):
            for node in members:
                own[node].append(p)
        self._own = [tuple(phases) for phases in own]
        self._flows: dict[tuple[PhaseGraph, tuple[int, ...]], Following] = {}
        """Order of phases, shared by nodes with the same phases and ways."""
        self._settles: dict[tuple[int, int], Mapping[int, int]] = {}
        self._certain: dict[object, list[int]] = {}
        self._waited: dict[int, frozenset[int]] = {}

    def _count(self) -> None:
        for _, phase, vfsm in self._all():
            self._counts[phase, vfsm.node, vfsm.pipeline] += 1
        plan = self.plan
        if np.all(np.sum(self._counts, axis=0) <= plan.shape.vfsms - FIRST_FREE_VFSM):
            return  # no two phases share a place
        try:
            self._maps = self.network.maps
        except PlanError:
            return  # refused later
        self._counts[: self.network.loader] = 0
        users: dict[tuple[int, int, int], dict[int, int]] = defaultdict(dict)
        for number, phase, vfsm in self._all():
            if phase >= self.network.loader:
                continue  # a continuing operator's place is its own
            pipeline, place = self._maps[phase][vfsm.node].place(vfsm.pipeline, vfsm.number)
            self._counts[phase, vfsm.node, pipeline] += 1
            users[vfsm.node, pipeline, place][phase] = number
        for (node, pipeline, _), by_phase in users.items():
            if len(by_phase) > 1:
                self._fought[node].append((pipeline, by_phase))

    def _all(self) -> Iterator[tuple[int, int, RoutedVfsm]]:
        for number, (phase, vfsm, _, _) in enumerate(self.network.place, self.network.commands):
            yield number, phase, vfsm

    def empty(self) -> None:
        """Begin again with empty memories."""
        self._marks = {}

    def marks(self, node: int) -> Residency[int]:
        """Marks of what the router of ``node`` holds."""
        if node not in self._marks:
            blocks = {p: self._blocks[p] for p in self._own[node]}
            shared = sharing(blocks, self._fought.get(node, ()), self._beside)
            self._marks[node] = Residency(shared, self.network.pipelines)
        return self._marks[node]

    # -- phases and their order ------------------------------------------------------------------------------

    def settles(self, node: int, left: int) -> Mapping[int, int]:
        """By phase that ``node`` may enter after ``left``, the cycles that must have passed since it left that."""
        key = node, left
        if key not in self._settles:
            phase, found = self.plan.phases[left], dict[int, int]()
            if phase.barrier is not None and phase.settle and node in phase.barrier.operator.nodes:
                again = {left} if node in self.plan.leaving.between_uses.get(left, ()) else set()
                if phase.settles is None:
                    after = set(self._flow(node).after[left] - {END} | again)
                else:
                    after = {p for p in phase.settles if p in self._own[node]} | again
                found = dict.fromkeys(sorted(after), phase.settle)
            self._settles[key] = found
        return self._settles[key]

    def _flow(self, node: int) -> Following:
        graph = self.plan.structure.graph_of(node)
        key = graph, self._own[node]
        if key not in self._flows:
            own = self._own[node]
            after = {p: set(graph.next_among(p, own)) for p in own}
            if self.plan.structure.threads is None:
                # As nodes are told in this case (`pointsman.artifacts.images.images.PhaseImage.successors`).
                after = {p: following - {END} for p, following in after.items()}
            self._flows[key] = Following(after)
        return self._flows[key]

    def _with(self, node: int, phase: int) -> list[int]:
        """Phases that are loaded together with ``phase``: an operator's other schedules, and phases that surely come later."""
        marks, outlines = self.marks(node), self.plan.structure.phases
        together: list[int] = []
        if outlines[phase].value is not None:
            label = outlines[phase].operators[0].label
            same = [p for p, one in enumerate(outlines) if one.value is not None and one.operators[0].label == label]
            together = [p for p in same if p != phase] if marks.shared.staying.issuperset(same) else []
        settled = self._waited.get(node)
        if settled is None:
            settled = frozenset(later for p in self._own[node] for later in self.settles(node, p))
            self._waited[node] = settled
        flow = self._flow(node)
        key = id(flow), phase, settled
        if key not in self._certain:
            self._certain[key] = flow.certain(phase, settled)
        return marks.with_it(phase, together, self._certain[key])

    # -- loading ---------------------------------------------------------------------------------------------

    def load(self, node: int, phase: int) -> tuple[int, int]:
        """Load a phase and the phases that are loaded together with it. Gives cycles for phases that may be evicted, so
        that they are loaded again and again, and cycles for phases that stay."""
        marks = self.marks(node)
        first, words = [0] * self.network.pipelines, [0] * self.network.pipelines
        for one in (*self._with(node, phase), phase):
            stays = one in marks.shared.staying
            for p, missing in enumerate(self._missing(node, one)):
                words[p] += self._words * missing
                if not stays:
                    first[p] += self._words * missing
            marks.loaded(one)
        in_turn = load_cycles(first)
        return in_turn + ANNOTATION_DRAIN, load_cycles(words) - in_turn

    def whole(self, node: int, phase: int) -> int:
        """Cycles to load all of a phase, whatever the router holds."""
        words = self._words * self._counts[phase, node]
        words[0] += self._words * self.plan.period
        return load_cycles(words.tolist()) + ANNOTATION_DRAIN

    def _missing(self, node: int, phase: int) -> list[int]:
        """By pipeline, the number of commands that load what ``node`` lacks of ``phase``."""
        marks = self.marks(node)
        counts = self._listed[phase][node]
        found = [0] * self.network.pipelines
        for p in marks.pipelines:
            lacks = marks.lacks(phase, p)
            if lacks == "all":
                found[p] = counts[p]
                continue
            contested = marks.shared.contested.get(phase, ()) if lacks == "contested" else ()
            found[p] = sum(self._pipeline(node, phase, vfsm) == p for vfsm in marks.behind[phase].union(contested))
        for k in self._beside[phase] - marks.stored:
            for p, count in enumerate(self._listed[self.network.loader + k][node]):
                found[p] += count
        if phase not in marks.resident:
            found[0] += self.plan.period * len(self.plan.phases[phase].routed.schedules)
        return found

    def _pipeline(self, node: int, phase: int, vfsm: int) -> int:
        own = self.network.pipeline(vfsm)
        return self._maps[phase][node].pipelines[own] if self._maps else own
