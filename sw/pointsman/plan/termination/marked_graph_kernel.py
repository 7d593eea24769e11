"""What every node may conclude when it is done, worked out on a marked graph of arrays (see ``plan.termination.marked_graph``).

Everything of one instance is done in one call: the graph of a barrier over 100 nodes has some thousand edges, and each node
asks anew how far all others must be.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.kernels import kernel


class Graph(NamedTuple):
    """Actors and edges.

    Edges into actor a are ``first_edge[a] : first_edge[a + 1]``. ``place`` is the position of an actor's node among those
    that ask, -1 if it is none of them; ``order`` a way through the actors along all edges without lag.
    """

    stride: np.ndarray
    """By actor (n, c): it moves words k with k mod n == c only."""
    place: np.ndarray
    lane: np.ndarray
    first_edge: np.ndarray
    edge_from: np.ndarray
    lag: np.ndarray
    delay: np.ndarray
    whole: np.ndarray
    order: np.ndarray


@kernel
def _last_word(stride: np.ndarray, actor: int, words: int) -> int:
    """Highest word below ``words`` that the actor moves, -1 if none."""
    n, c = stride[actor, 0], stride[actor, 1]
    last = words - 1
    return last - (last - c) % n if last >= c else -1


@kernel
def _progress(graph: Graph, place: int, words: int, passed: np.ndarray, ring: np.ndarray, on: np.ndarray) -> None:
    """Words that each actor must have passed at least when all lanes of a node are done. O(edges) in the usual case: actors are
    looked at in turn, as last in, first out comes back to those of a large network many times."""
    waiting, at = 0, 0
    for actor in range(passed.shape[0]):
        passed[actor] = 0
        if graph.lane[actor] and graph.place[actor] == place:
            passed[actor] = words
            ring[waiting] = actor
            waiting += 1
            on[actor] = True
    while waiting:
        actor = ring[at]
        at = (at + 1) % ring.shape[0]
        waiting -= 1
        on[actor] = False
        last = _last_word(graph.stride, actor, passed[actor])
        for edge in range(graph.first_edge[actor], graph.first_edge[actor + 1]):
            if graph.whole[edge]:
                known = words if passed[actor] else 0
            else:
                known = last - graph.lag[edge] + 1 if last >= graph.lag[edge] else 0
            before = graph.edge_from[edge]
            if known > passed[before]:
                passed[before] = known
                if not on[before]:
                    on[before] = True
                    ring[(at + waiting) % ring.shape[0]] = before
                    waiting += 1


@kernel
def _waited_for(graph: Graph, place: int, words: int, passed: np.ndarray, stack: np.ndarray, on: np.ndarray) -> int:
    """Mark, in ``on``, the actors of a node (-1: all actors) that have words left to move, and those that they wait for; gives
    the first word left. Of a broadcast these are the nodes behind the node, not the branches beside it."""
    top, first = 0, words
    for actor in range(passed.shape[0]):
        left = passed[actor] <= _last_word(graph.stride, actor, words)
        on[actor] = left and (place < 0 or graph.place[actor] == place)
        if on[actor]:
            first = min(first, passed[actor])
            stack[top] = actor
            top += 1
    while top:
        top -= 1
        actor = stack[top]
        for edge in range(graph.first_edge[actor], graph.first_edge[actor + 1]):
            before = graph.edge_from[edge]
            if not on[before] and passed[before] <= _last_word(graph.stride, before, words):
                on[before] = True
                first = min(first, passed[before])
                stack[top] = before
                top += 1
    return first


@kernel
def _finish_times(
    graph: Graph, first: int, words: int, passed: np.ndarray, on: np.ndarray, time: np.ndarray, finish: np.ndarray
) -> None:
    """Latest cycle, counted from ``passed``, at which each actor that is ``on`` moves its last word; 0 for others. ``time`` is a
    window of as many words as edges can look back over, by (word mod window, actor)."""
    window = time.shape[0]
    order = graph.order[on[graph.order]]
    for k in range(first, words):
        row = k % window
        for actor in order:
            time[row, actor] = 0
            # Divisions take long, and most actors move all words.
            n = graph.stride[actor, 0]
            if k < passed[actor] or (n > 1 and k % n != graph.stride[actor, 1]):
                continue
            latest = 0
            for edge in range(graph.first_edge[actor], graph.first_edge[actor + 1]):
                if graph.whole[edge]:
                    continue  # one only asks when these have happened
                before = graph.edge_from[edge]
                m = k - graph.lag[edge]
                if graph.stride[before, 0] > 1:
                    m = _last_word(graph.stride, before, m + 1)
                if m >= first and m >= passed[before]:
                    then = row - (k - m)
                    latest = max(latest, time[then if then >= 0 else then + window, before] + graph.delay[edge])
                elif m >= 0:
                    latest = max(latest, graph.delay[edge])
            time[row, actor] = latest
    finish[:] = 0
    for actor in order:
        finish[actor] = time[_last_word(graph.stride, actor, words) % window, actor]


@kernel
def leave(
    graph: Graph, places: int, words: int, window: int, with_spread: bool, delays: np.ndarray
) -> tuple[bool, bool, int]:
    """(message-bound, clear, spread) as in `progress.Termination`; ``delays`` by place. A spread of -1: there is no order;
    without ``with_spread`` it is 0.

    O(places × words × edges) if it is message-bound; without ``with_spread`` only the edges that a node waits for.
    """
    actors = graph.place.shape[0]
    passed = np.zeros(actors, np.int64)
    stack = np.zeros(actors + 1, np.int64)
    on = np.zeros(actors, np.bool_)
    time = np.zeros((window, actors), np.int64)
    finish = np.zeros(actors, np.int64)
    begun = np.zeros(places, np.bool_)
    bound, clear, spread = True, True, 0
    for place in range(places):
        _progress(graph, place, words, passed, stack, on)
        begun[:] = False
        own = False
        for actor in range(actors):
            at = graph.place[actor]
            if at < 0:
                continue
            if graph.lane[actor]:
                own = own or at == place
                if passed[actor] >= 1:
                    begun[at] = True
            elif at == place and passed[actor] <= _last_word(graph.stride, actor, words):
                clear = False
        bound = bound and own and bool(begun.all())
        if bound:
            for edge in range(graph.edge_from.shape[0]):
                if graph.whole[edge] and passed[graph.edge_from[edge]] < words:
                    bound = False
        if bound:
            if graph.order.shape[0] < actors:
                return True, clear, -1
            on[:] = False
            first = _waited_for(graph, -1 if with_spread else place, words, passed, stack, on)
            _finish_times(graph, first, words, passed, on, time, finish)
            on[:] = False
            last = 0
            for actor in range(actors):
                if graph.lane[actor]:
                    if with_spread and graph.place[actor] >= 0:
                        spread = max(spread, finish[actor])
                elif graph.place[actor] == place:
                    last = max(last, finish[actor])
            # One more cycle lets the word leave the write stage's registers.
            delays[place] = last + 1 if last else 0
        elif not clear:
            break
    return bound, clear, spread
