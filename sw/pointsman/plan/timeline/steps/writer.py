"""What each processor does on its way through the sampled program: the steps of its load and I/O functions, in chunks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import operand
from pointsman.operators.messages.online import Online
from pointsman.plan.plan import Plan, PlannedOperator

from .. import kernel as k
from ..board import BoardNumbers
from ..memories import PlannedMemories
from ..sampling import SampledVisit, choice, writer_of
from .operator_calls import OperatorSteps
from .together import Step, runs

CALLS = 6
"""Most calls of an I/O function that are played after a load; each but the first stands for its share of the rest."""
UNEVEN_CALLS = 500
"""Most calls of operators at the same time of which all are played, where one of them has fewer than another."""


class StepWriter:
    """Writes the steps of all nodes, in the order in which they go through the program.

    Parameters
    ----------
    counted : mapping or None
        By label, where cycles in functions of an operator count (an index into what ``kernel.play`` counts for); all other cycles
        count behind the last phase. None: cycles count for phases.
    whole : collection of str
        Labels of operators whose function combines whole messages only, though roles were made for single items.
    """

    def __init__(
        self,
        plan: Plan,
        network: BoardNumbers,
        memories: PlannedMemories,
        counted: Mapping[str, int] | None = None,
        whole: Collection[str] = (),
    ) -> None:
        self.plan, self.counted = plan, counted
        self.steps = OperatorSteps(plan, network, memories, whole=whole, by_operator=counted is not None)
        self.tables, self.parts = self.steps.tables, self.steps.parts
        self._sorted: dict[int, tuple[int, ...]] = {}

    def begin(self) -> None:
        """Begin again before the first phase, with empty memories. Steps of calls that were made before are used again."""
        self.steps.begin()

    def write(self, visits: Iterable[SampledVisit]) -> k.StepTable:
        """The step table of all nodes, from cop_init to cop_fini."""
        for node, way in enumerate(self.steps.ways):
            self.tables.add(way, self.steps.phases.start(node))
        for run in runs(visits):
            if len(run) > 1:
                for node in sorted({node for visit in run for node in visit.operator.nodes}):
                    self._together(node, run)
                continue
            for number, value in self._chosen(run[0]):
                for node in self._nodes(number):
                    if not self._is_idle(node, number, value):
                        self._counted_visit(node, number, value, run[0])
        return self._ended()

    def write_ways(self, ways: Iterable[Iterable[SampledVisit]]) -> k.StepTable:
        """As ``write``, of visits that each node makes in an order of its own."""
        for node, (way, own) in enumerate(zip(self.steps.ways, ways, strict=True)):
            self.tables.add(way, self.steps.phases.start(node))
            for run in runs(own):
                if run[0].calls and self._in_turn(node, run):
                    continue
                if run[0].together:
                    self._together(node, run)
                    continue
                for visit in run:
                    for number, value in self._chosen(visit, node):
                        self._counted_visit(node, number, value, visit)
        return self._ended()

    def _ended(self) -> k.StepTable:
        for node, way in enumerate(self.steps.ways):
            self.tables.add(way, self.steps.phases.finish(node, way))
        return self.tables.table(self.steps.ways)

    def _nodes(self, number: int) -> tuple[int, ...]:
        """Nodes of an operator in their order."""
        if number not in self._sorted:
            self._sorted[number] = tuple(sorted(self.parts.operators[number][1].operator.nodes))
        return self._sorted[number]

    def _is_idle(self, node: int, number: int, value: int) -> bool:
        """Does a visit take no step of a node: it is in the phase and moves no word? Most visits are so where many operators
        share a phase."""
        phase = self.parts.operators[number][0]
        way = self.steps.ways[node]
        if self.counted is not None or not self.steps.stays(way, number, phase):
            return False
        one = self.parts.operators[number][1]
        if node in one.silent and one.implementation.loading is Loading.LOCAL:
            return True
        draft = self.parts.role(number, node, value, 0)
        return draft.local or draft.kind == "none"

    def _counted_visit(self, node: int, number: int, value: int, visit: SampledVisit) -> None:
        self._count(node, visit.operator.label)
        self._visit(node, number, value, visit)
        self._count(node, None)

    def _together(self, node: int, run: Sequence[SampledVisit]) -> None:
        """Visits whose messages move at the same time (`pointsman.runtime.api.together`); cycles of moving are counted for the
        first operator. Where one of them is not played so, they are visited in turn."""
        chosen = [(visit, number, value) for visit in run for number, value in self._chosen(visit, node)]
        here = [one for one in chosen if node in self.parts.operators[one[1]][1].operator.nodes]
        planned = [self.parts.operators[number][1] for _, number, _ in here]
        plain = all(map(_moves_beside_others, planned))
        calls = max((visit.count for visit, _, _ in here), default=0)
        uneven = any(visit.count < calls for visit, _, _ in here)
        if not plain or (uneven and calls > UNEVEN_CALLS):
            for visit, number, value in here:
                self._counted_visit(node, number, value, visit)
            return
        way = self.steps.ways[node]
        for visit, number, value in here:
            self._count(node, visit.operator.label)
            self.tables.add(way, [*self.tables.weigh(way, visit.weight), *self.steps.load(node, number, value)])
        rank = {id(run[at]): turn for turn, at in enumerate(run[0].together)}
        moving = sorted(here, key=lambda one: rank[id(one[0])])
        drafts = [self.parts.role(number, node, value, 0) for _, number, value in moving]
        moving = [one for one, draft in zip(moving, drafts, strict=True) if not draft.local and draft.kind != "none"]
        if not any(visit.phase is not None for visit in run):
            # Nobody has said the order of calls: who writes does so first, as nobody reads before that.
            moving.sort(key=lambda one: not any(lane.write for lane in self.parts.role(one[1], node, one[2], 0).lanes))
        if moving:
            self._count(node, moving[0][0].operator.label)
            played = calls if uneven else min(calls, CALLS)
            for call in range(played):
                weigh = []
                if call and calls > played:
                    weigh = self.tables.weigh(way, moving[0][0].weight * (calls - 1) / (played - 1))
                steps, reads = [], []
                for visit, number, value in moving:
                    if call < visit.count:
                        made = self.steps.call(node, number, value, call)
                        first, *second = self.steps.halves(node, number, value, made) if visit.at_once else [made]
                        steps.append(first)
                        reads += second
                self.tables.add(way, [*weigh, *self.tables.together([*steps, *reads])])
            self.tables.add(way, self.tables.passed(calls, played))
        self._count(node, None)

    def _in_turn(self, node: int, run: Sequence[SampledVisit]) -> bool:
        """Visits whose calls a node made in an order of its own. False, and nothing is done, if one of them is not played call by
        call."""
        chosen = [self._chosen(visit, node) for visit in run]
        parts = [self.parts.operators[number][1] for several in chosen for number, _ in several]
        if any(one.implementation.loading is Loading.RESCHEDULED for one in parts):
            return False
        way, made = self.steps.ways[node], defaultdict[tuple[int, str], int](int)
        self.tables.add(way, self.tables.weigh(way, run[0].weight))
        for turn in run[0].calls:
            self._count(node, run[turn[0][0]].operator.label)
            calls: list[list[Step]] = []
            for at, what in turn:
                for number, value in chosen[at]:
                    if what == "load":
                        calls.append(self.steps.loaded(node, number, value, run[at]))
                    else:
                        calls.append(self.steps.called(node, number, value, what, made[at, what]))
                made[at, what] += 1
            plain = all(
                _moves_beside_others(self.parts.operators[number][1]) for at, _ in turn for number, _ in chosen[at]
            )
            for steps in [self.tables.together(calls)] if plain and len(calls) > 1 else calls:
                self.tables.add(way, steps)
        self._count(node, None)
        return True

    def _count(self, node: int, label: str | None) -> None:
        """Let the cycles of later steps count for an operator, if they do not count for phases."""
        if self.counted is not None:
            where = len(self.plan.phases) if label is None else self.counted.get(label, len(self.plan.phases))
            self.tables.count(self.steps.ways[node], where)

    def _chosen(self, visit: SampledVisit, node: int | None = None) -> list[tuple[int, int]]:
        """Number of the planned operator of a visit, and index of its run-time value. An operator with a schedule for
        each value is planned several times, so several planned operators have its label. Empty if there is none. ``node``: whose
        visit it is, if not that of all."""
        numbers = self.steps.by_label[visit.operator.label]
        if visit.phase is not None and len(numbers) > 1:
            numbers = [number for number in numbers if self.parts.operators[number][0] == visit.phase] or numbers
        if visit.values is not None:
            for number in numbers:
                one = self.parts.operators[number][1]
                if node is not None and one.implementation.loading is Loading.REMOTE:
                    return [(number, self._own_value(number, node, visit.values))]
                if visit.values in one.values:
                    return [(number, one.values.index(visit.values))]
        counts = [len(self.parts.operators[number][1].values) for number in numbers]
        block = max(1, self.parts.block(numbers[0]))
        total = sum(counts)
        value = choice(visit.operator.label, visit.number // block, total)
        for number, count in zip(numbers, counts, strict=True):
            if value < count:
                return [(number, value)]
            value -= count
        return []

    def _own_value(self, number: int, node: int, given: tuple[int, ...]) -> int:
        """Index of a value that only the node which sends commands has to know; any other is ready to read."""
        one = self.parts.operators[number][1]
        if self.parts.role(number, node, 0, 0).commands:
            return one.values.index(given)
        own = next((i.nodes.index(node),) for i in one.operator.instances if node in i.nodes)
        return one.values.index(own) if own in one.values else 0

    def _visit(self, node: int, number: int, value: int, visit: SampledVisit) -> None:
        way = self.steps.ways[node]
        _, one = self.parts.operators[number]
        before = self.tables.weigh(way, visit.weight)
        if isinstance(one.implementation, Online):
            self._visit_online(node, number, visit, before)
            return
        if one.implementation.loading is Loading.RESCHEDULED:
            self.tables.add(way, [*before, *self.steps.rescheduled(node, number, visit)])
            return
        steps: list[Step] = [*before, *self.steps.load(node, number, value)]
        self.tables.add(way, steps)
        draft = self.parts.role(number, node, value, 0)
        if draft.local or draft.kind == "none":
            return
        calls = visit.count * draft.turns
        played = calls if visit.own else min(calls, max(CALLS, draft.turns))
        writes = True
        if one.operator.kind == "collect" and not visit.own:
            writes = self._collects(node, one, value, visit.number)
        for call in range(played):
            steps = []
            if call and calls > played:
                steps = self.tables.weigh(way, visit.weight * (calls - 1) / (played - 1))
            if visit.at_once:
                made = self.steps.call_at_once(node, number, value, call)
            else:
                made = self.steps.call(node, number, value, call, writes=writes)
            self.tables.add(way, [*steps, *made])
        self.tables.add(way, self.tables.passed(calls, played))

    @staticmethod
    def _collects(node: int, one: PlannedOperator, value: int, visit: int) -> bool:
        """Does the node write in this visit to a collect? A single node of each instance does."""
        for i, instance in enumerate(one.operator.instances):
            if node in instance.nodes:
                destination = operand(one.operator, i, "destination", one.values[value])
                if writer_of(one.operator, i, visit, destination) == node:
                    return True
        return False

    def _visit_online(self, node: int, number: int, visit: SampledVisit, before: list[Step]) -> None:
        way = self.steps.ways[node]
        phase, one = self.parts.operators[number]
        self.tables.add(way, [*before, *self.steps.loaded(node, number, 0, visit)])
        played = visit.count if visit.own else min(visit.count, CALLS)
        for call in range(played):
            if call and visit.count > played:
                self.tables.add(way, self.tables.weigh(way, visit.weight * (visit.count - 1) / (played - 1)))
            for steps in self.steps.messages.calls(phase, node, one, visit):
                self.tables.add(way, steps)
        self.tables.add(way, self.tables.passed(visit.count, played))


def _moves_beside_others(one: PlannedOperator) -> bool:
    """Are the calls of an operator played together with those of others, if a node makes them at the same time?"""
    apart = isinstance(one.implementation, Online) or one.implementation.loading in (Loading.RESCHEDULED, Loading.GATED)
    return one.stages == 1 and not apart
