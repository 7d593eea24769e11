"""Does everybody come who is waited for? Barriers at the ends of phases and of load functions, on every way through the text.

Takes images and the program that they name; gives sentences. Nodes that meet in a barrier must come to all that they share
equally often and in the same order, however often loops go round (not at all among them) and whichever optional groups are
taken. Two nodes of a barrier at a time go through the text together, operator by operator: for each the load function is
carried out as the run time does it, phase by phase, passages and all, and whoever is ahead of the other waits in a queue of
barriers. At the end of the program nobody may be ahead. The first node of each barrier is compared with each other one; nodes
that do the same are compared once.

Parallel groups are gone through in the order of the text. Leaves out what a barrier's words do: other rules prove that they wait
for every node of the barrier and for nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from pointsman.artifacts.images.images import SYNC, Images
from pointsman.program.program import Program

from .node.phase_view import made_operators
from .order import BEGIN, Ends, read
from .structure.programs import sequences_of_parts

END = -1
"""In place of a phase to be entered: the end of the program."""
MOST_AHEAD = 8
"""Barriers that a node may be ahead of another."""
State = tuple[int, bool]
"""Phase that runs, -1 at the beginning; was it entered for an operator that continues, and no other loaded since?"""
Event = tuple[str, int, bool]
"""A barrier: ("phase", phase, False), or ("load", operator, was its phase entered anew?)."""
Ahead = tuple[Event, ...]


def meeting_differences(images: Images, program: Program) -> Iterator[str]:
    """Barriers to which some node does not come though another waits there, as sentences."""
    yield from _Meetings(images, program).differences()


@dataclass(frozen=True)
class _Traveller:
    """What decides which phases a node goes through: nodes with equal ones do the same.

    Parameters
    ----------
    loads : tuple of (str, tuple of (tuple of int))
        By label, the operators that a call of its load function loads: one way for each schedule, each a sequence.
    enters : tuple of (int, int)
        Phase that the load function of each operator that continues enters.
    passages : tuple of ((int, int), tuple of int)
        Phases on the way from one phase to another.
    """

    loads: tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]
    enters: tuple[tuple[int, int], ...]
    passages: tuple[tuple[tuple[int, int], tuple[int, ...]], ...]


class _Meetings:
    def __init__(self, images: Images, program: Program) -> None:
        self.images, self.program = images, program
        self.loads = self._loads()
        passages: dict[int, dict[tuple[int, int], tuple[int, ...]]] = {}
        for node, left, entered, way in images.passages:
            passages.setdefault(node, {})[left, entered] = way
        self.passages = passages
        self.travellers: dict[int, _Traveller] = {}
        self.read = cache(self._read)
        self.held_loads = cache(self._held_loads)

    def _loads(self) -> dict[str, list[tuple[int, ...]]]:
        """By label, what its load function loads (`_Traveller.loads`) if a node has all of it."""
        images = self.images
        parts = {index for _, several in sequences_of_parts(images) for index in several}
        made = {index for phase in images.phases for index in made_operators(phase)}
        found: dict[str, list[tuple[int, ...]]] = {}
        for index, image in enumerate(images.operators):
            if index not in parts | made:
                found.setdefault(image.label, []).append((index,))
        # Of operators that share phases by their values the last one's load function enters the phase.
        last: dict[frozenset[int], str] = {}
        for label, several in found.items():
            if len(several) > 1:
                last[frozenset(images.operators[index].phase for (index,) in several)] = label
        for label in [one for one, several in found.items() if len(several) > 1 and one not in last.values()]:
            del found[label]
        for operator, sequence in sequences_of_parts(images):
            found.setdefault(operator.label, []).append(sequence)
        return found

    def _held_loads(self, held: frozenset[int]) -> tuple[tuple[str, tuple[tuple[int, ...], ...]], ...]:
        """`_Traveller.loads` of a node that has the operators ``held``."""
        loads = ((label, tuple(filter(held.issuperset, several))) for label, several in self.loads.items())
        return tuple((label, several) for label, several in loads if several)

    def _traveller(self, node: int) -> _Traveller:
        if node not in self.travellers:
            operators = self.images.nodes[node].operators
            self.travellers[node] = _Traveller(
                self.held_loads(frozenset(index for index, _ in operators)),
                tuple((index, here.enters) for index, here in operators if here.enters >= 0),
                tuple(sorted(self.passages.get(node, {}).items())),
            )
        return self.travellers[node]

    def differences(self) -> Iterator[str]:
        shared: dict[tuple[int, int], set[tuple[str, int]]] = {}
        for kind, number, nodes in self._barriers():
            for other in nodes[1:]:
                shared.setdefault((nodes[0], other), set()).add((kind, number))
        seen = set()
        for (one, other), barriers in shared.items():
            a, b = self._traveller(one), self._traveller(other)
            key = a, b, frozenset(barriers)
            if a == b or key in seen:
                continue
            seen.add(key)
            said = _Pair(self, a, b, barriers).difference()
            if said is not None:
                yield f"nodes {one} and {other} meet {said}"

    def _barriers(self) -> Iterator[tuple[str, int, Sequence[int]]]:
        """("phase" or "load", its number, the nodes that meet) of each barrier."""
        images = self.images
        for phase, image in enumerate(images.phases):
            closing = images.operators[image.barrier].program if image.barrier is not None else None
            for instance in closing.instances if closing is not None else ():
                yield "phase", phase, instance.nodes
        for index, operator in enumerate(images.operators):
            if operator.program is not None and self._meets_when_entering(index):
                for instance in operator.program.instances:
                    yield "load", index, instance.nodes

    def _meets_when_entering(self, index: int) -> bool:
        """Does it depend on whether a node enters its phase how often the load function of an operator meets?"""
        operator = self.images.operators[index]
        if not (operator.synchronised or operator.instances) or (operator.partial and operator.synchronised):
            return False
        phase = self.images.phases[operator.phase]
        shares = any(other not in (index, *made_operators(phase)) for other in phase.operators)
        roles = (role for here in self.images.members[index].values() for role in here.roles)
        meets = any(lane.turn == SYNC for role in roles for lane in role.lanes)
        return meets and (operator.remote or not shares)

    def _read(self, labels: frozenset[str]) -> tuple[dict[str, dict[str, None]], Ends]:
        return read(self.program, labels, in_turn=True)


class _Pair:
    """Two nodes that go through the text together; ``shared``: barriers in which they meet."""

    def __init__(self, all_: _Meetings, one: _Traveller, other: _Traveller, shared: set[tuple[str, int]]) -> None:
        self.images, self.shared = all_.images, shared
        self.both = tuple(_Going(all_.images, each) for each in (one, other))
        self.labels = frozenset(label for going in self.both for label in going.loads)
        self.follows, self.ends = all_.read(self.labels)

    def difference(self) -> str | None:
        """The barrier to which only one of the two comes, with where that is seen; None: there is none."""
        begin: State = (-1, False)
        start: tuple[str, tuple[State, State], int, Ahead] = BEGIN, (begin, begin), 0, ()
        waiting = [start]
        seen = {start}
        while waiting:
            label, states, who, ahead = waiting.pop()
            if label in self.ends.last or (label == BEGIN and self.ends.passed):
                _, _, left = self._step(states, who, ahead, None)
                if left:
                    return f"{self._named(left[0])}, and one of them does not come there before its end"
            for after in self.follows.get(label, ()):
                ways = {way for going in self.both for way in going.loads.get(after, ())}
                for way in sorted(ways):
                    then = self._step(states, who, ahead, (after, way))
                    if then[2] and len(then[2]) > MOST_AHEAD:
                        return f"{self._named(then[2][0])}, and one of them passes it by before '{after}'"
                    found = after, *then
                    if found not in seen:
                        seen.add(found)
                        waiting.append(found)
        return None

    def _step(
        self, states: tuple[State, State], who: int, ahead: Ahead, load: tuple[str, tuple[int, ...]] | None
    ) -> tuple[tuple[State, State], int, Ahead]:
        """Both nodes load an operator (None: come to their end); gives their states, who is ahead, and by which barriers."""
        then = []
        for number, (going, state) in enumerate(zip(self.both, states, strict=True)):
            if load is None:
                state, events = going.finish(state)
            elif load[1] in going.loads.get(load[0], ()):
                state, events = going.load(state, load[1])
            else:
                events = ()
            then.append(state)
            for event in events:
                if event[:2] not in self.shared:
                    continue
                if not ahead or who == number:
                    who, ahead = number, (*ahead, event)
                elif ahead[0] == event:
                    ahead = ahead[1:]
                else:
                    # They wait for each other in different barriers.
                    ahead = (*ahead, *(event,) * (MOST_AHEAD + 1))
        return (then[0], then[1]), who if ahead else 0, ahead

    def _named(self, event: Event) -> str:
        kind, number, _ = event
        if kind == "phase":
            return f"at the end of phase '{self.images.phases[number].name}'"
        return f"when they load '{self.images.operators[number].label}'"


class _Going:
    """A node on its way from phase to phase, as the run time goes (`pointsman.protocol.phase_change`)."""

    def __init__(self, images: Images, traveller: _Traveller) -> None:
        self.images = images
        self.loads = dict(traveller.loads)
        self.enters = dict(traveller.enters)
        self.passages = dict(traveller.passages)
        self.known: dict[object, tuple[State, tuple[Event, ...]]] = {}

    def load(self, state: State, operators: tuple[int, ...]) -> tuple[State, tuple[Event, ...]]:
        """The load functions of some operators, one after the other; gives barriers that the node comes to."""
        key = state, operators
        if key not in self.known:
            events: list[Event] = []
            for index in operators:
                state = self._load(state, index, events)
            self.known[key] = state, tuple(events)
        return self.known[key]

    def finish(self, state: State) -> tuple[State, tuple[Event, ...]]:
        """The end of the program."""
        events: list[Event] = []
        state, left = self._enter(state, END, events)
        phase = state[0]
        if not left and phase >= 0 and self.images.phases[phase].online is not None:
            self._leave(phase, events)
        return state, tuple(events)

    def _load(self, state: State, index: int, events: list[Event]) -> State:
        operator, before = self.images.operators[index], state[0]
        if operator.continues:
            if before not in operator.continues:
                state, _ = self._enter(state, self.enters[index], events)
                state = state[0], True
            return state
        state, left = self._enter(state, operator.phase, events)
        if left and operator.remote and before == operator.phase:
            state, _ = self._enter(state, operator.phase, events)
        events.append(("load", index, left))
        return state

    def _enter(self, state: State, phase: int, events: list[Event]) -> tuple[State, bool]:
        """Go on to a phase; gives whether the phase before has been left."""
        before, unused = state
        if unused and phase == before:
            return (before, False), False
        way = self.passages.get((before, phase))
        current = before
        for passed in way or ():
            current = self._change(current, passed, events)
        if phase not in (END, current):
            return (self._change(current, phase, events), False), True
        if way is None:
            return (current, False), False
        self._leave(current, events)
        return (current, False), True

    def _change(self, current: int, phase: int, events: list[Event]) -> int:
        if current not in (-1, phase):
            self._leave(current, events)
        return phase

    def _leave(self, phase: int, events: list[Event]) -> None:
        events.append(("phase", phase, False))
