"""Rule "settling": after a barrier nodes wait until the last of those that met there has left the phase (Metcalf 1997, §5.3.2).

Takes the games of a phase, which know the ways of the barrier's words; notes findings. The word that lets the nodes go comes to
some before others. Who has it may be in the next phase, and write words there, while the others still run the phase. So it
settles: from the moment in which its own router changes, it waits until all routers have changed.

Example: the word comes to node 1 after 3 cycles and to node 5 after 12. Node 5 then waits up to 8 cycles for the slot in which
its router takes the command to change. Node 1 may write words 12 - 3 + 8 + 2 cycles after its own change: both take equally long
otherwise, but for the 2 cycles by which one processor may be slower to take the word and to send the command.

Where a message over streams of other operators ends a phase ("hijack"), nodes are apart at least by the way of its last word from
whoever sends it to whoever reads it; the processors between may make it more, which is not worked out.

Leaves to ``links`` where a node must settle at all, and to ``ends`` that the barrier holds back every node.
"""

from __future__ import annotations

from collections.abc import Iterator

from numesh.codes import POINTER_LATENCY, REPROGRAM_VFSM
from pointsman.verify.node.node import Place
from pointsman.verify.stall_game.board import At, GameBoard
from pointsman.verify.stall_game.phase_games import PhaseGames

LATEST = 3 + POINTER_LATENCY
"""Most cycles from the slot in which the word that lets a node go comes to its register until its router runs the next schedule,
besides the wait for a slot of VFSM 1 and the node's own delay: the processor reads the word and writes the command."""
EARLIEST = 2 + POINTER_LATENCY - 1
"""Fewest cycles from that slot until a node has changed and begins to settle, besides its own delay (§7.1.2)."""


def check_settling(games: PhaseGames) -> None:
    """Check the rule "settling" in a phase."""
    closing = games.image.barrier
    if closing is None:
        return
    for game in games.games(closing, 0).all:
        wait = {node: _longest_wait(games, node) for node in game.lanes}
        apart = (_apart if games.image.technique == "barrier" else _last_words)(games, closing, game, wait)
        for node in game.lanes:
            own = games.view.nodes[node].part.settle if node in games.view.nodes else ()
            need = apart.get(node, max(wait.values(), default=0)) + LATEST - EARLIEST
            for later, cycles in own:
                if 0 < cycles < need:
                    games.notebook.note(
                        "settling",
                        f"it settles for {cycles} cycles before phase {games.images.phases[later].name}",
                        f"at least {need} cycles, in which all nodes that it has met change",
                        phase=games.view.name,
                        node=node,
                    )


def _longest_wait(games: PhaseGames, node: int) -> int:
    """Most cycles that the command to change waits for slots of VFSM 1 in pipeline 0."""
    period = games.images.period
    here = games.view.nodes.get(node)
    column = here.columns[0] if here is not None and here.columns else ()
    slots = [slot for slot, vfsm in enumerate(column) if vfsm == REPROGRAM_VFSM]
    gaps = [(b - a) % period or period for a, b in zip(slots, slots[1:] + slots[:1], strict=True)]
    return max(gaps, default=1) * games.view.codes.command_words


def _apart(games: PhaseGames, closing: int, game: GameBoard, wait: dict[int, int]) -> dict[int, int]:
    """By node, the most cycles from its own leave to go until the command to change has been taken at every other node."""
    last = {node: own[-1] for node, own in game.lanes.items()}
    ends = {(node, register): node for node, lane in last.items() for register in lane.registers}
    found: dict[int, int] = {}
    for at in dict.fromkeys(game.source.values()):
        for come in _times(games, game, at):
            told = {
                ends[end]: when for end, when in come.items() if end in ends and last[ends[end]].write == (end == at)
            }
            late = {node: when + games.delay(closing, 0, node) for node, when in told.items()}
            latest = max((when + wait[node] for node, when in late.items()), default=0)
            for node, when in late.items():
                found[node] = max(found.get(node, 0), latest - when)
    return found


def _last_words(games: PhaseGames, closing: int, game: GameBoard, wait: dict[int, int]) -> dict[int, int]:
    """By node that writes last, the fewest cycles from its own leave to go until the command to change has been taken at every
    node that reads these words last."""
    last = {node: own[-1] for node, own in game.lanes.items()}
    found: dict[int, int] = {}
    for node, lane in last.items():
        for register in lane.registers if lane.write else ():
            least: dict[int, int] = {}
            for come in _times(games, game, (node, register)):
                for (other, end), when in come.items():
                    if other != node and other in last and not last[other].write and end in last[other].registers:
                        least[other] = min(least.get(other, when), when)
            for other, when in least.items():
                later = when + games.delay(closing, 0, other) + wait[other] - games.delay(closing, 0, node)
                found[node] = max(found.get(node, 0), later)
    most = max(wait.values(), default=0)
    return {node: max(cycles, most) for node, cycles in found.items()}


def _times(games: PhaseGames, game: GameBoard, at: At) -> Iterator[dict[At, int]]:
    """For each slot in which a word may leave a register: cycles until it comes to others, counted from that slot; for the
    register itself, the earliest time at which it can have been written."""
    period = games.images.period
    for first in (place for place, source in game.source.items() if source == at):
        slots = sorted(games.slots(first))
        for k, slot in enumerate(slots):
            come = {at: -((slot - slots[k - 1]) % period or period)}
            waiting: list[tuple[Place, int]] = [(first, 0)]
            seen = {first}
            while waiting:
                place, when = waiting.pop()
                if place in game.into:
                    come[game.into[place]] = when
                for onward in set(game.onward[place]) - seen:
                    seen.add(onward)
                    next_slot = min((other - slot - when - 1) % period for other in games.slots(onward))
                    waiting.append((onward, when + 1 + next_slot))
            yield come
