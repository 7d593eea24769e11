"""The soak of active messages: random programs, and networks full of requests, until there are enough of them.

    python -m tests.sw.pointsman.runtime.soak_active [--kind splitc|functional|sorts|flood|all] [--seed 0] [--programs 100000]
        [--sorts 100] [--messages 10000000] [--target logp|packet|tdm|numesh] [--engine model|verilated] [--mesh 8x8]
        [--seconds S] [--table build/soak-active.json]

*splitc*: random Split-C programs on machines that delay and reorder messages; what a run ends with must be among what the
definition permits (``splitc.semantics`` tries every order). *functional*: random functional programs, compiled to TAM both ways;
what they give must be what a tree walk gives. *sorts*: random keys, many of them equal or none, sorted on 1 to 64 nodes of all
four targets; that must be what ``numpy.sort`` gives, and the same everywhere. *flood*: every node asks every other one as fast
as it can, with buffers of the smallest legal size; each request must be handled once and each reply come once.

Can be stopped and gone on with: the table says how far each kind is, and the first programs that were wrong.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pointsman
from cosim.logp.parameters import logp_named
from cosim.logp.session import run_logp_application
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.network import mesh, parse_size
from pointsman.runtime.active import Endpoint, Handlers, Reply
from pointsman.runtime.active.application import ActiveApplication
from pointsman.runtime.api.node import Node
from pointsman.runtime.tam import TamApplication, assemble
from pointsman.runtime.tam.functional import compile_functional
from pointsman.runtime.tam.functional.partition import THREADS

from .splitc.programs import ended, random_main, results
from .splitc.semantics import outcomes, random_programs
from .tam.functional.naive import Naive, random_program

DELAYS = (
    "example",
    "cm5",
    "example,delay=80,in_order=false",
    "example,delay=80,capacity=1,in_order=false,latency=1",
    "cm5,delay=3000,capacity=1",
)
LONGEST = 9
"""Operations of a random Split-C program; the orders of more are too many to try."""
SORT = Path(__file__).parents[4] / "examples/splitc/sort.py"
KEPT = 20
"""Seeds of wrong cases that are kept."""
SAVED_EVERY = 5.0
"""Seconds."""


def splitc_case(seed: int) -> str:
    """A random Split-C program; gives what was wrong."""
    rng = random.Random(seed)
    while True:
        procs, cells, registers = rng.choice((2, 2, 3)), rng.randint(1, 3), 2
        programs = random_programs(rng, procs, cells, registers)
        if sum(map(len, programs)) <= LONGEST:
            break
    machine = f"{rng.choice(DELAYS)},seed={seed}"
    found = ended(results(random_main(programs, cells, registers), procs, machine))
    permitted = outcomes(programs, cells, registers)
    return "" if found in permitted else f"{machine}: {programs} ends with {found}"


def functional_case(seed: int) -> str:
    """A random functional program, with both kinds of threads; gives what was wrong."""
    rng = random.Random(seed)
    text, nodes = random_program(seed), rng.randint(1, 6)
    expected = Naive(text, seed).run(5)
    for threads in THREADS:
        machine = f"{rng.choice(DELAYS)},seed={seed}"
        application = TamApplication(assemble(compile_functional(text, "random", threads)), [5], mesh(nodes))
        run = run_logp_application(application, mesh(nodes), logp_named(machine), max_cycles=30_000_000)
        found = [one.result for one in run.record.results if one.result is not None]
        if found != [[expected]]:
            return f"{machine}, {nodes} nodes, {threads}: {found} instead of {expected}"
    return ""


SIZES = ((1, 1), (2, 1), (3, 1), (2, 2), (5, 1), (3, 2), (7, 1), (3, 3), (5, 3), (4, 4), (5, 5), (8, 8))
MOST_COLUMNS = 9
"""Nodes of a column sort on hardware: each must have 2 (P - 1)² keys."""

MOST_KEYS = 1024
"""Keys of a sort times its nodes, about: a message on many nodes of hardware takes long to simulate."""


def sorts_case(seed: int) -> str:
    """A sort on all four targets; gives what was wrong."""
    rng = random.Random(seed)
    size = SIZES[seed % len(SIZES)]
    nodes = mesh(*size).nodes
    most = max(12, MOST_KEYS // nodes)
    algorithms = ["bitonic", "radix", "sample"] + ["column"] * (nodes <= MOST_COLUMNS)
    arguments = {
        "algorithm": rng.choice(algorithms),
        "keys": rng.choice((0, 1, nodes - 1, 2 * nodes + 1, rng.randrange(1, most + 1), rng.randrange(1, most + 1))),
        "bits": rng.choice((2, 4, 8)),
        "key_bits": rng.choice((0, 1, 4, 31, 31)),
        "key_seed": seed,
    }
    found = {}
    for target, options in (
        ("logp", {"logp": f"{rng.choice(DELAYS)},seed={seed}"}),
        ("packet", {"engine": "model"}),
        ("tdm", {"engine": "model"}),
        ("numesh", {"engine": "model"}),
    ):
        done = pointsman.run(SORT, mesh(*size), arguments=arguments, target=target, **options)
        if not done.correct:
            return f"{size} {target} {arguments}: {done.text.splitlines()[-1]}"
        found[target] = done.finished.record.results
    other = [target for target, results in found.items() if results != found["logp"]]
    return f"{size} {arguments}: {other} and logp differ" if other else ""


class _Books:
    """What a node has handled: by source, a bit for each serial number."""

    def __init__(self, nodes: int) -> None:
        self.asked = [0] * nodes
        self.answered = [0] * nodes
        self.wrong: list[str] = []

    def enter(self, books: list[int], source: int, serial: int, what: str) -> None:
        if books[source] >> serial & 1:
            self.wrong.append(f"{what} {serial} of node {source} came twice")
        books[source] |= 1 << serial


def _ask(state: _Books, source: int, arguments: tuple[int, ...], data: bytes) -> Reply:
    state.enter(state.asked, source, arguments[0], "request")
    return Reply("answer", arguments, data)


def _answer(state: _Books, source: int, arguments: tuple[int, ...], data: bytes) -> None:
    state.enter(state.answered, source, arguments[0], "reply")
    if data != _data(source, arguments[0]):
        state.wrong.append(f"reply {arguments[0]} of node {source} has other data")


def _data(node: int, serial: int) -> bytes:
    return bytes((node + serial + k) & 255 for k in range(0 if (node + serial) % 3 else 30))


class Flood(ActiveApplication):
    """Every node asks every other one; who is next is drawn."""

    window = 1
    replies = 1
    rounds = 8
    draw = 0
    most_replies = 16

    async def main(self, node: Node) -> list[str]:
        carrier = self.carrier(node)
        await carrier.start()
        books = _Books(node.nodes)
        handlers = Handlers()
        handlers.add("ask", _ask)
        handlers.add("answer", _answer, reply=True)
        endpoint = Endpoint(carrier, handlers, books)
        others = [one for one in range(node.nodes) if one != carrier.number]
        rng = random.Random(self.draw * node.nodes + carrier.number)
        for serial in range(self.rounds):
            rng.shuffle(others)
            for other in others:
                await endpoint.request(other, "ask", (serial,), _data(other, serial))
        await endpoint.until(lambda: not endpoint.due)
        every = (1 << self.rounds) - 1
        await endpoint.until(lambda: all(books.asked[one] == every for one in others))
        await carrier.finish()
        if any(books.answered[one] != every for one in others):
            books.wrong.append("replies are lost")
        return books.wrong


def flood_case(seed: int, target: str, size: tuple[int, ...], rounds: int, engine: str = "model") -> str:
    """A network full of requests; gives what was wrong. ``engine``: of hardware."""
    network = mesh(*size)
    made = Flood(argparse.Namespace(), network)
    made.rounds, made.draw = rounds, seed
    # Room for one reply is the smallest; with more of them, more requests of a node are under way.
    made.replies = 1 if seed % 2 else Flood.most_replies
    options: dict[str, Any] = {"engine": engine}
    if target == "logp":
        late = random.Random(seed).choice(("", ",delay=50", ",delay=900,in_order=false"))
        options = {"logp": f"example,capacity=1{late},seed={seed}"}
    found = pointsman.run(made, network, target=target, max_cycles=100_000_000, **options).finished.record.results
    wrong = [f"node {number}: {one}" for number, said in enumerate(found) for one in said]
    return wrong[0] if wrong else ""


class Progress:
    """How far each kind is, in a file."""

    def __init__(self, table: Path) -> None:
        self.table = table
        self.kinds: dict[str, dict[str, Any]] = json.loads(table.read_text()) if table.exists() else {}
        self.saved = time.monotonic()

    def of(self, kind: str) -> dict[str, Any]:
        return self.kinds.setdefault(kind, {"next": 0, "done": 0, "seconds": 0.0, "wrong": 0, "kept": {}})

    def save(self) -> None:
        self.table.parent.mkdir(parents=True, exist_ok=True)
        write_whole(self.table, json.dumps(self.kinds, indent=1) + "\n")
        self.saved = time.monotonic()


def soak(
    progress: Progress, kind: str, case: Callable[[int], str], enough: int, each: int, end: float | None, seed: int = 0
) -> bool:
    """Run cases of a kind until ``enough`` are done, each counting ``each``, or it is ``end`` o'clock. Gives whether they are."""
    state = progress.of(kind)
    while state["done"] < enough and (end is None or time.monotonic() < end):
        number, began = seed + state["next"], time.process_time()
        try:
            said = case(number)
        except (PointsmanError, AssertionError) as error:
            said = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
        state["next"] += 1
        state["done"] += each
        state["seconds"] = round(state["seconds"] + time.process_time() - began, 3)
        if said:
            state["wrong"] += 1
            if len(state["kept"]) < KEPT:
                state["kept"][str(number)] = said[:500]
        if time.monotonic() > progress.saved + SAVED_EVERY:
            progress.save()
    progress.save()
    print(f"{kind}: {state['done']:,} of {enough:,} in {state['seconds']:,.0f} s of CPU time, {state['wrong']} wrong")
    return bool(state["done"] >= enough)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kind", choices=["splitc", "functional", "sorts", "flood", "all"], default="all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--programs", type=int, default=100_000)
    parser.add_argument("--sorts", type=int, default=100)
    parser.add_argument("--messages", type=int, default=10_000_000)
    parser.add_argument("--target", choices=["logp", "packet", "tdm", "numesh"], default="logp")
    parser.add_argument("--engine", choices=["model", "verilated"], default="model", help="of hardware that is flooded")
    parser.add_argument("--mesh", default="8x8")
    parser.add_argument("--rounds", type=int, default=8, help="requests of each node to each other in a case")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--table", type=Path, default=Path("build/soak-active.json"))
    given = parser.parse_args()
    end = None if given.seconds is None else time.monotonic() + given.seconds
    progress = Progress(given.table)
    size = parse_size(given.mesh)
    nodes = mesh(*size).nodes
    each = 2 * nodes * (nodes - 1) * given.rounds
    kinds: dict[str, tuple[Callable[[int], str], int, int]] = {
        "splitc": (splitc_case, given.programs, 1),
        "functional": (functional_case, given.programs, 1),
        "sorts": (sorts_case, given.sorts, 1),
        " ".join(["flood", given.target, *([] if given.engine == "model" else [given.engine]), given.mesh]): (
            lambda seed: flood_case(seed, given.target, size, given.rounds, given.engine),
            given.messages,
            each,
        ),
    }
    chosen = [kind for kind in kinds if given.kind in ("all", kind.split()[0])]
    through = [soak(progress, kind, *kinds[kind], end, given.seed) for kind in chosen]
    wrong = sum(progress.of(kind)["wrong"] for kind in chosen)
    if not all(through):
        print("not through; run it again to go on", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
