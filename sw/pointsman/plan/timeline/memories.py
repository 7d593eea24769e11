"""What the memories of the routers hold on the way through a plan, and how long it takes to load what they do not.

The other end of a coupling: `pointsman.runtime.numesh.residency` keeps these marks, and
`pointsman.runtime.numesh.router` loads by them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from numesh.codes import FIRST_FREE_VFSM, Codes
from pointsman.plan.errors import PlanError
from pointsman.plan.memory.schedule_blocks import schedule_blocks
from pointsman.plan.memory.vfsm_numbers import VfsmMap, reserved, vfsm_numbers
from pointsman.plan.plan import Plan
from pointsman.plan.structure.phase_graph import END, PhaseGraph
from pointsman.protocol.costs import ANNOTATION_DRAIN, load_cycles
from pointsman.routing.streams import RoutedVfsm

from .board import Network


@dataclass
class Marks:
    """What one node's router holds."""

    resident: set[int] = field(default_factory=set)
    """Phases whose schedules are there."""
    whole: set[tuple[int, int]] = field(default_factory=set)
    """Phase and pipeline of which all VFSMs are there."""
    begun: set[tuple[int, int]] = field(default_factory=set)
    """Phase and pipeline of which those VFSMs are there that nobody else has."""
    behind: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))
    """By phase, VFSMs that do not stand in the router as load functions want them."""
    stored: set[int] = field(default_factory=set)
    """Operators that continue whose VFSMs are there."""


class _Flow:
    """The ways of all nodes with the same phases."""

    def __init__(self, plan: Plan, node: int, own: tuple[int, ...]) -> None:
        structure = plan.structure
        self.after = {p: set(structure.graph_of(node).next_among(p, own)) for p in own}
        if structure.threads is None:
            # What nodes know in this case (`pointsman.artifacts.images.images.PhaseImage.successors`).
            self.after = {p: after - {END} for p, after in self.after.items()}
        self._sure: dict[int, set[int]] = {}

    def surely(self, phase: int, later: int) -> bool:
        """Does every way from one phase come through another?"""
        if later not in self._sure:
            sure, found = {later}, True
            while found:
                more = {p for p in self.after if p not in sure and self.after[p] and self.after[p] <= sure | {p}}
                found = bool(more)
                sure |= more
            self._sure[later] = sure
        return phase in self._sure[later]


