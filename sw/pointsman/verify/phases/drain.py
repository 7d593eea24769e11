"""Rule "message-ends" for words that routers drop: are they gone when a barrier lets the nodes leave?

Takes the games of a phase; notes findings. A word that no processor reads (its last VFSM writes to NULL) may still be
under way when all processors have read their words. The game is played with a VFSM held up: how many words can be
behind it when every node is through? They need a slot of the VFSM each. The time that they have is at least the delay
after the barrier, plus a cycle for each VFSM that the barrier's own words pass from the node to all others and back.

Example: 3 words may wait behind a VFSM with 1 slot in a period of 8: the last is gone after 1 + 2 * 8 = 17 cycles. If the
barrier's words take 10 cycles there and back, a delay of 7 cycles is enough.

Leaves to ``ends`` words that processors read: these have arrived when the nodes are through.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from pointsman.artifacts.images.images import SYNC
from pointsman.verify.node.node import Place
from pointsman.verify.stall_game.board import GameBoard
from pointsman.verify.stall_game.phase_games import SHORT, PhaseGames

from .ends import note_end

Event = tuple[int, int]
"""Node and number of a lane."""


def check_dropped(games: PhaseGames) -> None:
    """Check that the delay after the closing barrier of a phase is long enough for words that no processor reads."""
    closing = games.image.barrier
    if closing is None:
        return
    heard: dict[int, int] = {}
    for game in games.games(closing, 0).all:
        steps = _steps(game)
        heard |= {node: _round_trip(game, steps, node) for node in game.lanes}
    for index in games.program:
        _check(games, closing, index, heard)


def _check(games: PhaseGames, closing: int, index: int, heard: dict[int, int]) -> None:
    """Check operator ``index``. ``heard``: by node, the least cycles from its coming to the barrier ``closing`` until
    it hears that all nodes have come."""
    members = games.images.members[index].values()
    meets = any(lane.turn == SYNC for here in members for role in here.roles for lane in role.lanes)
    words = min(games.images.operators[index].m, SHORT)
    dropping = [state for state in games.states(index) if games.drops(index, state)]
    for game in (game for state in dropping for game in games.games(index, state).all):
        if all(onward or place in game.into for place, onward in game.onward.items()):
            continue
        through = games.plays(game, words)
        if through is None or not all(through):
            continue
        for place in game.onward:
            node = place[0]
            if node not in games.lanes[closing]:
                continue
            behind = games.behind(game, words, place)
            need = games.cycles_for(behind, len(games.slots(place)))
            # Words wait in routers only if some node may come late, which a barrier of the load functions rules out.
            need = min(need, 1) if meets else need
            if games.delay(closing, 0, node) + heard.get(node, 0) < need:
                message = f"{behind} words that nobody reads may pass when all have met at the end of the phase"
                note_end(games, node, message, f"a delay of at least {need} cycles there", index)


def _steps(game: GameBoard) -> list[tuple[Event, Event, int]]:
    """(lane, lane that waits for it, least cycles between them): one for each VFSM on a word's way, one at a node."""
    lanes = [((node, i), one) for node, own in game.lanes.items() for i, one in enumerate(own)]
    writers = {(event[0], r): event for event, one in lanes if one.write for r in one.registers}
    readers = {(event[0], r): event for event, one in lanes if not one.write for r in one.registers}
    steps: list[tuple[Event, Event, int]] = [
        ((event[0], one.after), event, 1) for event, one in lanes if one.after is not None
    ]
    places: dict[tuple[int, int], set[Place]] = {}
    for place, source in game.source.items():
        places.setdefault(source, set()).add(place)
    for at, writer in writers.items():
        seen = reached = places.get(at, set())
        far = 0
        while reached:
            far += 1
            ends = {game.into[place] for place in reached if place in game.into}
            steps += [(writer, readers[end], far) for end in ends if end in readers]
            reached = {onward for place in reached for onward in game.onward[place]} - seen
            seen = seen | reached
    return _in_order(steps)


def _in_order(steps: list[tuple[Event, Event, int]]) -> list[tuple[Event, Event, int]]:
    """Steps in an order in which each comes after those that lead to it, so that a single turn through them finds all times; as
    they are if lanes wait for each other in a circle."""
    order = TopologicalSorter[Event]()
    for of, to, _ in steps:
        order.add(to, of)
    try:
        number = {event: at for at, event in enumerate(order.static_order())}
    except CycleError:
        return steps
    return sorted(steps, key=lambda step: number[step[0]])


def _round_trip(game: GameBoard, steps: list[tuple[Event, Event, int]], late: int) -> int:
    """Least cycles between the first and the last lane of node ``late``, the last node to come."""
    when = {(late, i): 0 for i in range(len(game.lanes[late]))}
    # Steps are in their order, so nothing changes in the second turn, unless lanes wait for each other in a circle.
    for _ in steps:
        changed = False
        for of, to, cycles in steps:
            if of in when and when[of] + cycles > when.get(to, -1):
                when[to], changed = when[of] + cycles, True
        if not changed:
            break
    return max((when[late, i] for i in range(len(game.lanes[late]))), default=0)
