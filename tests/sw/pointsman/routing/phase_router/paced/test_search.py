"""Long messages that processors pass on without a cycle to spare: legal by the replay of the router's tests, processors that keep
pace, and as quick on the cycle model as that allows."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop.compile import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.operators import Context
from pointsman.operators.scheduled.in_halves import IN_HALVES
from pointsman.plan.make_plan import make_plan
from pointsman.routing.pace import Paces
from pointsman.routing.phase_router.paced.search import is_paced, paced
from pointsman.routing.phase_router.problem import NodeLimits, split
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import Stream, accesses
from pointsman.runtime import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

SHAPE = NodeShape()


def halves(topology: Topology, text: str = "(allreduce 'o 'add :m 64)") -> list[Stream]:
    (operator,) = compile_text(text, topology=topology).operators()
    which = ("allreduce", "reduce").index(operator.kind)
    return IN_HALVES[which].streams(operator, Context(topology, SHAPE))


def placed(streams: list[Stream], topology: Topology, period: int, *, phase_change: bool = True) -> Any:
    limits = NodeLimits(SHAPE.pipelines, SHAPE.vfsms, SHAPE.registers, phase_change)
    return paced(streams, split(streams, topology, SHAPE, ()), limits, period, 0)


@pytest.mark.parametrize("phase_change", [True, False])
@pytest.mark.parametrize("topology", [mesh(2, 2), mesh(3, 2), mesh(4, 2), mesh(3, 3), mesh(4, 4), torus(3, 3)], ids=str)
def test_every_processor_keeps_pace(replay: ModuleType, topology: Topology, phase_change: bool) -> None:
    streams = halves(topology)
    period = max(accesses(streams).values())
    assert placed(streams, topology, period, phase_change=phase_change) is not None
    routed = route_phase(streams, topology, SHAPE, period=period)
    assert replay.findings(routed) == []
    assert {routed.words(k) for k in range(len(streams))} == {1}
    paces = Paces(routed)
    orders = paces.of("o")
    assert orders is not None
    assert set(orders) == set(range(topology.nodes))
    taken = Counter((node, slot % period) for (_, node), slot in paces.first.items())
    assert max(taken.values()) <= 3  # words of others come while one is waited for


@pytest.mark.parametrize("seed", [1, 4])
def test_a_seed_turns_all_slots_on(seed: int) -> None:
    topology = mesh(4, 4)
    first, other = (route_phase(halves(topology), topology, SHAPE, period=6, seed=k) for k in (0, seed))
    turned = [[(slot + seed) % 6 for slot in v.slots] for chain in first.chains for v in chain.vfsms]
    assert [list(v.slots) for chain in other.chains for v in chain.vfsms] == turned


@pytest.mark.parametrize(
    "text",
    [
        "(reduce 'o 'add 2 :m 64)",  # four accesses: no cycle in which a word may wait
        "(allreduce 'o 'add :m 64 :type 'int64*)",  # items of two words
        "(allreduce 'o 'add :m 4)",  # short, with slots by when its words are there
    ],
)
def test_other_streams_are_left_to_the_search(text: str) -> None:
    topology = mesh(4, 4)
    streams = halves(topology, text)
    if ":m 4" in text:
        streams = [replace(one, max_words=2) for one in streams]
    assert placed(streams, topology, max(accesses(streams).values())) is None


def test_longer_schedules_and_large_networks_are_left_to_the_search() -> None:
    assert placed(halves(mesh(4, 4)), mesh(4, 4), 7) is None
    assert placed(halves(mesh(8, 8)), mesh(8, 8), 6) is None


def test_a_stream_with_a_limit_or_of_two_chains_is_no_such_stream() -> None:
    some = halves(mesh(4, 4))
    assert all(map(is_paced, some))
    assert not is_paced(replace(some[0], max_words=8))
    assert not is_paced(replace(some[0], all_chains=True))
    assert not is_paced(replace(some[0], turn=None))


@pytest.mark.parametrize(("size", "cycles"), [((4, 4), 231), ((3, 3), 228), ((4, 2), 223)])
def test_a_round_takes_its_accesses_and_little_more(size: tuple[int, int], cycles: int) -> None:
    """64 words, of which a processor makes 192 accesses; results compared with NumPy's."""
    topology, rounds = mesh(*size), 12
    program = compile_text("(allreduce 'o 'add :m 64 :c 2 :impl 'str_allreduce_halves)", topology=topology)
    images = make_images(make_plan(program, SHAPE, name="o", period=6))
    report = check_images(images)
    assert report.ok, report.render()
    sent = np.random.default_rng(3).integers(-99, 99, (topology.nodes, 64)).astype(np.int32)

    async def main(node: Any) -> bool:
        await node.cop.o_load()
        got = [(await node.cop.o_func(sent[node.number] + k)).copy() for k in range(rounds)]
        return all((one == sent.sum(axis=0) + k * topology.nodes).all() for k, one in enumerate(got))

    def took(many: int) -> int:
        nonlocal rounds
        rounds = many
        with Machine(SHAPE, topology, engine="model", progress=False) as machine:
            nodes = [numesh_node(images, n, machine) for n in range(topology.nodes)]
            record = run_nodes(nodes, main, machine)
        assert all(record.results)
        return int(record.finished.max())

    assert (took(12) - took(2)) / 10 <= cycles