class Memories:
    """Those of all nodes."""

    def __init__(self, plan: Plan, network: Network) -> None:
        self.plan, self.network = plan, network
        self.marks = [Marks() for _ in range(network.nodes)]
        self._words = Codes(plan.shape).command_words
        self._blocks = schedule_blocks(plan.structure, plan.period, plan.shape)
        self._counts = np.zeros((len(network.parts), network.nodes, network.pipelines), np.int64)
        """VFSMs by phase (then operator that continues), node and the node's pipeline."""
        self._contested: dict[tuple[int, int], set[int]] = defaultdict(set)
        """By node and phase, VFSMs that others overwrite."""
        self._rivals: dict[tuple[int, int, int], set[int]] = defaultdict(set)
        """By node, phase and pipeline, phases whose VFSMs it overwrites."""
        self._beside = [{k for k, one in enumerate(plan.continuing) if p in one.phases} for p in range(network.loader)]
        """By phase, operators that continue through it: their VFSMs are written with the first of their phases."""
        self._maps: list[dict[int, VfsmMap]] = []
        self._count()
        own: list[list[int]] = [[] for _ in range(network.nodes)]
        for p, members in enumerate(plan.members()):
            for node in members:
                own[node].append(p)
        self._own = [tuple(phases) for phases in own]
        self._flows: dict[tuple[PhaseGraph, tuple[int, ...]], _Flow] = {}
        self._flow_of: dict[int, _Flow] = {}
        self._settles: dict[tuple[int, int], Mapping[int, int]] = {}
        self._alone: dict[int, frozenset[int]] = {}
        self._surely: dict[object, list[int]] = {}

    def _count(self) -> None:
        for _, phase, vfsm in self._all():
            self._counts[phase, vfsm.node, vfsm.pipeline] += 1
        plan = self.plan
        if np.all(np.sum(self._counts, axis=0) <= plan.shape.vfsms - FIRST_FREE_VFSM):
            return  # each phase has its own
        try:
            standing = reserved([one.planned for one in plan.continuing], plan.shape)
            self._maps = vfsm_numbers(plan.phases, plan.structure, plan.shape, standing)
        except PlanError:
            return  # refused later
        self._counts[: self.network.loader] = 0
        users: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)
        for number, phase, vfsm in self._all():
            if phase >= self.network.loader:
                continue  # in a place that no phase has
            pipeline, place = self._maps[phase][vfsm.node].place(vfsm.pipeline, vfsm.number)
            self._counts[phase, vfsm.node, pipeline] += 1
            users[vfsm.node, pipeline, place].append((phase, number))
        for (node, pipeline, _), sharing in users.items():
            phases = {phase for phase, _ in sharing}
            for phase, number in sharing if len(phases) > 1 else ():
                self._contested[node, phase].add(number)
                self._rivals[node, phase, pipeline] |= phases - {phase}

    def _all(self) -> Iterator[tuple[int, int, RoutedVfsm]]:
        for number, (phase, vfsm, _, _) in enumerate(self.network.place, self.network.commands):
            yield number, phase, vfsm

    # -- phases and their order ------------------------------------------------------------------------------

    def settles(self, node: int, left: int) -> Mapping[int, int]:
        """Phases that a node must not enter before so many cycles have passed since it left one."""
        key = node, left
        if key not in self._settles:
            phase, found = self.plan.phases[left], dict[int, int]()
            if phase.barrier is not None and phase.settle and node in phase.barrier.operator.nodes:
                again = {left} if node in self.plan.leaving.between_uses.get(left, ()) else set()
                if phase.settles is None:
                    after = (self._flow(node).after[left] - {left, END}) | again
                else:
                    after = {p for p in phase.settles if p in self._own[node]} | again
                found = dict.fromkeys(sorted(after), phase.settle)
            self._settles[key] = found
        return self._settles[key]

    def alone(self, node: int) -> frozenset[int]:
        """Phases that stay once they have been loaded."""
        if node not in self._alone:
            own = self._own[node]
            blocks = [self._blocks[p] for p in own]
            self._alone[node] = frozenset(
                p for p in own if blocks.count(self._blocks[p]) == 1 and (node, p) not in self._contested
            )
        return self._alone[node]

    def _flow(self, node: int) -> _Flow:
        if node not in self._flow_of:
            own = self._own[node]
            key = self.plan.structure.graph_of(node), own
            if key not in self._flows:
                self._flows[key] = _Flow(self.plan, node, own)
            self._flow_of[node] = self._flows[key]
        return self._flow_of[node]

    def _with(self, node: int, phase: int) -> list[int]:
        """Phases that are loaded with it: an operator's other schedules, and those that surely come later."""
        outlines, alone = self.plan.structure.phases, self.alone(node)
        together: list[int] = []
        if outlines[phase].value is not None:
            label = outlines[phase].operators[0].label
            same = [p for p, one in enumerate(outlines) if one.value is not None and one.operators[0].label == label]
            together = [p for p in same if p != phase] if alone.issuperset(same) else []
        settled = frozenset(later for p in self._own[node] for later in self.settles(node, p))
        flow = self._flow(node)
        key = id(flow), phase, settled
        if key not in self._surely:
            later = [p for p in self._own[node] if p != phase and p not in settled]
            self._surely[key] = [p for p in later if flow.surely(phase, p)]
        certain = [p for p in self._surely[key] if p in alone and p not in together]
        return [p for p in (*together, *certain) if not self.holds(node, p)]

    # -- marks -----------------------------------------------------------------------------------------------

    def holds(self, node: int, phase: int) -> bool:
        """Is all of it there?"""
        marks, pipelines = self.marks[node], range(self.network.pipelines)
        return phase in marks.resident and all((phase, p) in marks.whole for p in pipelines) and not marks.behind[phase]

    def wanted(self, node: int, phase: int, vfsms: Iterable[int]) -> None:
        """These VFSMs are to stand otherwise from the next load on."""
        self.marks[node].behind[phase] |= set(vfsms)

    def load(self, node: int, phase: int) -> tuple[int, int]:
        """Load a phase and those that are loaded with it. Cycles for what has to be loaded again each time, and for what is
        loaded once."""
        words = np.zeros((2, self.network.pipelines), np.int64)
        for one in (*self._with(node, phase), phase):
            words[int(one in self.alone(node))] += self._words * self._missing(node, one)
            self._loaded(node, one)
        in_turn, both = (load_cycles(sent.tolist()) for sent in (words[0], words[0] + words[1]))
        return in_turn + ANNOTATION_DRAIN, both - in_turn

    def _missing(self, node: int, phase: int) -> np.ndarray:
        """Commands by pipeline."""
        marks = self.marks[node]
        found: np.ndarray = np.zeros(self.network.pipelines, np.int64)
        contested = self._contested.get((node, phase), set())
        for p in range(self.network.pipelines):
            if (phase, p) not in marks.whole and (phase, p) not in marks.begun:
                found[p] = self._counts[phase, node, p]
                continue
            wanted = marks.behind[phase] if (phase, p) in marks.whole else marks.behind[phase] | contested
            found[p] = sum(self._pipeline(node, phase, vfsm) == p for vfsm in wanted)
        for k in self._beside[phase] - marks.stored:
            found += self._counts[self.network.loader + k, node]
        if phase not in marks.resident:
            found[0] += self.plan.period * len(self.plan.phases[phase].routed.schedules)
        return found

    def _pipeline(self, node: int, phase: int, vfsm: int) -> int:
        own = self.network.pipeline(vfsm)
        return self._maps[phase][node].pipelines[own] if self._maps else own

    def _loaded(self, node: int, phase: int) -> None:
        marks, block = self.marks[node], self._blocks[phase]
        marks.resident = {other for other in marks.resident if self._blocks[other] != block} | {phase}
        for p in range(self.network.pipelines):
            if (phase, p) not in marks.whole:
                marks.whole -= {(rival, p) for rival in self._rivals.get((node, phase, p), ())}
                marks.whole.add((phase, p))
                marks.begun.add((phase, p))
        marks.behind[phase].clear()
        marks.stored |= self._beside[phase]
