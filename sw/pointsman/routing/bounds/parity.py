"""Parity: where every port is busy in an even period, half of a node's words arrive in even slots, and that can be impossible.

The nodes of a mesh have two colours, and every link joins different ones. A word that never waits and starts at an even node
in an even slot (or at an odd node in
an odd slot) arrives at even nodes in even slots only; call it even, and every other word odd. A node that takes a word in
each slot of an even period takes as many even words as odd ones. If every word goes to all nodes but its own, this holds for all
words less those of any one node, so each node has as many even words of its own as odd ones.
"""

from __future__ import annotations

from pointsman.artifacts.routes.routes import RouteProblem

from .counting import two_coloured


def everyone_hears_odd(net: RouteProblem, nodes: int, words: int) -> bool:
    """Is all-gather of ``words`` words a node in (nodes - 1) · words slots impossible, because of parity?

    By reversal of time the same holds for a reduce-scatter each of whose words is combined on a single tree. None has to be:
    on a mesh of 3×3 all words by themselves take 8 slots, and on trees they take 9.
    """
    period = (nodes - 1) * words
    return nodes > 1 and period % 2 == 0 and words % 2 == 1 and not net.buffers and two_coloured(net)


def is_all_gather(problem: RouteProblem) -> bool:
    """Does every working node send equally many words to all others, each to all of them?"""
    nodes = problem.nodes - len(problem.dead_nodes)
    sends: dict[int, int] = {}
    for stream in problem.streams:
        if len(stream.destinations) != nodes - 1:
            return False
        sends[stream.source] = sends.get(stream.source, 0) + stream.words
    return len(sends) == nodes and len(set(sends.values())) == 1


def parity_period(problem: RouteProblem) -> int | None:
    """The least period that parity permits, if the streams are an all-gather and parity forbids a period that ports permit."""
    if not is_all_gather(problem):
        return None
    nodes = problem.nodes - len(problem.dead_nodes)
    words = sum(stream.words for stream in problem.streams) // nodes
    return (nodes - 1) * words + 1 if everyone_hears_odd(problem, nodes, words) else None
