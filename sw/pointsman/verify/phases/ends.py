"""Rule "message-ends": when a node may leave a phase, and what it knows of the others by then (Metcalf 1997, §5.2).

Takes the games of a phase (``stall_game``); notes findings. A node that leaves a phase without a barrier must know from
its own words that no more words of any operator will come. A barrier that closes a phase must hold back every node
until all have begun with it. Both are tested in games: a processor stands still, and no node may get away from it.

Example: a broadcast of 4 words from node 0 through node 1 to node 2. When node 1 has read its 4 words, the last words
may still wait in its router for node 2, which has not begun. If the game with node 2 standing still lets node 1 get
through, node 1 must not leave by its own messages. If node 2 has begun, node 1 may leave after enough cycles (its
delay) for the words to go.

Leaves to ``drain`` words that no processor reads, to ``skew`` how far nodes can be ahead of each other, and to
``continuing`` operators that go on over the end of the phase.
"""

from __future__ import annotations

from collections.abc import Hashable

from pointsman.artifacts.images.images import LaneImage, Promise
from pointsman.verify.node.groups import groups_of, nodes_of
from pointsman.verify.node.phase_view import PhaseView
from pointsman.verify.report import Notebook
from pointsman.verify.stall_game.board import GameBoard
from pointsman.verify.stall_game.phase_games import PhaseGames
from pointsman.verify.words.streams import PhaseStreams


def phase_games(view: PhaseView, streams: PhaseStreams, notebook: Notebook) -> PhaseGames | None:
    """The games of a phase; None if no node leaves it and its operators have no prescribed order."""
    if not is_left(view) and not view.image.order:
        return None
    return PhaseGames(streams, notebook)


def is_left(view: PhaseView) -> bool:
    """Do nodes leave the phase? If it ends by a technique, or has a successor other than itself."""
    return view.image.technique != "none" or not set(view.image.successors) <= {view.phase}


def check_ends(games: PhaseGames) -> None:
    """Check the rule "message-ends", except for words that no processor reads (``drain``)."""
    view, image = games.view, games.image
    if not is_left(view):
        return
    first = min(view.nodes, default=0)
    if image.technique == "none":
        note_end(games, first, "phases follow, and nothing is done at its end", "a technique for going on")
    for index in image.operators if image.last else ():
        # A node leaves after a last operator and must have used all others by then, so none may follow all last
        # operators.
        before = {one for one, other in image.order if other == index}
        if index not in image.last and set(image.last) <= before:
            note_end(games, first, "it comes after all that may be the last, and is none of them", "an order", index)
    met = set[int]()
    if image.barrier is not None:
        met = games.lanes.get(image.barrier, set())
        _check_closing(games, image.barrier)
    parts = _parts(games)
    for node in sorted(view.nodes.keys() - met):
        _check_loose(games, node, parts[node])


def note_end(games: PhaseGames, node: int, message: str, right: str, index: int | None = None) -> None:
    """Note that the end of a phase is wrong at ``node``; ``index``: the operator whose words are concerned."""
    operator = None if index is None else games.images.operators[index]
    games.notebook.note("message-ends", message, right, operator, phase=games.view.name, node=node)


def _parts(games: PhaseGames) -> dict[int, set[int]]:
    """By node, its part: nodes that words of the program's operators join, as ends or on their way."""
    joined = [{node} for node in games.view.nodes]
    for index in games.program:
        for number in games.promises[index]:
            passed = {node for trace in games.traces.get(number, ()) for node, _, _ in trace.vfsms}
            joined.append({*nodes_of(games.images.promises[number]), *passed})
    parts: dict[int, set[int]] = {}
    group = groups_of(joined)
    for node, root in group.items():
        parts.setdefault(root, set()).add(node)
    return {node: parts[root] for node, root in group.items()}


# -- nodes that leave each for itself ------------------------------------------------------------------------


def _check_loose(games: PhaseGames, node: int, part: set[int]) -> None:
    """Check a node that leaves the phase by its own messages; ``part``: the nodes that words join with it."""
    inside = [index for index in games.program if not games.lanes[index].isdisjoint(part)]
    final = [index for index in inside if index in games.image.last] or inside
    # If getting through a last operator proves that all nodes have begun with it, all other operators are over.
    if final != inside and not all(part <= games.lanes[i] and _all_begun(games, i, node, part) for i in final):
        final = inside
    if games.image.barrier is not None and not part.isdisjoint(games.lanes[games.image.barrier]):
        note_end(games, node, "others of its part meet at the end, and it does not", "all of a part, or none")
    for index in final:
        _check_told(games, index, node)


def _check_told(games: PhaseGames, index: int, node: int) -> None:
    """Check that a node may leave when its own messages of operator ``index`` are through, for every state."""
    for state in games.states(index):
        boards = games.games(index, state)
        for game in boards.at(node):
            if node in game.lanes:
                _check_freed(games, index, state, game, node)
                continue
            for stream in boards.passing(game, node):
                message = f"words of {stream} pass, of which no message of the node's own tells"
                right = "a barrier at the end of the phase, or a way through the operator's own nodes"
                note_end(games, node, message, right, index)


