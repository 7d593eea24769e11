"""Rule "meaning" for barriers that are a broadcast of many words: nobody has them all before everybody has come.

Takes the games of a phase; notes findings. A node that has not come reads nothing, so that its registers and the VFSMs on the way
to it fill up, and the source stands still. If the message has more words than find room there, no node gets all of it.

Routers hold fewer words than the game gives room for, so that the rule asks for more words than are needed, never for fewer.

Example: on 3x1, node 0 sends to nodes 1 and 2. With 2 words node 1 is through before node 2 has come, as both find room on the
way to node 2; with 16 it is not.

That each node receives the message, when all have come, is left to ``meaning``.
"""

from __future__ import annotations

from pointsman.verify.meaning.replaced import is_one_broadcast
from pointsman.verify.node.phase_view import PhaseView
from pointsman.verify.report import Notebook
from pointsman.verify.stall_game.phase_games import PhaseGames
from pointsman.verify.words.streams import PhaseStreams

MOST_STEPS = 100_000_000
"""Most moves of tokens in all games of a phase: seconds, as these games are played one by one."""


def check_broadcast_barriers(view: PhaseView, streams: PhaseStreams, notebook: Notebook) -> None:
    """Check the broadcasts of a phase each of which does the work of a barrier alone."""
    for whole in view.images.replaced:
        parts = [view.images.operators[index].program for index in whole.parts]
        if not is_one_broadcast(whole.program, parts) or whole.parts[0] not in view.image.operators:
            continue
        index, program = whole.parts[0], parts[0]
        assert program is not None
        games = PhaseGames(streams, notebook)
        games.steps = MOST_STEPS
        notebook.counts["barriers by a broadcast"] += 1
        for instance in program.instances:
            for other in instance.nodes:
                for node in _not_held_back(games, index, instance.nodes, other):
                    notebook.note(
                        "meaning",
                        f"it gets on before node {other} has called",
                        "more words than find room on the way",
                        view.images.operators[index],
                        phase=view.name,
                        node=node,
                    )


def _not_held_back(games: PhaseGames, index: int, nodes: tuple[int, ...], other: int) -> list[int]:
    """Of ``nodes``, those that may move all words of their messages before ``other`` has begun."""
    rest = [node for node in nodes if node != other]
    game = games.game_of(index, 0, other) if index in games.lanes else None
    if game is None:
        return rest
    through = games.plays(game, games.images.operators[index].m, other)
    if through is None:
        return []  # too many games, which is said
    return [node for node in rest if node not in game.lanes or through[game.number(node)]]
