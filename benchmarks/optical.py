"""Optical TDM networks: Figures 3.4 to 3.12 and 4.14 to 4.28 and Tables 6.2 to 6.7 of Yuan 1998.

    python benchmarks/optical.py [--into benchmarks/results/optical.json] [--only NAME]

Uniform traffic on a torus. The greatest throughput of a scheme is the most that it delivers at any rate; the first third of a run
does not count. What the thesis leaves open is set so:

- "Control packet processing and propagation time 2" of §3.3 is 1 + 1 slots, as in Chapter 6: with 2 + 2 no scheme gets near the
  rates that the text states.
- A node asks for one connection at a time (``requests``). The text says nothing of it; but where a node asks for all at once,
  throughput does not fall with the time until another attempt (C082), FDA saturates at .010 instead of .006 (C073), and the dense
  patterns of Table 6.2 take up to five times as long as printed.

Figures of single hop are means over three seeds in Tables 6.2 to 6.7, else of one run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from pointsman.artifacts.configurations.configurations import ConnectionProblem, Network
from pointsman.connections import configure
from pointsman.files import write_whole
from pointsman.network import torus
from pointsman.optical.compiled import Registers, run_compiled
from pointsman.optical.fabric import Fabric, fabric
from pointsman.optical.logical import LOGICAL, Logical, logical
from pointsman.optical.multihop import hop, model_of
from pointsman.optical.outcome import Outcome
from pointsman.optical.reservation import Reservation, Scheme, reserve
from pointsman.optical.traffic import Traffic, listed, uniform

sys.path.insert(0, str(Path(__file__).parent))
from evaluation.patterns import patterns

SLOTS = 3000
LIGHT = 0.003
"""Messages per node and slot of light traffic (§3.3)."""
FORWARD = {1: 1, 2: 1, 4: 1, 8: 2, 16: 5, 32: 10}
BACKWARD = {1: 1, 2: 1, 4: 1, 8: 1, 16: 2, 32: 3}
"""The best cset of each degree, by Table 3.1."""
SCHEMES = ("FDC", "FDO", "FDA", "BDC", "BDO", "BDA")
SIZES = (1, 2, 3, 5, 10, 16, 32)
SEEDS = (1, 2, 3)


@cache
def net(side: int) -> Fabric:
    return fabric(torus(side, side))


@cache
def topology(side: int, name: str) -> Logical:
    return logical(net(side), name)


def scheme(name: str, degree: int, **changes: Any) -> Scheme:
    """A scheme by its three letters: forward or backward, holding or dropping, conservative, optimal or aggressive; backward
    ones with ACK also where one channel would need none, as all six are compared."""
    forward = name[0] == "F"
    cset = {"C": 1, "O": (FORWARD if forward else BACKWARD)[degree], "A": None}[name[2]]
    made = Scheme(
        "forward" if forward else "backward",
        10 if name[1] == "H" else 0,
        cset,
        False,
        retry=60 if forward and name[2] == "A" else 5,
        requests=1,
    )
    return replace(made, **changes)


def measured(run: Outcome, nodes: int) -> tuple[float, float]:
    """Messages delivered per node and slot, and mean latency, after the first third."""
    third = run.slots // 3
    counted = run.done >= third
    waits = (run.started - run.traffic.ready)[counted]
    return int(counted.sum()) / (run.slots - third) / nodes, float(waits.mean()) if len(waits) else float("inf")


@cache
def throughput(degree: int, wanted: Scheme, side: int, length: int, rate: float) -> float:
    """Messages delivered per node and slot at a rate."""
    slots = SLOTS + 4 * length * degree
    run = reserve(net(side), degree, wanted, uniform(side * side, rate, length, slots, 1), slots=slots)
    return measured(run, side * side)[0]


@cache
def greatest(degree: int, wanted: Scheme, *, side: int = 16, length: int = 8) -> float:
    """Greatest throughput in messages per node and slot: far above saturation, and at rates around what is delivered there."""
    limit = 4 / (side / 2) / length  # links of a node, over those of a message and its packets
    best = throughput(degree, wanted, side, length, limit / 2)
    rate = best
    while rate < limit / 2:
        found = throughput(degree, wanted, side, length, rate)
        best = max(best, found)
        if found < 0.8 * rate:
            break
        rate *= 1.2
    return round(best, 5)


def latency(degree: int, wanted: Scheme, *, side: int = 16, length: int = 8) -> float:
    """Mean latency under light traffic."""
    run = reserve(net(side), degree, wanted, uniform(side * side, LIGHT, length, 4000, 1), slots=4000)
    return round(measured(run, side * side)[1], 2)


def both(degree: int, wanted: Scheme, **changes: int) -> dict[str, float]:
    return {"greatest": greatest(degree, wanted, **changes), "latency": latency(degree, wanted, **changes)}


def figure_3_4() -> Any:
    """The six schemes at degree 32."""
    return {name: both(32, scheme(name, 32)) for name in SCHEMES}


def figure_3_5() -> Any:
    """By direction and degree: greatest throughput by size of cset; forward with holding (Figure 3.5), backward (3.6)."""
    return {
        f"{name[0]}{degree}": {
            cset: greatest(
                degree, scheme(name, degree, cset=cset, retry=60 if cset == degree and name[0] == "F" else 5)
            )
            for cset in sorted({*(size for size in SIZES if size < degree), degree})
        }
        for name in ("FHO", "BDO")
        for degree in (1, 2, 4, 8, 16, 32)
    }


def figure_3_7() -> Any:
    """Holding for 0 to 30 slots at degree 32."""
    return {name: {hold: both(32, scheme(name, 32, hold=hold)) for hold in (0, 10, 30)} for name in SCHEMES}


def figure_3_8() -> Any:
    """Greatest times until another attempt, of 5 to 150 slots, at degree 32."""
    return {name: {retry: greatest(32, scheme(name, 32, retry=retry)) for retry in (5, 60, 150)} for name in SCHEMES}


def figure_3_9() -> Any:
    """All schemes by degree."""
    return {name: {degree: both(degree, scheme(name, degree)) for degree in (1, 2, 4, 8, 16, 32)} for name in SCHEMES}


def figure_3_10() -> Any:
    """All schemes by side of the torus, at degree 16; messages per slot in the whole network."""
    return {
        name: {side: round(side * side * greatest(16, scheme(name, 16), side=side), 3) for side in (4, 8, 16)}
        for name in SCHEMES
    }


def figure_3_11() -> Any:
    """All schemes by length of messages, at degree 16: packets per node and slot, and latency."""
    return {
        name: {
            length: {
                "packets": round(length * greatest(16, scheme(name, 16), length=length), 5),
                "latency": latency(16, scheme(name, 16), length=length) if length <= 8 else None,
            }
            for length in (1, 8, 64)
        }
        for name in SCHEMES
    }


def figure_3_12() -> Any:
    """All schemes by speed of the control network, at degree 32."""
    return {
        name: {2 * speed: both(32, scheme(name, 32, control_slots=(speed, speed))) for speed in (1, 2, 4)}
        for name in SCHEMES
    }


def live_lock() -> Any:
    """Five aggressive forward requests round a ring of five nodes, repeated at once, and with pauses."""
    ring, pairs = fabric(torus(5)), listed([(0, node, (node + 2) % 5, 1) for node in range(5)], 5)
    return {
        retry: int(reserve(ring, 4, Scheme("forward", cset=None, retry=retry), pairs, slots=100_000).delivered.sum())
        for retry in (1, 60)
    }


def section_4_3() -> Any:
    """Mean delay by the model over that of the simulation, as printed and corrected, at shares of the greatest rate."""
    answer: dict[str, Any] = {}
    for side, switches in ((8, (1, 2, 4)), (16, (1,))):
        for name in LOGICAL:
            for switch in switches:
                made = topology(side, name)
                model = model_of(made, switch)
                slots = (8000 if side == 8 else 5000) + 40 * made.degree
                for share in (0.2, 0.5, 0.75):
                    rate = share * model.greatest_rate
                    run = hop(made, switch, uniform(side * side, rate, 1, slots, 1), slots=slots)
                    late = run.traffic.ready[run.delivered] > slots / 2
                    delay = float(run.delays[late].mean())
                    answer[f"{side} {name} {switch} {share}"] = {
                        "printed": round(model.printed_delay(rate) / delay, 3),
                        "corrected": round(model.delay(rate) / delay, 3),
                    }
    return answer


def figure_4_14() -> Any:
    """Greatest throughput of the simulation over that of the model."""
    return {
        f"{side} {name} {switch}": round(
            hopping(side, name, switch, 1) / model_of(topology(side, name), switch).greatest_rate, 3
        )
        for side in (8, 16)
        for name in LOGICAL
        for switch in (1, 2, 4)
    }


def hopping(side: int, name: str, switch: int, length: int) -> float:
    """Greatest packets per node and slot that hop over a topology."""
    made = topology(side, name)
    most, best = model_of(made, switch).greatest_rate, 0.0
    slots = 6000 + 30 * made.degree * (length if length > 1 else 1)
    for share in (0.9, 0.95, 1.0, 1.05):
        rate = share * most / length
        run = hop(made, switch, uniform(side * side, rate, length, slots, 1), slots=slots)
        best = max(best, measured(run, side * side)[0] * length)
    return round(best, 5)


def section_4_5() -> Any:
    """Single hop (backward, cset 3) against multi-hop (allxy) on 16×16 with 32 channels, control packets 1 slot on the way."""
    answer: dict[str, Any] = {}
    for switch in (1, 4, 8):
        for length in (4, 16, 64):
            single = scheme("BDO", 32, control_slots=(switch, 1))
            delays = {}
            for load in (2.56, 5.12, 10.24):
                slots = 4000 + 160 * length
                traffic = uniform(256, load / 256 / length, length, slots, 1)
                runs = {
                    "single": reserve(net(16), 32, single, traffic, slots=slots),
                    "multi": hop(topology(16, "allxy"), switch, traffic, slots=slots),
                }
                delays[load] = {name: middle(run) for name, run in runs.items()}
            answer[f"switch {switch}, {length} packets"] = {
                "greatest": {
                    "single": round(length * greatest(32, single, length=length), 5),
                    "multi": hopping(16, "allxy", switch, length),
                },
                "delay": delays,
            }
    return answer


def middle(run: Outcome) -> float | None:
    """Mean delay of messages that were ready in the second quarter of a run; None if some of them were not delivered."""
    asked = (run.traffic.ready >= run.slots // 4) & (run.traffic.ready < run.slots // 2)
    if not run.delivered[asked].all():
        return None
    return round(float((run.done - run.traffic.ready)[asked].mean()), 1)


def chapter_6() -> Any:
    """Slots of the patterns of Chapter 6 in all schemes on 8×8, messages in the order of their destinations.

    ``compiled``: ours, the configurations that it takes, and those that the thesis's combined algorithm takes here.
    """
    schemes: dict[str, Callable[[Traffic], float]] = {
        **{f"multihop {name}": lambda traffic, name=name: hop(topology(8, name), 1, traffic).slots for name in LOGICAL},
        **{
            f"singlehop {degree}": lambda traffic, degree=degree: round(
                float(
                    np.mean(
                        [
                            reserve(net(8), degree, Scheme(conservative=True, requests=1), traffic, seed=seed).slots
                            for seed in SEEDS
                        ]
                    )
                ),
                1,
            )
            for degree in (1, 4, 14, 20)
        },
    }
    answer: dict[str, Any] = {}
    for pattern, traffic in patterns().items():
        pairs = tuple(sorted(set(zip(traffic.source.tolist(), traffic.destination.tolist(), strict=True))))
        problem = ConnectionProblem(Network("torus", (8, 8)), pairs)
        ours = run_compiled(net(8), traffic, Registers())
        answer[pattern] = {
            "packets": int(traffic.slots[0]),
            "fan-out": int(np.bincount(traffic.source).max()),
            "compiled": ours.slots,
            "degree": ours.counts["degree"],
            "combined": len(configure(problem, algorithm="combined").configurations),
            **{name: run(traffic) for name, run in schemes.items()},
        }
    return answer


def speed() -> Any:
    """Control packets that routers process in a second of processor time: 16×16, degree 32, light and heavy traffic."""
    answer = {}
    for rate in (0.006, 0.014):
        run = Reservation(net(16), 32, scheme("BDO", 32, requests=None), uniform(256, rate, 8, 8000, 1), seed=1)
        run.advance(1000)
        began, hops = time.process_time(), run.hops
        run.advance(8000)
        answer[rate] = round((run.hops - hops) / (time.process_time() - began))
    return answer


PARTS: dict[str, Callable[[], Any]] = {
    one.__name__: one
    for one in (
        speed, chapter_6, live_lock, section_4_3, figure_4_14, section_4_5, figure_3_4, figure_3_5, figure_3_7, figure_3_8,
        figure_3_9, figure_3_10, figure_3_11, figure_3_12,
    )
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--into", type=Path, help="file of results; what is there is not measured again")
    parser.add_argument("--only", choices=PARTS, help="measure this alone")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    if options.into is not None and options.into.exists():
        results = json.loads(options.into.read_text())
    for name, part in PARTS.items():
        if name in results or options.only not in (None, name):
            continue
        results[name] = json.loads(json.dumps(part()))
        if options.into is not None:
            write_whole(options.into, json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
