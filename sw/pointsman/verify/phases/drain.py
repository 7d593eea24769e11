"""Words that routers drop: are they gone when all who read have read, and a barrier lets the nodes leave?

For the judge: plays the games of ``check_ends`` with one VFSM held up, and bounds from below how long it takes until the last of
the words behind it have passed. Non-goals: words that somebody reads; these are through when the nodes are.
"""

from __future__ import annotations

from pointsman.artifacts.images.images import SYNC
from pointsman.verify.stall_game.board import Board, Place

from .ends import SHORT, Ends

Event = tuple[int, int]
"""Node and number of a lane."""


def check_dropped(ends: Ends) -> None:
    """Rule "message-ends": the delay of what closes a phase is long enough for words that nobody reads."""
    closing = ends.image.barrier
    if closing is None:
        return
    games = ends.games(closing, 0)
    heard: dict[int, int] = {}
    for game in games.all:
        steps = _steps(game)
        heard |= {node: _round_trip(game, steps, node) for node in game.lanes}
    for index in ends.image.operators:
        if index not in ends.inner:
            _check(ends, closing, index, heard)


def _check(ends: Ends, closing: int, index: int, heard: dict[int, int]) -> None:
    """``heard``: by node, cycles at least from when it comes to what closes the phase until it hears that all have come."""
    views = ends.images.members[index].values()
    meets = any(lane.turn == SYNC for view in views for role in view.roles for lane in role.lanes)
    words = min(ends.images.operators[index].m, SHORT)
    for state in ends.states(index):
        games = ends.games(index, state)
        for game in games.all:
            if all(onward or place in game.into for place, onward in game.onward.items()):
                continue
            through = ends.plays(game, words)
            if through is None or not all(through):
                continue
            for place in game.onward:
                if place[0] not in ends.lanes[closing]:
                    continue
                behind = ends.behind(game, words, place)
                need = 1 + (behind - 1) * ends.images.period // len(ends.slots(place)) if behind else 0
                # Words wait in routers only if some node may come late.
                need = min(need, 1) if meets else need
                if ends.delay(closing, 0, place[0]) + heard.get(place[0], 0) < need:
                    ends.note(
                        place[0],
                        f"{behind} words that nobody reads may pass when all have met at the end of the phase",
                        f"a delay of at least {need} cycles there",
                        index,
                    )


def _steps(game: Board) -> list[tuple[Event, Event, int]]:
    """Which lane waits for which, and cycles at least between them: one a VFSM, and one a lane that waits."""
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
    return steps


def _round_trip(game: Board, steps: list[tuple[Event, Event, int]], late: int) -> int:
    """Cycles at least between the first and the last lane of a node that all others wait for."""
    when = {(late, i): 0 for i in range(len(game.lanes[late]))}
    # Lanes wait for each other in no circle, so this comes to an end before there are as many turns as steps.
    for _ in steps:
        changed = False
        for of, to, cycles in steps:
            if of in when and when[of] + cycles > when.get(to, -1):
                when[to], changed = when[of] + cycles, True
        if not changed:
            break
    return max((when[late, i] for i in range(len(game.lanes[late]))), default=0)
