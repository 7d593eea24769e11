"""GOAL text, carried out by a naive reading of it."""

from __future__ import annotations

import re
from pathlib import Path

from pointsman.artifacts.algorithms.goal import goal_text
from pointsman.artifacts.algorithms.msccl import from_msccl

EXAMPLE = Path(__file__).parents[5] / "examples/formats/ring_allreduce.xml"


def test_every_operation_can_be_carried_out_and_a_ring_takes_its_steps() -> None:
    with EXAMPLE.open("rb") as file:
        text = goal_text(from_msccl(file), chunk_bytes=12)
    assert text.startswith("num_ranks 4\n")
    operations: dict[tuple[int, str], tuple[str, int, int, int]] = {}
    needs: dict[tuple[int, str], set[str]] = {}
    for rank, body in re.findall(r"rank (\d+) \{\n(.*?)\n\}", text, re.S):
        for line in body.splitlines():
            if found := re.fullmatch(r"(\w+): (send|recv) (\d+)b (?:to|from) (\d+) tag (\d+)", line):
                operations[int(rank), found[1]] = found[2], int(found[3]), int(found[4]), int(found[5])
            else:
                found = re.fullmatch(r"(\w+) requires (\w+)", line)
                assert found, line
                needs.setdefault((int(rank), found[1]), set()).add(found[2])
    assert len(operations) == 48
    assert {size for _, size, _, _ in operations.values()} == {12}
    sent: set[tuple[int, int, int]] = set()
    done: set[tuple[int, str]] = set()
    rounds = 0
    while len(done) < len(operations):
        ready = {
            at
            for at, (kind, _, other, tag) in operations.items()
            if at not in done
            and all((at[0], one) in done for one in needs.get(at, ()))
            and (kind == "send" or (other, at[0], tag) in sent)
        }
        assert ready, "nothing can go on"
        done |= ready
        sent |= {(at[0], operations[at][2], operations[at][3]) for at in ready if operations[at][0] == "send"}
        rounds += 1
    assert rounds == 2 * 6  # six steps round the ring, each a send and then its receive
