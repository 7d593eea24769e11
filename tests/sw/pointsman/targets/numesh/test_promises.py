"""Ways of words, followed from state to state, against those that are followed for each state by itself."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.routing.register_rate import joint_words
from pointsman.routing.streams import Place, RoutedVfsm
from pointsman.targets.numesh.promises import COMMAND, Follower, Way

PROGRAMS = {
    "rows": "(subset (make-1d 'x) (broadcast 'o (runtime) :m 9))",
    "columns": "(subset (make-1d 'y) (stream 'o (runtime) (runtime) :m 9))",
    "hops": "(subset (make-1d 'x) (stream 'o (runtime) (runtime) :m 9 :impl (quote str_stream_tree)))",
    "reduce": "(subset (make-1d 'x) (allreduce 'o 'sum :m 3))",
    "collect": "(subset (make-1d 'x) (collect 'o (runtime) :m 9 :impl (quote str_collect_runtime)))",
}
OTHERS = {
    "anywhere": "(stream 'o (runtime) (runtime) :m 4 :impl (quote str_stream_runtime))",
    "fixed": "(stream 'o 1 7 :m 4)",
    "gates": "(barrier 'o)",
    "commands": "(subset (make-1d 'x) (stream 'o 0 (runtime :dynamic t) :m 4 :impl (quote str_stream_dyn)))",
    "shift": "(cshift 'o (runtime) :m 4 :impl (quote sch_shift_runtime))",
    "prefix": "(prefix 'o 'sum :m 2)",
}


def followed(phase: PlannedPhase, planned: PlannedOperator, state: int) -> list[Way]:
    """The ways in a state, looked for from the beginning, sorted by node and register."""
    routed, wiring = phase.routed, phase.wiring
    chains = [chain for chain in routed.chains if chain.stream in planned.streams]
    drafts = {node: planned.roles[node][state] for node in planned.roles}
    standing = {
        (s.stream, s.chain, s.vfsm.node, s.vfsm.pipeline, s.vfsm.number): s.vfsm
        for draft in drafts.values()
        for s in draft.settings
    }
    vfsms = [[standing.get((c.stream, c.chain, v.node, v.pipeline, v.number), v) for v in c.vfsms] for c in chains]

    def register(c: int, vfsm: RoutedVfsm, place: Place, end: str) -> int:
        own = chains[c]
        return place.number if place.kind == "register" else wiring.register(vfsm.node, own.stream, own.chain, end)

    takers: dict[tuple[int, int], tuple[int, int]] = {}
    below: dict[tuple[int, int], list[int]] = defaultdict(list)
    for c, row in enumerate(vfsms):
        for i, vfsm in enumerate(row):
            if vfsm.source.kind in ("inject", "register"):
                takers[vfsm.node, register(c, vfsm, vfsm.source, "inject")] = c, i
            elif vfsm.source.kind not in ("nop", "null") and vfsm.parent >= 0:
                below[c, vfsm.parent].append(i)
    lanes = [(node, lane) for node, draft in drafts.items() for lane in draft.lanes]
    read = {(node, r) for node, lane in lanes if not lane.write for r in lane.registers}
    written = {(node, r) for node, lane in lanes if lane.write for r in lane.registers}
    written |= {(node, r) for node, draft in drafts.items() for r, _ in draft.commands}
    found = []
    for start in sorted(written & takers.keys()):
        c, i = takers[start]
        stream, words = chains[c].stream, len(vfsms[c][i].slots)
        arrivals: list[tuple[int, int]] = []
        stack, seen = [(c, i)], {(c, i)}
        while stack:
            c, i = stack.pop()
            vfsm = vfsms[c][i]
            stack += [(c, j) for j in reversed(below[c, i])]
            if vfsm.destination.kind == "command":
                arrivals.append((vfsm.node, COMMAND - vfsm.destination.number))
            if vfsm.destination.kind in ("deliver", "register"):
                end = vfsm.node, register(c, vfsm, vfsm.destination, "deliver")
                if end not in takers:
                    arrivals.append(end)
                elif takers[end] not in seen:
                    seen.add(takers[end])
                    stack.append(takers[end])
                    onward = vfsms[takers[end][0]][takers[end][1]]
                    words = min(words, joint_words(vfsm.slots, onward.slots, routed.period))
        joined = len(seen) > 1 or not planned.implementation.traceable
        name = routed.streams[stream].name
        held = planned.stages > 1 and read.isdisjoint(arrivals)
        found.append((name.split(".")[0] if joined else name, *start, tuple(arrivals), words, held))
    return found


@pytest.mark.parametrize("name", [*PROGRAMS, *OTHERS])
def test_ways_are_those_of_each_state_by_itself(name: str) -> None:
    text = (PROGRAMS | OTHERS)[name]
    plan = make_plan(compile_text(text, topology=mesh(4, 3)), NodeShape(), name="p", period=16)
    for phase in plan.phases:
        for planned in phase.operators:
            states = range(len(planned.values) * planned.stages)
            found: dict[int, list[Way]] = {state: [] for state in states}
            carried = Follower(phase, planned).carried()
            assert carried == sorted(carried, key=lambda one: (one[1][0], one[0][1:3]))
            for way, own in carried:
                assert own == sorted(set(own)), way
                for state in own:
                    found[state].append(way)
            for state in states:
                assert sorted(found[state], key=lambda way: way[1:3]) == followed(phase, planned, state), state


def test_only_words_that_a_change_concerns_are_followed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan(compile_text(OTHERS["anywhere"], topology=mesh(4, 3)), NodeShape(), name="p", period=16)
    (phase,) = plan.phases
    (planned,) = phase.operators
    follow, asked = Follower._follow, 0

    def counted(self: Follower, start: tuple[int, int]) -> object:
        nonlocal asked
        asked += 1
        return follow(self, start)

    monkeypatch.setattr(Follower, "_follow", counted)
    carried = Follower(phase, planned).carried()
    meeting = [own for _, own in carried if len(own) == len(planned.values)]
    assert len(planned.values) == 144
    assert len(meeting) == 12, "the barrier's words go the same ways in all states"
    assert asked < 5 * len(planned.values)


@pytest.mark.parametrize("name", PROGRAMS)
def test_moved_ways_are_those_of_the_instance_itself(name: str) -> None:
    plan = make_plan(compile_text(PROGRAMS[name], topology=mesh(4, 3)), NodeShape(), name="p", period=16)
    moved = 0
    for phase in plan.phases:
        for planned in phase.operators:
            alike = Follower(phase, planned)
            apart = Follower(phase, replace(planned, roles=dict(planned.roles)))
            assert not apart.moves
            moved += len(alike.moves)
            assert alike.carried() == apart.carried(), planned.operator.label
    assert moved, "no instances look alike"
