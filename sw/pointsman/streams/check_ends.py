"""Phases that end by messages: who has to know that no more words come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pointsman.images.image import Images

from .check_promises import Trace
from .check_report import Finding, Notebook


def check_message_ends(
    images: Images,
    phase: int,
    promises: Mapping[int, Sequence[int]],
    traces: Mapping[int, Sequence[Trace]],
    notebook: Notebook,
) -> None:
    """A node that leaves a phase because its own messages are through must not be on the way of others' (Metcalf 1997, §5.2.3).

    Its messages tell it of the nodes with which it exchanges words, and of those with which these do; a word of any other node
    that passes through its router would be left behind.

    Parameters
    ----------
    promises : mapping
        By operator of the phase, its promises.
    traces : mapping
        By promise, what was seen of it.
    """
    image = images.phases[phase]
    if image.technique != "msg-sync":
        return
    for index, numbers in promises.items():
        operator = images.operators[index]
        group = groups_of(
            {images.promises[n].source, *(node for node, _ in images.promises[n].destinations)} for n in numbers
        )
        strays = {
            (node, images.promises[number].stream)
            for number in numbers
            for trace in traces.get(number, ())
            for node, _, _ in trace.vfsms
            if node in group and group[node] != group[images.promises[number].source]
        }
        for node, stream in sorted(strays):
            notebook.add(
                Finding(
                    "message-ends",
                    f"words of {stream} pass, of which no message of the node's own tells",
                    "a barrier at the end of the phase, or a way through the operator's own nodes",
                    phase=image.name,
                    node=node,
                    operator=operator.label,
                    source=operator.source,
                )
            )


def groups_of(sets: Iterable[set[int]]) -> dict[int, int]:
    """Each node's group: sets that overlap are one."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for nodes in sets:
        for node in nodes:
            parent.setdefault(node, node)
        first = root(min(nodes))
        for node in nodes:
            parent[root(node)] = first
    return {node: root(node) for node in parent}
