"""Streams for the tests of the router: the patterns of operators, random ones, and hostile ones."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from numesh.shape import NodeShape
from pointsman.network import Topology, graph, mesh, torus
from pointsman.streams.stream import Condition, Stream

SOURCE, SINK = Condition("source", True), Condition("source", False)


def circular_shift(nodes: Sequence[int], name: str = "s", chains: int = 2) -> list[Stream]:
    """Each node of a line sends to the one before it, the first to the last."""
    line = frozenset(nodes)
    return [
        Stream(f"{name}{i}", node, (nodes[i - 1],), chains=chains, keep_in=line, group="shift")
        for i, node in enumerate(nodes)
    ]


def broadcast(nodes: Sequence[int], source: int, chains: int = 2) -> list[Stream]:
    """One node of a line sends to all others."""
    others = tuple(node for node in nodes if node != source)
    return [Stream("broadcast", source, others, chains=chains, keep_in=frozenset(nodes))]


def linear(nodes: Sequence[int]) -> list[Stream]:
    """Along a line from both ends, any node to inject: the broadcast whose source is known when it is loaded."""
    return [
        Stream(
            name,
            path[0],
            tuple(path[1:]),
            path=tuple(path),
            injects_anywhere=True,
            inject_condition=SOURCE,
            deliver_condition=SINK,
            rewritten=True,
        )
        for name, path in (("up", nodes), ("down", nodes[::-1]))
    ]


def neighbours(topology: Topology, chains: int = 1) -> list[Stream]:
    """A stream over every link, both ways."""
    return [
        Stream(f"{node}.{port}", node, (other,), chains=chains)
        for node in range(topology.nodes)
        for port, (other, _) in sorted(topology.at_port[node].items())
    ]


def permutation(nodes: int, image: Iterable[int], chains: int = 1) -> list[Stream]:
    """Node i sends to the i-th of ``image``."""
    return [
        Stream(f"{node}>{to}", node, (to,), chains=chains)
        for node, to in zip(range(nodes), image, strict=True)
        if node != to
    ]


def shuffled(nodes: int, seed: int) -> list[int]:
    """A random permutation."""
    image = list(range(nodes))
    random.Random(seed).shuffle(image)
    return image


def bit_reversal(nodes: int) -> list[int]:
    """Node numbers with their bits back to front."""
    bits = nodes.bit_length() - 1
    return [int(f"{node:0{bits}b}"[::-1], 2) for node in range(nodes)]


def multicasts(topology: Topology, seed: int, count: int, most: int, chains: int = 1) -> list[Stream]:
    """Random sources, each with up to ``most`` random destinations."""
    generator = random.Random(seed)
    streams = []
    for index in range(count):
        source = generator.randrange(topology.nodes)
        others = [node for node in range(topology.nodes) if node != source]
        ends = tuple(generator.sample(others, generator.randint(1, most)))
        streams.append(Stream(f"m{index}", source, ends, chains=chains))
    return streams


@dataclass(frozen=True)
class Case:
    """Everything that ``route_phase`` takes."""

    streams: list[Stream]
    topology: Topology
    shape: NodeShape
    period: int
    forbidden: tuple[tuple[int, int, int], ...]
    phase_change: bool


def hostile(seed: int) -> Case:
    """A small random network with random streams of every kind; many cannot be routed."""
    generator = random.Random(seed)
    topology = _network(generator)
    shape = NodeShape(
        pipelines=generator.choice([1, 1, 2, 2, 2, 3, 4]),
        vfsms=generator.choice([4, 8, 32, 32, 32]),
        neighbours=max(1, topology.ports),
        registers=generator.choice([4, 8, 16, 16, 32]),
        aliased_handshake=generator.random() < 0.25,
    )
    period = generator.choice([2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 16, 20, 24])
    streams = [_stream(f"s{index}", generator, topology) for index in range(generator.randint(0, 8))]
    forbidden = []
    for _ in range(generator.choice([0, 0, 5, 20])):
        node = generator.randrange(topology.nodes)
        if topology.at_port[node]:
            port = generator.choice(sorted(topology.at_port[node]))
            forbidden.append((node, port, generator.randrange(period)))
    return Case(streams, topology, shape, period, tuple(forbidden), generator.random() < 0.7)


def _network(generator: random.Random) -> Topology:
    kind = generator.choice(["line", "mesh", "torus", "graph"])
    if kind == "line":
        return mesh(generator.randint(1, 8))
    if kind == "graph":
        nodes = generator.randint(1, 9)
        edges = [(node, generator.randrange(node)) for node in range(1, nodes)]
        for _ in range(generator.randint(0, nodes)):
            edge = generator.randrange(nodes), generator.randrange(nodes)
            if edge[0] != edge[1]:
                edges.append(edge)
        return graph(nodes, edges)
    size = [generator.randint(1, 4) for _ in range(generator.randint(1, 2))]
    return mesh(*size) if kind == "mesh" else torus(*size)


def _stream(name: str, generator: random.Random, topology: Topology) -> Stream:
    nodes = range(topology.nodes)
    source = generator.randrange(topology.nodes)
    path: list[int] | None = None
    if generator.random() < 0.4:
        path = [source]
        while generator.random() < 0.8:
            onward = sorted({other for other, _ in topology.at_port[path[-1]].values()} - set(path))
            if not onward:
                break
            path.append(generator.choice(onward))
        ends = [node for node in path[:-1] if generator.random() < 0.6] + [path[-1]]
        generator.shuffle(ends)
    else:
        ends = generator.sample(nodes, min(topology.nodes, generator.choice([1, 1, 1, 2, 3, topology.nodes])))
    keep_in = None
    if generator.random() < 0.2:
        more = generator.sample(nodes, generator.randint(0, topology.nodes))
        keep_in = frozenset({source, *ends, *(path or ()), *more})
    anywhere = generator.random() < 0.3
    return Stream(
        name,
        source,
        tuple(ends),
        weight=generator.choice([1.0, 1.0, 2.0, 0.3]),
        max_words=generator.choice([None, None, None, generator.randint(1, 5)]),
        chains=generator.choice([1, 1, 2, 3, 5]),
        group=generator.choice(["", "", "g", "h"]),
        keep_in=keep_in,
        path=None if path is None else tuple(path),
        injects_anywhere=anywhere,
        inject_condition=generator.choice([None, SOURCE, Condition("other", True)]) if anywhere else None,
        deliver_condition=generator.choice([None, None, SINK, Condition("other", False)]),
        rewritten=generator.random() < 0.2,
    )
