"""Random programs without end: words lost, doubled, reordered, and records that differ. Can be stopped and gone on with.

A case is a random mesh with streams round a ring under random transfers, pauses and stalls, in several rounds; every
tenth is a random COP program besides, compiled, loaded through the hardware and taken through its
phases. What a node reads must be what the node at the other end wrote, word for word; at the end no word may be left
anywhere. Every tenth case runs twice more, and every twentieth, shorter, on other engines: their records must be equal.

    python tests/sim/cosim/soak.py [--node-cycles 1e9] [--engine verilated] [--state FILE]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import random
import sys
import time
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from cosim.numesh.machine import EngineName, Machine
from cosim.numesh.rings import ring_memories, ring_order
from cosim.record import Record
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.files import cache_folder, write_whole
from pointsman.network import mesh
from pointsman.runtime import numesh_node
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait, WaitEmpty

SHAPE = NodeShape()
STREAMS = {(2, 2): 1, (4, 2): 2, (4, 4): 1, (3, 6): 4, (8, 4): 2, (8, 8): 1, (16, 8): 4}
"""Sizes of meshes, and streams from each node to the next in each. They stay: memories of a running machine can be
changed at once, without the hardware's help, only if all schedules keep step."""
SIZES = tuple(STREAMS)
ROUNDS = 4
"""Rounds of a case: after each all nodes have read everything, and nothing is left."""


@dataclass
class Progress:
    """What has been run so far."""

    seed: int
    cases: int = 0
    node_cycles: int = 0
    words: int = 0
    repeated: int = 0
    compared: int = 0
    seconds: float = 0.0


class SoakError(AssertionError):
    """A case went wrong; the message names its seed."""


def streams_of(size: tuple[int, int]) -> list[tuple[int, int]]:
    """Registers at both ends of each stream."""
    return [(2 * k + 2, 2 * k + 3) for k in range(STREAMS[size])]


def loaded(size: tuple[int, int], engine: EngineName) -> Machine:
    """A machine with the streams of this size in its memories."""
    topology = mesh(*size)
    machine = Machine(SHAPE, topology, engine=engine, progress=False)
    machine.preload(ring_memories(SHAPE, topology, streams_of(size)))
    return machine


def run_case(
    seed: int,
    engine: EngineName,
    *,
    scale: float = 1,
    machine: Machine | None = None,
    size: tuple[int, int] | None = None,
) -> list[Record]:
    """One case: its records, a round each; ``scale`` is for its words, ``size`` in place of a random one.

    Raises
    ------
    SoakError
        If a word is lost, doubled, changed or out of order, or left in the machine.
    """
    chance = random.Random(seed)
    drawn = chance.choice(SIZES)
    size = drawn if size is None else size
    topology = mesh(*size)
    own = machine is None or machine.topology != topology
    used = loaded(size, engine) if machine is None or own else machine
    streams = streams_of(size)
    order = ring_order(topology)
    before = {node: order[place - 1] for place, node in enumerate(order)}
    records = []
    try:
        for phase in range(ROUNDS):
            words = chance.choice((1, 50, 200, 400))
            words = max(1, int(words * scale))
            programs = [_program(seed, phase, node, before[node], streams, words, used) for node in range(used.nodes)]
            try:
                record = used.run(programs)
            except SoakError as error:
                raise SoakError(f"seed {seed}, {topology}, engine {used.engine}, phase {phase}: {error}") from None
            state = used.state()
            if state["full"].any() or ("held" in state and state["held"].any()):
                raise SoakError(f"seed {seed}, {topology}, engine {used.engine}, phase {phase}: words are left over")
            records.append(record)
    finally:
        if own:
            used.close()
    return records


def _message(seed: int, phase: int, node: int, stream: int, words: int) -> np.ndarray:
    """What a node sends: no two words of a case are the same by anything but chance."""
    return np.random.default_rng((seed, phase, node, stream)).integers(0, 1 << 32, words, dtype=np.uint32)


def _program(
    seed: int,
    phase: int,
    node: int,
    source: int,
    streams: Sequence[tuple[int, int]],
    words: int,
    machine: Machine,
) -> Generator[Any, None, None]:
    """Send and receive on all streams in pieces of random length, with pauses; check every piece."""
    chance = random.Random(f"{seed} {phase} {node}")
    sent = [_message(seed, phase, node, k, words) for k in range(len(streams))]
    expected = [_message(seed, phase, source, k, words) for k in range(len(streams))]
    done = 0
    lazy = chance.random() < 0.3
    while done < words:
        piece = min(words - done, chance.choice((1, 2, 7, 40, 300)))
        if chance.random() < (0.6 if lazy else 0.2):
            yield Wait(chance.choice((1, 2, 9, 100, 900)), Category.CPU)
        received = [np.zeros(piece, np.uint32) for _ in streams]
        lanes = []
        for (out, into), message, room in zip(streams, sent, received, strict=True):
            lanes.append(Lane(False, into, piece, room))
            lanes.append(Lane(True, out, piece, message[done : done + piece].copy()))
        chance.shuffle(lanes)
        yield Transfer(lanes)
        for k, room in enumerate(received):
            wanted = expected[k][done : done + piece]
            if not np.array_equal(room, wanted):
                at = int(np.flatnonzero(room != wanted)[0])
                raise SoakError(
                    f"node {node}, stream {k}, word {done + at} is {room[at]:#x} instead of {wanted[at]:#x} "
                    f"before cycle {machine.time}"
                )
        done += piece
    for out, _ in streams:
        yield WaitEmpty(out, Category.PSYNC)


