"""Program -> connection tables for the time-multiplexed switch (Ding et al. 2005, §3.1, §3.3).

Takes a Program and the sizes of a switch. Gives `ConnectionTables`: for each phase's working set W(j) its configurations, the
connections left to the scheduler, those held, and whether rows are flushed on entering. Modes:

``preload``  every connection that any run-time value can use is in a table; of a set that needs more configurations than
             there are slots, a register takes the configurations in turn;
``dynamic``  no tables: the scheduler establishes connections on request; sets hold and flush;
``hybrid``   the last slot is the scheduler's; connections used for most run-time values are in tables, as far as they fit.

Non-goals: which processor computes what, messages of several words in several slots at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pointsman.artifacts.tables import ConnectionTables, Mode, OperatorTable, Pair, PhaseTable, WorkingSet
from pointsman.artifacts.tables.tables import MODES
from pointsman.connections import colour_crossbar
from pointsman.errors import PointsmanError, RefusedError
from pointsman.operators.api.operands import runtime_values
from pointsman.operators.messages.agreement import agreement_of
from pointsman.operators.messages.crossbar import SwitchUse, Way, reads_from_anybody, use_of, ways
from pointsman.plan.structure.phase_graph import START
from pointsman.plan.structure.structure import PhaseOutline, Structure, outline
from pointsman.program.order import Place, places
from pointsman.program.program import Group, Operator, Program, Runtime
from tdm_switch.shape import SwitchShape

from .marks import Sender, marked_connections
from .working_sets import Cost, PhaseNeeds, always_fit, assign, degree_of, divide, exclusive, greedy_degree, may_hold

MOSTLY = 0.5
"""Share of the run-time values that must use a connection for it to be put into a table in hybrid mode."""


@dataclass(frozen=True)
class _Done:
    """An operator with its implementation, the connections that this uses, and the number of its calls.

    An operator on whose value nodes have to agree is followed by the ``agreement``."""

    operator: Operator
    way: Way
    use: SwitchUse
    times: float
    place: Place
    agreement: _Done | None = None

    @property
    def pairs(self) -> frozenset[Pair]:
        return frozenset(self.use.words)


def make_tables(
    program: Program, shape: SwitchShape, *, mode: Mode = "preload", name: str = "program"
) -> ConnectionTables:
    """Compile ``program`` for a switch.

    Raises
    ------
    RefusedError
        If the switch has too few ports, or too few slots for the mode.
    PointsmanError
        If there is no such mode, or no way to do an operator.
    """
    if mode not in MODES:
        raise PointsmanError(f"a mode must be one of {', '.join(MODES)}, not {mode!r}")
    nodes = program.topology.nodes
    if shape.ports < nodes:
        raise RefusedError(
            f"a {program.topology.described}",
            resource="ports of the switch",
            size=shape.ports,
            needed=nodes,
            sizes={"ports": nodes},
        )
    if mode == "hybrid" and shape.slots < 2:
        raise RefusedError(
            "hybrid mode",
            resource="slots of the switch",
            size=shape.slots,
            needed=2,
            why="one of them is the scheduler's",
            sizes={"slots": 2},
        )
    return _Maker(program, shape, mode, name).tables()


class _Maker:
    def __init__(self, program: Program, shape: SwitchShape, mode: Mode, name: str) -> None:
        self.program = program
        self.shape = shape
        self.mode: Mode = mode
        self.name = name
        self.cost = Cost(shape)
        self.registers = {"preload": shape.slots, "dynamic": 0, "hybrid": shape.slots - 1}[mode]
        self.structure = outline(program)
        self.optional = _optional(program)
        self.places = places(program)
        self.done = [
            [done for one in phase.operators for done in self._with_agreement(one, phase)]
            for phase in self.structure.phases
        ]
        self.notes: list[str] = []

    def _with_agreement(self, operator: Operator, phase: PhaseOutline) -> list[_Done]:
        done = self._choose(operator, float(operator.c * phase.loops), self.places[operator.label])
        return [done] if done.agreement is None else [done, done.agreement]

    def _choose(self, operator: Operator, times: float, place: Place) -> _Done:
        """The implementation with the least predicted cycles a call, among those whose connections fit if there are any."""
        found = []
        agreement: _Done | None = None
        for rank, way in enumerate(ways(operator, self.program.topology)):
            use = use_of(way, self.program.topology)
            degree = degree_of(use.words)
            fits = degree <= (self.registers or self.shape.slots)
            cycles = self.cost.call(use, degree)
            if way.agrees:
                if agreement is None:
                    agreement = self._choose(agreement_of(operator), times, place)
                cycles += self.cost.call(agreement.use, degree_of(agreement.use.words))
            done = _Done(operator, way, use, times, place, agreement if way.agrees else None)
            found.append((not fits, cycles, rank, done))
        return min(found, key=lambda entry: entry[:3])[3]

    # -- sets ------------------------------------------------------------------------------------------------

    def tables(self) -> ConnectionTables:
        if self.mode == "dynamic":
            sets, of = self._dynamic_sets()
        else:
            sets, of = self._table_sets()
        operators: list[OperatorTable] = []
        phases: list[PhaseTable] = []
        marks = iter(
            marked_connections(
                [Sender(one.place, one.pairs, reads_from_anybody(one.operator)) for ops in self.done for one in ops]
            )
        )
        for p, (outlined, ops) in enumerate(zip(self.structure.phases, self.done, strict=True)):
            first = len(operators)
            for done in ops:
                values = runtime_values(done.operator)
                entered = of[p] if len(of[p]) == len(values) else (of[p][0],) * len(values)
                operators.append(
                    OperatorTable(
                        done.operator,
                        done.way.decomposition.name,
                        p,
                        values,
                        entered,
                        self._bandwidth(done, sets, entered),
                        done.place,
                        next(marks),
                        len(operators) + 1 if done.agreement is not None else -1,
                    )
                )
            union = frozenset().union(*(done.pairs for done in ops))
            phases.append(
                PhaseTable(
                    "+".join(one.label for one in outlined.operators),
                    tuple(range(first, len(operators))),
                    tuple(dict.fromkeys(of[p])),
                    degree_of(union),
                    p in self.optional,
                )
            )
        return ConnectionTables(
            name=self.name,
            parameters=self.program.parameters,
            topology=self.program.topology,
            shape=self.shape,
            mode=self.mode,
            registers=self.registers,
            timeout=0 if self.mode == "preload" else self._timeout(),
            loops=self.structure.loops,
            operators=tuple(operators),
            phases=tuple(phases),
            sets=tuple(sets),
            notes=tuple(self.notes),
        )

    def _timeout(self) -> int:
        """Idle cycles before a connection is released: as many as establishing it again takes, at most. Whatever the traffic,
        the waste is then at most twice the least possible."""
        return min((1 << self.shape.age_bits) - 1, self.cost.establish)

    def _bandwidth(self, done: _Done, sets: Sequence[WorkingSet], entered: Sequence[int]) -> float:
        degree = max((1 if sets[s].in_turn else degree_of(sets[s].pairs) for s in set(entered)), default=1)
        turn = max(1, degree) * self.shape.slot_cycles / self.shape.slot_words
        cycles = max(done.use.accesses, max(done.use.words.values(), default=0.0) * turn)
        return done.operator.m / cycles if cycles else 1.0

    def _second(self, phase: PhaseOutline, ops: Sequence[_Done]) -> bool:
        """Should each run-time value have its own working set: is that predicted to be quicker, or a common set too large?"""
        if len(ops) != 1 or len(set(ops[0].use.by_value)) == 1:
            return False
        done = ops[0]
        union, each = degree_of(done.pairs), max(map(degree_of, set(done.use.by_value)))
        if each >= union:
            return False
        if union > self.registers:
            return True
        block = max(
            (value.block for _, value in done.operator.instances[0].operands if isinstance(value, Runtime)), default=1
        )
        largest = max(done.use.by_value, key=len)
        swapped = self.cost.call(done.use, each) + self.cost.change(largest, each) / block
        return swapped < self.cost.call(done.use, union)

    def _table_sets(self) -> tuple[list[WorkingSet], list[tuple[int, ...]]]:
        phases = self.structure.phases
        seconds = [self._second(phase, ops) for phase, ops in zip(phases, self.done, strict=True)]
        parts = [
            PhaseNeeds(
                frozenset().union(*(done.pairs for done in ops)),
                tuple((done.use, done.times) for done in ops),
                second or p in self.optional,
            )
            for p, (ops, second) in enumerate(zip(self.done, seconds, strict=True))
        ]
        runs = divide(parts, _edges(self.structure), self.cost, self.registers)
        wanted: list[tuple[str, frozenset[Pair], list[_Done], float]] = []
        of: list[tuple[int, ...]] = [()] * len(phases)
        for first, last in runs:
            ops = [done for p in range(first, last) for done in self.done[p]]
            name = "+".join(phase_name for p in range(first, last) for phase_name in [_name(phases[p])])
            loops = max(phases[p].loops for p in range(first, last))
            if seconds[first]:
                values = runtime_values(ops[0].operator)
                numbers: dict[frozenset[Pair], int] = {}
                for value, pairs in zip(values, ops[0].use.by_value, strict=True):
                    if pairs not in numbers:
                        numbers[pairs] = len(wanted)
                        wanted.append((f"{name}({', '.join(map(str, value))})", pairs, ops, loops))
                of[first] = tuple(numbers[pairs] for pairs in ops[0].use.by_value)
                self.notes.append(
                    f"phase {name}: a set for each of {len(numbers)} run-time choices, swapped in by its load"
                )
                continue
            union = frozenset().union(*(part.pairs for part in parts[first:last]))
            before = of[first - 1][0] if first else -1
            if first in self.optional and before >= 0 and union <= wanted[before][1]:
                of[first] = (before,)  # nothing to swap in
                continue
            for p in range(first, last):
                of[p] = (len(wanted),)
            wanted.append((name, union, ops, loops))
        chosen = [self._chosen(pairs, ops) for _, pairs, ops, _ in wanted]
        placed = assign(
            [mine if degree_of(mine) <= self.registers else () for mine in chosen], self.registers, self.shape.ports
        )
        turns = [
            tuple(map(tuple, colour_crossbar(sorted(mine), self.shape.ports)))
            if degree_of(mine) > self.registers
            else ()
            for mine in chosen
        ]
        alone = exclusive(placed, turns)
        sets = []
        for number, (name, pairs, _, loops) in enumerate(wanted):
            rest = tuple(sorted(pairs - chosen[number]))
            hold = rest if loops > 1 and always_fit(rest, self.shape.slots - self.registers) else ()
            flush = bool(rest) and len(wanted) > 1
            sets.append(WorkingSet(name, placed[number], rest, hold, flush, alone[number], turns[number]))
            if turns[number]:
                self.notes.append(
                    f"set {name}: {len(turns[number])} configurations take turns in a register, for there are "
                    f"{self.registers} for the tables"
                )
        return self._held(sets), of

    def _held(self, sets: Sequence[WorkingSet]) -> list[WorkingSet]:
        """``sets``, which hold only what keeps no connection of any set from its slot for ever."""
        may = may_hold([(one.pairs, one.hold) for one in sets], self.shape.slots)
        return [one if good else replace(one, hold=()) for one, good in zip(sets, may, strict=True)]

    def _chosen(self, pairs: frozenset[Pair], ops: Sequence[_Done]) -> frozenset[Pair]:
        """The connections of a working set that are put into tables."""
        if self.mode == "preload":
            return pairs
        weight: dict[Pair, float] = dict.fromkeys(pairs, 0.0)
        for done in ops:
            for pair, words in done.use.words.items():
                if pair in weight and done.use.share.get(pair, 0.0) >= MOSTLY:
                    weight[pair] += done.times * words * done.use.share[pair]
        out: dict[int, int] = {}
        into: dict[int, int] = {}
        chosen = []
        for pair in sorted((pair for pair in pairs if weight[pair]), key=lambda pair: (-weight[pair], pair)):
            u, v = pair
            if out.get(u, 0) < self.registers and into.get(v, 0) < self.registers:
                out[u] = out.get(u, 0) + 1
                into[v] = into.get(v, 0) + 1
                chosen.append(pair)
        return frozenset(chosen)

    def _holds(self, pairs: frozenset[Pair], ops: Sequence[_Done]) -> bool:
        """Does holding all connections, with more slots taking turns, cost fewer cycles than establishing them at each call?"""
        if not always_fit(pairs, self.shape.slots):
            return False
        together = greedy_degree(pairs, self.shape.slots)
        kept = sum(one.times * self.cost.call(one.use, together) for one in ops)
        again = sum(one.times * (self.cost.call(one.use, degree_of(one.pairs)) + self.cost.establish) for one in ops)
        return kept < again

    def _dynamic_sets(self) -> tuple[list[WorkingSet], list[tuple[int, ...]]]:
        """A working set for each run of consecutive phases in the same outermost loop; rows are flushed between sets."""
        phases = self.structure.phases
        loops = _outermost(self.program)
        runs: list[list[int]] = []
        for p in range(len(phases)):
            if runs and loops[runs[-1][-1]] == loops[p]:
                runs[-1].append(p)
            else:
                runs.append([p])
        sets = []
        of: list[tuple[int, ...]] = [()] * len(phases)
        for number, run in enumerate(runs):
            pairs = frozenset().union(*(done.pairs for p in run for done in self.done[p]))
            holds = max(phases[p].loops for p in run) > 1 and self._holds(
                pairs, [one for p in run for one in self.done[p]]
            )
            dynamic = tuple(sorted(pairs))
            name = "+".join(_name(phases[p]) for p in run)
            sets.append(WorkingSet(name, (), dynamic, dynamic if holds else (), flush=len(runs) > 1))
            for p in run:
                of[p] = (number,)
        return self._held(sets), of


def _name(phase: PhaseOutline) -> str:
    return "+".join(one.label for one in phase.operators)


def _edges(structure: Structure) -> dict[tuple[int, int], float]:
    """Number of times that phase b follows phase a in a run of the program, by (a, b); a is -1 for the start."""
    loops = [phase.loops for phase in structure.phases]
    edges: dict[tuple[int, int], float] = {}
    for before, after in structure.successors.items():
        for phase in after:
            if phase >= 0:
                times = 1 if before == START else min(loops[before], loops[phase])
                edges[before if before >= 0 else -1, phase] = float(times)
    return edges


def _phase_of(program: Program) -> dict[str, int]:
    return {operator.label: p for p, phase in enumerate(outline(program).phases) for operator in phase.operators}


def _optional(program: Program) -> frozenset[int]:
    """Phases that stand in an optional group."""
    phase_of, found = _phase_of(program), set()
    inside: int | None = None
    for part, depth in program.root.walk():
        if inside is not None and depth <= inside:
            inside = None
        if isinstance(part, Group):
            if inside is None and part.kind == "optional":
                inside = depth
        elif inside is not None:
            found.add(phase_of[part.label])
    return frozenset(found)


def _outermost(program: Program) -> dict[int, str | None]:
    """Label of the outermost loop around each phase."""
    phase_of = _phase_of(program)
    found: dict[int, str | None] = {}
    loop: tuple[int, str | None] | None = None
    for part, depth in program.root.walk():
        if loop is not None and depth <= loop[0]:
            loop = None
        if isinstance(part, Group):
            if loop is None and part.kind == "loop":
                loop = (depth, part.label)
        else:
            found[phase_of[part.label]] = loop[1] if loop else None
    return found
