"""Collectives beside published ones, on the same networks: periods of all-gathers, epochs without limits of ports, algorithms
by value; and those of the ideal model beside their bound.

Prints one JSON object. *Ideal*: period and latency of each collective, judged. *Snake ring*: an all-gather round a cycle
through all nodes, one word a link and port. *Epochs*: in TE-CCL's model a link carries a chunk an epoch, and ports have no limit,
so words go round the cycle both ways at once; the schedule is written as TE-CCL writes it and checked by the reader of that
format. *MSCCL*: ring algorithms, put in order and carried out by what chunks are made of.

    nice python benchmarks/collectives.py > benchmarks/results/collectives.json
"""

from __future__ import annotations

import io
import json
import time
from typing import Any

from pointsman.artifacts.algorithms.msccl import from_msccl
from pointsman.artifacts.algorithms.teccl import from_teccl
from pointsman.artifacts.routes.file import make_collective, make_problem
from pointsman.network import Topology, mesh, torus
from pointsman.routing.collectives.cycles import cycle_through
from pointsman.routing.collectives.router import route_collective
from pointsman.routing.options import RouteOptions
from pointsman.verify.collectives import check_collective

GATHERED = ((4, 4), (8, 4), (6, 6), (5, 7), (8, 8), (16, 16))
"""Sizes of meshes and tori on which all-gathers are made."""
TREES = ("broadcast", "reduce", "all-reduce")
"""Kinds of many words, on a mesh and on a torus of `TREES_SIZE`."""
TREES_SIZE, TREES_WORDS = (8, 8), (1, 64)
SNAKES = (("mesh", (8, 4)), ("torus", (8, 4)))
EPOCHS = ((4, 4), (6, 6))
RANKS = 8


def ideal(kind: str, network: str, size: tuple[int, ...], words: int) -> dict[str, Any]:
    """A collective in the ideal model, and what the judge says of it."""
    topology = mesh(*size) if network == "mesh" else torus(*size)
    result = route_collective(make_collective(make_problem(topology, []), kind, words=words), RouteOptions())
    assert check_collective(result).ok
    assert result.bound is not None
    return {
        "kind": kind,
        "network": f"{network} {'x'.join(map(str, size))}",
        "words": words,
        "period": result.period,
        "bound": result.bound.value,
        "bound_kind": result.bound.kind,
        "latency": result.latency,
    }


def all_ideal() -> list[dict[str, Any]]:
    found = [ideal("all-gather", network, size, 1) for size in GATHERED for network in ("mesh", "torus")]
    return found + [
        ideal(kind, network, TREES_SIZE, words)
        for kind in TREES
        for words in TREES_WORDS
        for network in ("mesh", "torus")
    ]


def snake(kind: str, size: tuple[int, ...]) -> dict[str, Any]:
    """An all-gather of a word a node: period and bound."""
    topology: Topology = mesh(*size) if kind == "mesh" else torus(*size)
    result = route_collective(make_collective(make_problem(topology, []), "all-gather"), RouteOptions())
    assert check_collective(result).ok
    assert result.bound is not None
    return {"period": result.period, "bound": result.bound.value, "method": result.method}


def both_ways(size: tuple[int, int]) -> dict[str, Any]:
    """An all-gather in TE-CCL's model: every chunk goes round the cycle both ways, half of it each; epochs, and those that the
    links of a corner need."""
    topology = mesh(*size)
    began = time.process_time()
    cycle = cycle_through(make_problem(topology, []))
    n = len(cycle)
    assert n == topology.nodes
    forward, backward = n // 2, (n - 1) // 2
    flows, paths = [], {}
    for at, source in enumerate(cycle):
        for way, reach in ((1, forward), (-1, backward)):
            for epoch in range(reach):
                a, b = cycle[(at + way * epoch) % n], cycle[(at + way * (epoch + 1)) % n]
                flows.append(f"Chunk 0 from {source} traveled over {a}->{b} in epoch {epoch}")
                paths[f"Demand at {b} for chunk 0 from {source} met by epoch {epoch}"] = []
    seconds = time.process_time() - began
    found = from_teccl(io.StringIO(json.dumps({"7-Flows": flows, "8-Chunk paths": paths})))
    assert found.collective == "allgather"
    wires = set(make_problem(topology, []).links)
    assert all((a, b) in wires for _, _, _, a, b in found.moves)
    return {"epochs": found.epochs, "bound": -(-(n - 1) // 2), "seconds": round(seconds, 4)}


def ring_allreduce(n: int) -> str:
    """MSCCL's ring allreduce, in place."""
    kinds = ["s", *["rrs"] * (n - 2), "rrcs", *["rcs"] * (n - 2), "r"]
    lines = [f'<algo name="ring" coll="allreduce" inplace="1" ngpus="{n}" nchannels="1" proto="Simple">']
    for g in range(n):
        lines.append(f'<gpu id="{g}" i_chunks="{n}" o_chunks="0" s_chunks="0">')
        lines.append(f'<tb id="0" send="{(g + 1) % n}" recv="{(g - 1) % n}" chan="0">')
        for s, kind in enumerate(kinds):
            at = (g - s) % n
            lines.append(
                f'<step s="{s}" type="{kind}" srcbuf="i" srcoff="{at}" dstbuf="i" dstoff="{at}" '
                'cnt="1" depid="-1" deps="-1" hasdep="0"/>'
            )
        lines.append("</tb></gpu>")
    return "\n".join([*lines, "</algo>"])


def msccl(n: int) -> dict[str, Any]:
    """The ring, read and checked, and an all-reduce of as many words on a ring of as many nodes."""
    algorithm = from_msccl(io.BytesIO(ring_allreduce(n).encode()))
    problem = make_collective(make_problem(torus(n), []), "all-reduce", words=n)
    ours = route_collective(problem, RouteOptions())
    assert check_collective(ours).ok
    return {
        "messages": len(algorithm.messages),
        "steps": len(algorithm.messages) // n,
        "period": ours.period,
        "latency": ours.latency,
    }


def main() -> None:
    found = {
        "ideal": all_ideal(),
        "all_gather": {f"{kind} {'x'.join(map(str, size))}": snake(kind, size) for kind, size in SNAKES},
        "epochs": {"x".join(map(str, size)): both_ways(size) for size in EPOCHS},
        "msccl": msccl(RANKS),
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