def soak(progress: Progress, node_cycles: int, engine: EngineName, save: Any, *, others: Sequence[EngineName]) -> None:
    """Run cases until so many node-cycles have been simulated; ``save`` is called after each."""
    machines: dict[tuple[int, int], Machine] = {}
    began = time.process_time() - progress.seconds
    try:
        while progress.node_cycles < node_cycles:
            seed = progress.seed + progress.cases
            size = random.Random(seed).choice(SIZES)
            if size not in machines:
                machines[size] = loaded(size, engine)
            records = run_case(seed, engine, scale=32, machine=machines[size])
            progress.node_cycles += sum(record.nodes * record.total_cycles for record in records)
            progress.words += sum(int(record.accesses[:, 1].sum()) for record in records)
            if progress.cases % 10 == 0:
                small = [run_case(seed, engine), run_case(seed, engine)]
                check_equal(seed, small[0], small[1], "twice")
                progress.repeated += 1
                progress.node_cycles += run_program(seed, engine)
                if progress.cases % 20 == 0:
                    tiny = run_case(seed, engine, scale=0.1, size=(2, 2))
                    for other in others:
                        # Amaranth's simulator makes some thousand node-cycles a second.
                        slow = other == "amaranth"
                        theirs = run_case(seed, other, scale=0.1, size=(2, 2)) if slow else run_case(seed, other)
                        check_equal(seed, tiny if slow else small[0], theirs, f"on {other}")
                        progress.compared += 1
            progress.cases += 1
            progress.seconds = time.process_time() - began
            save(progress)
    finally:
        for machine in machines.values():
            machine.close()


def run_program(seed: int, engine: EngineName) -> int:
    """A random COP program through its phases; its node-cycles."""
    case = _random_programs().random_case(seed, ((2, 2), (3, 3), (3, 5), (4, 4)))
    with Machine(case.images.shape, case.images.topology, engine=engine, progress=False) as machine:
        nodes = [numesh_node(case.images, number, machine) for number in range(case.images.topology.nodes)]
        record = run_nodes(nodes, case.main, machine)
        state = machine.state()
    wrong = [text for result in record.results for text in result]
    if wrong:
        raise SoakError(f"program of seed {seed}: {wrong[0]}")
    if state["full"].any() or ("held" in state and state["held"].any()):
        raise SoakError(f"program of seed {seed}: words are left over")
    return record.nodes * record.total_cycles


@lru_cache
def _random_programs() -> ModuleType:
    name = "random_programs"
    specification = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert specification is not None
    assert specification.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def check_equal(seed: int, one: Sequence[Record], two: Sequence[Record], what: str) -> None:
    """Raise if two runs of a case left different records."""
    for phase, (first, second) in enumerate(zip(one, two, strict=True)):
        differences = first.differences(second)
        if differences:
            raise SoakError(f"seed {seed} {what}, phase {phase}: records differ in {', '.join(differences)}")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--node-cycles", type=float, default=1e9, help="how much to simulate in all")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--others", default="model,amaranth", help="engines to compare samples with")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first case")
    parser.add_argument("--state", type=Path, default=None, help="where progress is kept")
    options = parser.parse_args(arguments)
    path = options.state or cache_folder() / f"soak-{options.seed}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress(options.seed)
    if path.exists():
        progress = Progress(**json.loads(path.read_text()))

    def save(progress: Progress) -> None:
        write_whole(path, json.dumps(asdict(progress)) + "\n")
        if sys.stderr.isatty():
            share = progress.node_cycles / options.node_cycles
            print(
                f"\rsoak: {progress.cases} cases, {share:.1%} of {options.node_cycles:.0e} node-cycles",
                end="",
                file=sys.stderr,
            )

    others = [name for name in options.others.split(",") if name]
    try:
        soak(progress, int(options.node_cycles), options.engine, save, others=others)
    except SoakError as error:
        print(f"soak: {error}", file=sys.stderr)
        return 1
    print(json.dumps({"benchmark": "soak", "engine": options.engine, "faults": 0, **asdict(progress)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