def _check_freed(games: PhaseGames, index: int, state: int, game: GameBoard, node: int) -> None:
    """Check that once ``node`` is through no word comes any more, or only words that are gone within its delay because
    the other nodes have begun to take them."""
    wrong: tuple[str, str] | None = None
    alike = _alike(games, index, state, game, node)
    if alike in games.freed:
        return
    for words in games.lengths(index):
        wrong = _freed(games, index, state, game, node, words)
        if wrong is None:
            games.freed.add(alike)
            return
    if wrong is not None:
        note_end(games, node, *wrong, index)


def _alike(games: PhaseGames, index: int, state: int, game: GameBoard, node: int) -> Hashable:
    """All that decides whether a node is free to leave: rows of a mesh, where it is mostly the same, are looked at once."""
    here = game.here.get(node, ())
    first, places, nodes = game.twin or (game, dict(zip(here, here, strict=True)), {node: node})
    slots = tuple(sorted((places[place], len(games.slots(place))) for place in here))
    return id(first), nodes[node], slots, games.delay(index, state, node), games.lengths(index)


def _freed(games: PhaseGames, index: int, state: int, game: GameBoard, node: int, words: int) -> tuple[str, str] | None:
    """(fault, what would be right) if a node leaves when its messages of ``words`` words are through; None: it may."""
    if not games.gets_through(game, node, words):
        return None  # it never gets away
    here = game.here.get(node, ())
    delay = games.delay(index, state, node)
    for place in here:
        behind = games.behind(game, words, place, node)
        need = games.cycles_for(behind, len(games.slots(place)))
        if delay < need:
            return _late(behind, delay, need)
    every = max((len(games.slots(place)) for place in here), default=1)
    worst = games.most_left(game, node, words)
    for other, after, left in games.left_when_stopped(game, node, words) if worst is None else [worst]:
        if after == 0 and left:
            return (
                f"it may be through before node {other} has begun, and words are on their way",
                "a longer message, or a barrier",
            )
        need = games.cycles_for(left, every)
        if delay < need:
            return _late(left, delay, need)
    return None


def _late(left: int, delay: int, need: int) -> tuple[str, str]:
    return (
        f"{left} words may still be on their way when it is through, and it waits {delay} cycles",
        f"at least {need} cycles",
    )


def _all_begun(games: PhaseGames, index: int, node: int, part: set[int]) -> bool:
    """When ``node`` is through with an operator, have all other nodes of its part certainly begun with it?"""
    for state in games.states(index):
        game = games.game_of(index, state, node)
        if game is None:
            if len(part) > 1:
                return False
            continue
        if not part - {node} <= games.needed(game, node, games.lengths(index)):
            return False
    return True


# -- what closes a phase -------------------------------------------------------------------------------------


def _check_closing(games: PhaseGames, index: int) -> None:
    """Check that no node gets through the barrier (or hijack) ``index`` before all have begun with it, that all get
    through in the end, and that each node's delay is enough for words still in its router."""
    if games.image.technique == "hijack":
        _check_hijacked(games, index)
    for game in games.games(index, 0).all:
        members = {node for node, lanes in game.lanes.items() if lanes}
        free = games.plays(game, 1)
        for other in sorted(members):
            held_up = games.plays(game, 1, other)
            if free is None or held_up is None:
                return
            for node in sorted(members - {other}) if any(held_up) else ():
                if games.gets_through(game, node, 1, other):
                    message = f"it gets through what closes the phase though node {other} has not come"
                    note_end(games, node, message, "a barrier that waits for all of its nodes", index)
        for node in sorted(members):
            if not games.gets_through(game, node, 1):
                message = "it never gets through what closes the phase"
                note_end(games, node, message, "words for all that it reads", index)
        for node in sorted(members):
            if games.gets_through(game, node, 1):
                _check_freed(games, index, 0, game, node)


def _check_hijacked(games: PhaseGames, index: int) -> None:
    """Check that the lanes of a hijack write whole streams of the phase, and that these reach every lane that reads."""
    own = {node: games.role_lanes(index, 0, node) for node in games.lanes[index]}
    reads = {(n, lane.registers): lane for n, lanes in own.items() for lane in lanes if not lane.write}
    taken: set[tuple[int, tuple[int, ...]]] = set()
    for node, lane in ((node, lane) for node, lanes in sorted(own.items()) for lane in lanes if lane.write):
        carried = _carried(games, index, node, lane)
        if {promise.register for promise in carried} != set(lane.registers):
            message = (
                f"what closes the phase writes registers {lane.registers}, from which no stream always carries words"
            )
            note_end(games, node, message, "a stream that load functions leave alone", index)
            continue
        for promise in carried:
            for to, register in promise.destinations:
                reader = next(((at, one) for at, one in reads.items() if at[0] == to and register in at[1]), None)
                if reader is None or reader[1].words != lane.words:
                    message = f"stream {promise.stream} brings words of what closes the phase, which nobody takes there"
                    note_end(games, to, message, "a lane of its role", index)
                else:
                    taken.add(reader[0])
    for node, registers in sorted(reads.keys() - taken):
        note_end(games, node, f"it waits for words in registers {registers}, which nobody sends", "a stream", index)


def _carried(games: PhaseGames, closing: int, node: int, lane: LaneImage) -> list[Promise]:
    """Streams of other operators that carry, for all values of these, the words that a lane of ``node`` writes."""
    images = games.images
    numbers = [number for other, own in games.promises.items() if other != closing for number in own]
    return [
        promise
        for promise in (images.promises[number] for number in numbers)
        if promise.source == node
        and promise.register in lane.registers
        and len(promise.values) == images.operators[promise.operator].states
        and not promise.held
    ]
