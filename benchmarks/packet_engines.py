"""Speed of the engines of packet networks: whole messages between processors, without a pause and with computation between them.

Nodes send messages half-way across the network and read those that come. "words": of a message; "computation": cycles
before each. Speeds are node-cycles a second of processor time, the best of several runs; both engines take the same cycles.

    python benchmarks/packet_engines.py [--sizes 4x4,8x8,16x16] [--engines model,verilated]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from cosim.packet.session import PacketMachine
from packet_router.header import pack_header
from packet_router.node import LAST, WORD
from packet_router.shape import RouterShape
from pointsman.network import parse_size
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait

CASES = ((256, 0), (16, 0), (16, 100), (16, 1000))
"""Words of a message, cycles of computation before it."""
RUNS = 3


def _program(shape: RouterShape, node: int, words: int, computation: int, messages: int) -> Iterator[Any]:
    to = (node + shape.nodes // 2) % shape.nodes
    message = np.array([pack_header(shape, to, 1, source=node), *range(words)], np.uint32)
    into = np.zeros(words + 1, np.uint32)
    send = [Lane(True, WORD, words, message[:-1].copy()), Lane(True, LAST, 1, message[-1:].copy())]
    transfer, wait = Transfer([*send, Lane(False, 1, words + 1, into)]), Wait(computation, Category.CPU)
    for _ in range(messages):
        if computation:
            yield wait
        yield transfer


def measure(
    shape: RouterShape, engine: str, words: int, computation: int, node_cycles: int = 500_000
) -> dict[str, int]:
    """Cycles and the best speed of some runs."""
    messages = max(2, node_cycles // (shape.nodes * (words + computation) * 3))
    best, cycles = 0.0, 0
    with PacketMachine(shape, engine=engine, progress=False) as machine:
        for _ in range(1 + RUNS):  # the first compiles
            programs = [_program(shape, node, words, computation, messages) for node in range(shape.nodes)]
            began = time.process_time()
            cycles = machine.run(programs).total_cycles
            best = max(best, cycles * shape.nodes / (time.process_time() - began))
    return {"cycles": cycles, "node_cycles_per_second": round(best)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="4x4,8x8,16x16")
    parser.add_argument("--engines", default="model,verilated")
    options = parser.parse_args()
    rows = []
    for size in options.sizes.split(","):
        shape = RouterShape(size=parse_size(size))
        for words, computation in CASES:
            row: dict[str, Any] = {"size": size, "words": words, "computation": computation}
            row |= {engine: measure(shape, engine, words, computation) for engine in options.engines.split(",")}
            rows.append(row)
    print(json.dumps({"benchmark": "packet_engines", "rows": rows}, indent=1))


if __name__ == "__main__":
    main()
