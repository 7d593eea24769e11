"""How far can all nodes get while one of them stands still in a phase? A game on phases, for "wires" and "registers"
(§5.3.4).

Takes the phases of the images and the games of words of each; gives answers, notes nothing. A node begins an operator
when it has come to the phase and is through with the operators before it. It gets through the operator once all nodes
that it needs have begun the operator; the games of words tell which these are, as each of the other nodes stands still
in turn. It leaves the phase when it is through with an operator that may be the last, and with the operator that closes
the phase. What all nodes can reach together, while one of them stays where it is, is the most that they can be ahead of
it.

Example: phases A, B, C in turn, in each a shift from node 0 to node 1 and another from node 1 to node 0, and node 1
stands still in A. Node 0 reads nothing before node 1 has begun the second shift, so it cannot leave A: no word that it
writes in B can meet node 1 in A. With the first shift alone, and messages short enough to wait on their way, node 0
could get through all three phases.

The planner argues the other way round (``plan.conflicts.happens_before``: what must have happened).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pointsman.verify.node.phase_view import made_operators
from pointsman.verify.stall_game.phase_games import PhaseGames

from .all_phases import AllPhases


@dataclass
class _Reached:
    """What nodes can reach while one of them stands still. Sets of nodes are integers with bit n for node n."""

    there: list[int]
    """By phase, nodes that can come to it."""
    begun: list[int]
    """By operator, nodes that can begin it."""


@dataclass(frozen=True)
class _Course:
    """How a node goes through a phase."""

    before: tuple[tuple[int, tuple[int, ...]], ...]
    """(operator of the phase, operators that the node is through with before it begins this operator)."""
    final: tuple[int, ...]
    """The node leaves when it is through with at least one of these operators."""
    closing: int | None
    """Operator that closes the phase, if the node takes part in it."""
    needs: dict[int, int] = field(default_factory=dict)
    """Cache: by operator, bits of the nodes that have to begin it before this node gets through it."""


class Skew:
    """Answers how far nodes can be ahead. ``games``: by phase; None for phases that no node leaves.

    Plays a game for each phase and node asked about; its time is about nodes x operators x nodes that a node waits for.
    """

    def __init__(self, phases: AllPhases, games: Sequence[PhaseGames | None]) -> None:
        self.images = phases.images
        self.program = phases.program
        self.games = games
        self.nodes = range(phases.images.topology.nodes)
        # With threads each node has ways of its own through the phases; then every question is answered by "it may".
        self.known = not phases.threads
        self._reached: dict[tuple[int, int], _Reached] = {}
        self._courses: dict[tuple[int, int], _Course] = {}

    def may_be(self, node: int, later: int, other: int, earlier: int) -> bool:
        """May ``node`` have come from phase ``earlier`` to ``later`` while ``other`` is still in ``earlier``?"""
        return not self.known or bool(self._at(earlier, other).there[later] >> node & 1)

    def may_send(self, node: int, index: int, other: int, earlier: int) -> bool:
        """May words of ``node`` for operator ``index`` be under way while ``other`` is still in phase ``earlier``? True
        without a game for operators whose words may go out before the node uses them, as load functions send them, and
        for operators that close phases."""
        operator = self.images.operators[index]
        phase = self.images.phases[operator.phase]
        early = operator.synchronised or operator.remote or operator.gated or operator.stages > 1
        made = bool(operator.instances) or operator.online is not None or bool(operator.continues)
        if not self.known or early or made or phase.technique == "hijack" or index in made_operators(phase):
            return True
        return bool(self._at(earlier, other).begun[index] >> node & 1)

    def _at(self, earlier: int, other: int) -> _Reached:
        key = earlier, other
        if key not in self._reached:
            self._reached[key] = self._play(earlier, other)
        return self._reached[key]

    def _play(self, earlier: int, other: int) -> _Reached:
        phases = len(self.images.phases)
        reached = _Reached([0] * phases, [0] * len(self.images.operators))
        begun, there = reached.begun, reached.there
        first = set(self.program[earlier])
        # By node, phases in which it has still an operator to begin, or which it has still to leave.
        waiting = {node: sorted(first) for node in self.nodes if node != other and first}
        for phase in first:
            there[phase] = sum(1 << node for node in waiting)
        left = [0] * phases
        going = True
        while going:
            going = False
            for node, mine in list(waiting.items()):
                bit = 1 << node
                stays = []
                for phase in mine:
                    course = self._courses.get((phase, node)) or self._course(phase, node)
                    still = phase == earlier
                    missing = False
                    for index, before in course.before:
                        if begun[index] & bit:
                            continue
                        if still or not before or all(self._is_through(begun, phase, i, node, course) for i in before):
                            begun[index] |= bit
                            going = True
                        else:
                            missing = True
                    if not left[phase] & bit:
                        if not still and not self._leaves(reached, phase, node, course):
                            stays.append(phase)
                            continue
                        left[phase] |= bit
                        for successor in self.program[phase]:
                            if not there[successor] & bit:
                                there[successor] |= bit
                                stays.append(successor)
                                going = True
                    if missing:
                        stays.append(phase)
                if stays:
                    waiting[node] = sorted(stays)
                else:
                    del waiting[node]
        return reached

    def _course(self, phase: int, node: int) -> _Course:
        key = phase, node
        if key not in self._courses:
            games, image = self.games[phase], self.images.phases[phase]
            if games is None:
                self._courses[key] = _Course(tuple((index, ()) for index in image.operators), (), None)
            else:
                meets = image.barrier is not None and node in games.lanes[image.barrier]
                before = tuple((index, tuple(_first(games, index, node))) for index in image.operators)
                self._courses[key] = _Course(before, tuple(_final(games, node)), image.barrier if meets else None)
        return self._courses[key]

    def _is_through(self, begun: Sequence[int], phase: int, index: int, node: int, course: _Course) -> bool:
        """Has ``node`` begun operator ``index``, and so have all nodes that it needs to get through it?"""
        if not begun[index] >> node & 1:
            return False
        needs = course.needs.get(index)
        return not (self._needs(phase, index, node, course) if needs is None else needs) & ~begun[index]

    def _needs(self, phase: int, index: int, node: int, course: _Course) -> int:
        if index not in course.needs:
            games = self.games[phase]
            assert games is not None
            course.needs[index] = sum(1 << one for one in needed(games, index, node))
        return course.needs[index]

    def _leaves(self, reached: _Reached, phase: int, node: int, course: _Course) -> bool:
        for index in course.final:
            if self._is_through(reached.begun, phase, index, node, course):
                break
        else:
            if course.final:
                return False
        return course.closing is None or not self._needs(phase, course.closing, node, course) & ~reached.there[phase]


def needed(games: PhaseGames, index: int, node: int) -> set[int]:
    """Nodes that must begin operator ``index`` before ``node`` can get through it, whatever the run-time values. Games
    that are too many to be played find no such node."""
    lengths = (1,) if index == games.image.barrier else games.lengths(index)
    each = []
    for state in games.states(index):
        game = games.game_of(index, state, node)
        each.append(
            set()
            if game is None
            else {one for one in game.lanes if one != node and games.needs(game, node, one, lengths)}
        )
    return set.intersection(*each) if each else set()


def _first(games: PhaseGames, index: int, node: int) -> list[int]:
    """Operators that ``node`` must use before operator ``index`` in the phase (``PhaseImage.order``)."""
    return [one for one, other in games.image.order if other == index and node in games.lanes.get(one, ())]


def _final(games: PhaseGames, node: int) -> list[int]:
    """Operators of which ``node`` has used at least one when it leaves the phase."""
    own = [index for index in games.program if node in games.lanes[index]]
    final = [index for index in games.image.operators if index in games.image.last]
    return final if final and set(final) <= set(own) else own
