"""Answers about published collectives: snake ring, TE-CCL, MSCCL, wafer-scale reduce."""

from __future__ import annotations

from answers import Answer, Measured, claim, verdict_if


@claim("K001")
def snake_ring(measured: Measured) -> Answer:
    found = measured["collectives"]["all_gather"]
    ours = ", ".join(f"{name}: {one['period']}" for name, one in found.items())
    return verdict_if(
        all(one["period"] == one["bound"] == 31 for one in found.values()),
        f"{ours} slots",
        "the same cycle through all nodes, judged; every node takes 31 words and one a slot, so none is shorter",
    )


def _epochs(measured: Measured, size: str, theirs: int, ports: int) -> Answer:
    found = measured["collectives"]["epochs"][size]
    return verdict_if(
        found["epochs"] == found["bound"] == theirs,
        f"{found['epochs']} epochs",
        f"chunks go round a cycle through all nodes both ways, found without a search ({found['seconds']:.3f} s), and "
        "checked as a schedule of TE-CCL; a corner has two links, so none is shorter. With one port a node, our own model, "
        f"it is {ports} slots",
    )


@claim("K002")
def small(measured: Measured) -> Answer:
    return _epochs(measured, "4x4", 8, 15)


@claim("K003")
def larger(measured: Measured) -> Answer:
    return _epochs(measured, "6x6", 18, 35)


@claim("K004")
def ring(measured: Measured) -> Answer:
    found = measured["collectives"]["msccl"]
    return verdict_if(
        found["steps"] == 14,
        f"{found['messages']} messages, {found['steps']} of each rank",
        "read, and carried out by what every chunk is made of. An all-reduce of 8 words on the same ring takes a period of "
        f"{found['period']} slots and {found['latency']} from start to end where nodes combine for nothing",
    )


@claim("K005")
def wafer(measured: Measured) -> Answer:
    return Answer(
        "not comparable",
        "–",
        "of another machine, whose routers and processors ours do not model; ours stand beside their own bound",
    )
